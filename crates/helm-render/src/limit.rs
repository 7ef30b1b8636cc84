//! The bounds of a rendering: a chart may come from anybody.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// What a rendering may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of output, also of what is rendered and then thrown away.
    pub output: usize,
    /// Bytes of the texts and lists that functions and methods give, also of those that are used no more.
    pub texts: usize,
    /// Entries of maps, which stay until the end.
    pub entries: usize,
    /// Nodes of templates, pipelines, calls of functions and turns of loops. Calls with long texts and lists count more.
    pub steps: u64,
    /// How long the templates may take. It is looked at every 1,024 steps.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// 64 MiB of output, 512 MiB of texts, 5 million entries, 50 million steps, and any time: a hundred times what large charts need.
    fn default() -> Self {
        Self {
            output: 64 << 20,
            texts: 512 << 20,
            entries: 5_000_000,
            steps: 50_000_000,
            time: None,
        }
    }
}

/// What is left of the limits.
pub struct Budget {
    limits: Limits,
    deadline: Option<Instant>,
    output: Cell<usize>,
    texts: Cell<usize>,
    steps: Cell<u64>,
}

impl Budget {
    /// All of the limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            deadline: limits
                .time
                .and_then(|time| Instant::now().checked_add(time)),
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

    /// Compares the entries of maps that are held.
    ///
    /// # Errors
    /// If they are too many.
    pub fn hold(&self, entries: usize) -> Result<(), String> {
        match entries > self.limits.entries {
            true => Err(format!(
                "maps have more than {} entries",
                self.limits.entries
            )),
            false => Ok(()),
        }
    }

    /// Counts steps.
    ///
    /// # Errors
    /// If there are too many, or it is too late.
    pub fn work(&self, steps: u64) -> Result<(), String> {
        let before = self.steps.get();
        let all = before.saturating_add(steps);
        self.steps.set(all);
        if all > self.limits.steps {
            return Err(format!("more than {} steps", self.limits.steps));
        }
        let is_late = |deadline: Instant| Instant::now() > deadline;
        match before / 1024 != all / 1024 && self.deadline.is_some_and(is_late) {
            true => Err("the time is over".to_owned()),
            false => Ok(()),
        }
    }
}
