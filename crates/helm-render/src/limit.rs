//! The bounds of a rendering: a chart may come from anybody.

use std::{cell::Cell, time::Instant};

/// What a rendering may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of output, also of what is rendered and then thrown away.
    pub output: usize,
    /// Bytes of the texts that functions give, also of those that are used no more.
    pub texts: usize,
    /// Calls of functions and turns of loops.
    pub steps: u64,
    /// The time when it has to end.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    /// 64 MiB of output, 512 MiB of texts, and 20 million steps: a hundred times what large charts need.
    fn default() -> Self {
        Self {
            output: 64 << 20,
            texts: 512 << 20,
            steps: 20_000_000,
            deadline: None,
        }
    }
}

/// What is left of the limits.
pub struct Budget {
    limits: Limits,
    output: Cell<usize>,
    texts: Cell<usize>,
    steps: Cell<u64>,
}

impl Budget {
    /// All of the limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            output: Cell::new(0),
            texts: Cell::new(0),
            steps: Cell::new(0),
        }
    }

    /// Counts bytes of output.
    ///
    /// # Errors
    /// If they are too many.
    pub fn write(&self, bytes: usize) -> Result<(), String> {
        let all = self.output.get().saturating_add(bytes);
        self.output.set(all);
        match all > self.limits.output {
            true => Err(format!(
                "the output is larger than {} bytes",
                self.limits.output
            )),
            false => Ok(()),
        }
    }

    /// Counts the bytes of a text that a function gives.
    ///
    /// # Errors
    /// If they are too many.
    pub fn make(&self, bytes: usize) -> Result<(), String> {
        let all = self.texts.get().saturating_add(bytes);
        self.texts.set(all);
        match all > self.limits.texts {
            true => Err(format!(
                "the texts of functions are larger than {} bytes",
                self.limits.texts
            )),
            false => Ok(()),
        }
    }

    /// Counts a call that takes as long as many steps.
    ///
    /// # Errors
    /// If there are too many, or it is too late.
    pub fn work(&self, steps: u64) -> Result<(), String> {
        (0..steps).try_for_each(|_| self.step())
    }

    /// Counts a step.
    ///
    /// # Errors
    /// If there are too many, or it is too late.
    pub fn step(&self) -> Result<(), String> {
        let all = self.steps.get() + 1;
        self.steps.set(all);
        if all > self.limits.steps {
            return Err(format!("more than {} steps", self.limits.steps));
        }
        let is_late = |deadline: Instant| Instant::now() > deadline;
        match all.is_multiple_of(1024) && self.limits.deadline.is_some_and(is_late) {
            true => Err("the time is over".to_owned()),
            false => Ok(()),
        }
    }
}
