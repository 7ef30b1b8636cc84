//! All controllers of an operator.

#[cfg(feature = "envtest")]
use std::iter;

use super::{Controller, Definition};
use crate::object::Rules;
#[cfg(feature = "envtest")]
use crate::object::ScopedResource;

/// The controllers of an operator, which share a context of type `C`.
pub struct Controllers<C>(Vec<Definition<C>>);

impl<C> Default for Controllers<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Of an operator with one controller.
impl<K, C> From<Controller<K, C>> for Controllers<C> {
    fn from(controller: Controller<K, C>) -> Self {
        Self(vec![controller.definition])
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

    /// The types that are watched in the cluster of the operator.
    #[cfg(feature = "envtest")]
    pub(crate) fn watched(&self) -> impl Iterator<Item = &ScopedResource> {
        self.0.iter().flat_map(|controller| {
            let own = (&controller.primary, &controller.watch);
            let others = controller.secondaries.iter();
            iter::once(own)
                .chain(others.map(|other| (&other.of, &other.watch)))
                .filter(|(_, watch)| watch.cluster.is_none())
                .map(|(of, _)| of)
        })
    }

    pub(crate) fn into_vec(self) -> Vec<Definition<C>> {
        self.0
    }
}
