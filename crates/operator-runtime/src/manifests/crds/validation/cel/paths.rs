//! The path from a variable to a part of it.
//!
//! cel-go appends the steps to slices of Go, where two paths that go on from the same one may share memory: the step that comes
//! later then replaces the earlier one. Its estimates depend on that, so paths do the same here.

use std::{cell::RefCell, rc::Rc};

#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    steps: Rc<RefCell<Vec<Rc<str>>>>,
    length: usize,
    /// How many steps the memory has room for.
    room: usize,
}

impl Path {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn steps(&self) -> Vec<Rc<str>> {
        self.steps.borrow()[..self.length].to_vec()
    }

    pub(super) fn starts_with(&self, step: &str) -> bool {
        self.length > 0 && &*self.steps.borrow()[0] == step
    }

    /// The same in memory of its own.
    pub(super) fn copy(&self) -> Self {
        let steps = Rc::new(RefCell::new(self.steps()));
        Self {
            steps,
            length: self.length,
            room: self.length,
        }
    }

    pub(super) fn below(&self, step: &str) -> Self {
        let (length, step) = (self.length + 1, Rc::from(step));
        if length <= self.room {
            let mut steps = self.steps.borrow_mut();
            match steps.get_mut(self.length) {
                Some(place) => *place = step,
                None => steps.push(step),
            }
            drop(steps);
            return Self {
                steps: self.steps.clone(),
                length,
                room: self.room,
            };
        }
        let mut steps = self.steps();
        steps.push(step);
        Self {
            steps: Rc::new(RefCell::new(steps)),
            length,
            room: (self.room * 2).max(1),
        }
    }
}
