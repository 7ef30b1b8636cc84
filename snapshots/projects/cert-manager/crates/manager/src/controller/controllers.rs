//! All controllers of an operator.

use super::{Controller, Definition};
use crate::Rules;

/// The controllers of an operator, which share a context of type `C`.
pub struct Controllers<C>(Vec<Definition<C>>);

impl<C> Default for Controllers<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C> Controllers<C> {
    /// Adds a controller.
    pub fn add<K>(&mut self, controller: Controller<K, C>) {
        self.0.push(controller.definition);
    }

    /// What all of them together are allowed.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        for controller in &self.0 {
            rules.extend(&controller.rules);
            if controller.watch.cluster.is_none() {
                rules.extend(&controller.own_rules);
            }
        }
        rules
    }

    pub(crate) fn into_vec(self) -> Vec<Definition<C>> {
        self.0
    }
}
