//! The controllers of an operator.

use std::iter;

use super::{Controller, Definition, Watch, watch::Map};
use crate::{
    apply::conditions::ReadyCondition,
    cache::Form,
    object::{Rules, ScopedResource},
};
#[cfg(feature = "testing")]
use crate::{error::Error, object::Selector};

/// The controllers of an operator, which share a context of type `C`.
pub struct Controllers<C>(Vec<Definition<C>>);

impl<C> Default for Controllers<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The controllers of an operator with a single one.
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

    /// The permissions of all controllers.
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

    /// The types that report failures, with their conditions.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = (&ScopedResource, ReadyCondition)> {
        let shows = |controller: &&Definition<C>| {
            controller.report.is_some() && controller.watch.cluster.is_none()
        };
        let all = self.0.iter().filter(shows);
        all.map(|controller| (&controller.primary, controller.condition))
    }

    /// The types that are watched in the operator's own cluster.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &ScopedResource> {
        self.own_watches().map(|(of, ..)| of)
    }

    /// The watches in the operator's own cluster.
    ///
    /// # Errors
    /// If the predicate or transform of a watch is for another type.
    #[cfg(feature = "testing")]
    pub(crate) fn watches(&self) -> Result<Vec<(ScopedResource, Selector, Form)>, Error> {
        self.own_watches()
            .map(|(of, form, watch)| {
                let form = watch.form(of, form.clone())?;
                Ok((of.clone(), watch.selector.clone(), form))
            })
            .collect()
    }

    /// The primary type of each controller, with the types of its children.
    pub(crate) fn owned(&self) -> impl Iterator<Item = (&ScopedResource, &ScopedResource)> {
        self.0.iter().flat_map(|controller| {
            let others = controller.secondaries.iter();
            let children = others.filter(|other| matches!(other.map, Map::Owner));
            children.map(|child| (&controller.primary, &child.of))
        })
    }

    fn own_watches(&self) -> impl Iterator<Item = (&ScopedResource, &Form, &Watch)> {
        let all = self.0.iter().flat_map(|controller| {
            let own = (&controller.primary, &controller.form, &controller.watch);
            let others = controller.secondaries.iter();
            iter::once(own).chain(others.map(|other| (&other.of, &other.form, &other.watch)))
        });
        all.filter(|(.., watch)| watch.cluster.is_none())
    }

    pub(crate) fn into_vec(self) -> Vec<Definition<C>> {
        self.0
    }
}
