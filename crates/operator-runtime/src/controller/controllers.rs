//! The controllers of an operator.

use std::iter;

use super::{Controller, Definition, Hubs, Watch, watch::Map};
#[cfg(feature = "testing")]
use crate::object::Selector;
use crate::{
    apply::conditions::ReadyCondition,
    cache::Form,
    error::Error,
    object::{Rules, ScopedResource, TypedObject},
};

/// The controllers of an operator, which share a context of type `C`.
pub struct Controllers<C> {
    all: Vec<Definition<C>>,
    hubs: Hubs,
}

impl<C> Default for Controllers<C> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            hubs: Hubs::default(),
        }
    }
}

/// The controllers of an operator with a single one.
impl<K, C> From<Controller<K, C>> for Controllers<C> {
    fn from(controller: Controller<K, C>) -> Self {
        let mut controllers = Self::default();
        controllers.add(controller);
        controllers
    }
}

impl<C> Controllers<C> {
    /// Adds a controller.
    pub fn add<K>(&mut self, controller: Controller<K, C>) {
        self.all.push(controller.definition);
    }

    /// Declares that `H` is the hub of its kind: the version that holds every field. The manager does not
    /// start a controller that uses another version, unless it says
    /// [`uses_spokes`](Controller::uses_spokes).
    ///
    /// The hub of a conversion webhook needs no declaration. Declare the storage version of a kind with
    /// several versions and no conversion webhook: the API server removes the fields that the schema of the
    /// requested version lacks, and a write in that version erases them.
    pub fn hub<H: TypedObject>(&mut self) {
        let kind = (H::group(&()), H::kind(&()));
        self.hubs.set((&kind.0, &kind.1), &H::version(&()));
    }

    /// Checks that no controller uses a spoke of `hubs` or of the declared ones, which win.
    ///
    /// # Errors
    /// For the first such controller.
    pub(crate) fn check(&self, mut hubs: Hubs) -> Result<(), Error> {
        hubs.extend(self.hubs.clone());
        let mut all = self.all.iter();
        all.try_for_each(|controller| hubs.check(controller.name, controller.uses()))
    }

    /// The permissions of all controllers.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        for controller in &self.all {
            rules.extend(&controller.rules);
            for derived in &controller.derived_rules {
                rules.extend(&derived());
            }
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
        let all = self.all.iter().filter(shows);
        all.map(|controller| (&controller.primary, controller.condition))
    }

    /// The types that are watched in the operator's own cluster, apart from optional ones.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &ScopedResource> {
        let needed = self.own_watches().filter(|(.., watch)| !watch.optional);
        needed.map(|(of, ..)| of)
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
        self.all.iter().flat_map(|controller| {
            let others = controller.secondaries.iter();
            let children = others.filter(|other| matches!(other.map, Map::Owner));
            children.map(|child| (&controller.primary, &child.of))
        })
    }

    fn own_watches(&self) -> impl Iterator<Item = (&ScopedResource, &Form, &Watch)> {
        let all = self.all.iter().flat_map(|controller| {
            let own = (&controller.primary, &controller.form, &controller.watch);
            let others = controller.secondaries.iter();
            iter::once(own).chain(others.map(|other| (&other.of, &other.form, &other.watch)))
        });
        all.filter(|(.., watch)| watch.cluster.is_none())
    }

    pub(crate) fn into_parts(self) -> (Vec<Definition<C>>, Hubs) {
        (self.all, self.hubs)
    }
}
