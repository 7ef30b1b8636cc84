//! Secondary watches of a controller.

use std::sync::Arc;

use kube::{
    api::{DynamicObject, ObjectMeta},
    runtime::reflector::{Lookup, ObjectRef},
};

use super::{
    Controller, Definition, Watch,
    watch::{Map, Secondary},
};
use crate::{
    cache::{Entry, Form, Key},
    object::{ScopedResource, TypedObject, Verb},
};

impl<K, C> Controller<K, C>
where
    K: Lookup + Send + Sync + 'static,
    C: Send + Sync + 'static,
{
    /// Reconciles the owner, by controller reference, of each changed object of type `Child`. Grants get,
    /// list, watch, create and patch on the type, and update on the owner's `finalizers`, which an owner
    /// reference with `blockOwnerDeletion` requires.
    #[must_use]
    pub fn owns<Child: TypedObject>(self) -> Self {
        self.owns_with::<Child>(Watch::new())
    }

    /// Like [`owns`](Self::owns), with options for the watch.
    #[must_use]
    pub fn owns_with<Child: TypedObject>(self, watch: Watch) -> Self {
        self.owns_dynamic(ScopedResource::of::<Child>(), watch)
    }

    /// Like [`owns`](Self::owns), for a type that is known only at run time.
    #[must_use]
    pub fn owns_dynamic(mut self, child: ScopedResource, watch: Watch) -> Self {
        if watch.cluster.is_none() {
            // The admission plugin OwnerReferencesPermissionEnforcement requires this permission for an
            // owner reference with `blockOwnerDeletion`. No request that updates finalizers is ever sent.
            let Definition {
                own_rules, primary, ..
            } = &mut self.definition;
            own_rules.allow_dynamic_subresource(primary, "finalizers", &[Verb::Update]);
        }
        self.secondary(child, Form::Metadata, watch, Map::Owner, Verb::OWN)
    }

    /// Like [`owns`](Self::owns), and grants delete on the type `Child`:
    /// [`Applier::children`](crate::Applier::children) deletes children that are no longer wanted, and
    /// [`Applier::delete_owned`](crate::Applier::delete_owned) deletes a given child.
    #[must_use]
    pub fn prunes<Child: TypedObject>(self) -> Self {
        self.prunes_with::<Child>(Watch::new())
    }

    /// Like [`prunes`](Self::prunes), with options for the watch. Children that the labels or fields of
    /// `watch` do not select are not found, and stay.
    #[must_use]
    pub fn prunes_with<Child: TypedObject>(self, watch: Watch) -> Self {
        self.prunes_dynamic(ScopedResource::of::<Child>(), watch)
    }

    /// Like [`prunes`](Self::prunes), for a type that is known only at run time.
    #[must_use]
    pub fn prunes_dynamic(mut self, child: ScopedResource, watch: Watch) -> Self {
        let is_here = watch.cluster.is_none();
        if is_here {
            self.definition.rules.allow_dynamic(&child, &[Verb::Delete]);
        }
        let mut controller = self.owns_dynamic(child, watch);
        if let Some(owned) = controller.definition.secondaries.last_mut() {
            owned.prunes = is_here;
        }
        controller
    }

    /// Reconciles the objects that `map` returns when an object of type `Other` changes. Grants get, list
    /// and watch on the type `Other`.
    #[must_use]
    pub fn watches<Other: TypedObject>(
        self,
        map: impl Fn(&Other) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
    ) -> Self {
        self.watches_with(Watch::new(), move |other: &Other, _| map(other))
    }

    /// Like [`watches`](Self::watches), with options for the watch, and with the context: an
    /// [`Index`](crate::Index) in the context finds the objects that refer to the other one.
    #[must_use]
    pub fn watches_with<Other: TypedObject>(
        self,
        watch: Watch,
        map: impl Fn(&Other, &C) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
    ) -> Self {
        let map = move |entry: &Entry, context: &C| match entry.as_ref() {
            Some(other) => map(other, context),
            None => Vec::new(),
        };
        let (of, form) = (ScopedResource::of::<Other>(), Form::of::<Other>());
        self.secondary(of, form, watch, by(map), Verb::READ)
    }

    /// Like [`watches`](Self::watches), with only the metadata in memory and on the wire.
    #[must_use]
    pub fn watches_metadata(
        self,
        of: ScopedResource,
        watch: Watch,
        map: impl Fn(&ObjectMeta, &C) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
    ) -> Self {
        let map = by(move |entry: &Entry, context: &C| map(entry.meta(), context));
        self.secondary(of, Form::Metadata, watch, map, Verb::READ)
    }

    /// Like [`watches`](Self::watches), for a type that is known only at run time.
    #[must_use]
    pub fn watches_dynamic(
        self,
        of: ScopedResource,
        watch: Watch,
        map: impl Fn(&DynamicObject, &C) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
    ) -> Self {
        self.secondary(of, Form::dynamic(), watch, by_dynamic(map), Verb::READ)
    }

    /// Permissions in another cluster are not declared here.
    fn secondary(
        mut self,
        of: ScopedResource,
        form: Form,
        watch: Watch,
        map: Map<C>,
        verbs: &[Verb],
    ) -> Self {
        if watch.cluster.is_none() {
            self.definition.rules.allow_dynamic(&of, verbs);
        }
        let secondary = Secondary {
            of,
            form,
            watch,
            map,
            prunes: false,
        };
        self.definition.secondaries.push(secondary);
        self
    }
}

fn by<K: Lookup, C>(
    map: impl Fn(&Entry, &C) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
) -> Map<C> {
    let key = |object: ObjectRef<K>| Key::new(object.namespace.as_deref(), &object.name);
    Map::By(Arc::new(move |entry, context| {
        map(entry, context).into_iter().map(key).collect()
    }))
}

/// The mapping of a type that is known only at run time.
pub(crate) fn by_dynamic<K: Lookup, C>(
    map: impl Fn(&DynamicObject, &C) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
) -> Map<C> {
    by(move |entry: &Entry, context: &C| match entry.as_ref() {
        Some(other) => map(other, context),
        None => Vec::new(),
    })
}
