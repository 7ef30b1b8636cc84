//! The watch of a type, and the mapping from its events to primary objects.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;

use super::Predicate;
use crate::{
    cache::{Cache, Content, Entry, Form, Key, ObjectEvent, Share, ShareKey, Source, StoreOptions},
    error::Error,
    object::{ScopedResource, Selector, TypedObject},
};

/// The watch of a type. Default: all objects and every change, in the operator's own cluster.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use {example::Memcached, std::sync::Arc};
/// # async fn reconcile(_: Arc<Memcached>, _: Arc<()>) -> kube::Result<()> { Ok(()) }
/// use k8s_openapi::api::apps::v1::Deployment;
/// use operator_runtime::{Controller, Predicate, Watch};
///
/// let controller: Controller<Memcached, ()> = Controller::new("memcached", reconcile)
///     .primary_watch(Watch::new().when(Predicate::generation()))
///     .owns_with::<Deployment>(Watch::new().labels("app=memcached"));
/// ```
#[derive(Clone, Default)]
pub struct Watch {
    pub(super) selector: Selector,
    pub(super) predicate: Option<Predicate>,
    pub(super) any_owner: bool,
    pub(super) priority: i32,
    pub(super) cluster: Option<&'static str>,
    pub(super) optional: bool,
    /// The type of the transform, and the forms of its objects before and after.
    transform: Option<(ScopedResource, Form, Form)>,
}

/// A watch with the options of a store. Equal options share one watch, and events show the object as cached
/// by the store.
impl<K: TypedObject> From<StoreOptions<K>> for Watch {
    fn from(options: StoreOptions<K>) -> Self {
        let of = |transformed| (ScopedResource::of::<K>(), Form::of::<K>(), transformed);
        Self {
            selector: options.selector,
            transform: options.transform.map(of),
            optional: options.optional,
            ..Self::default()
        }
    }
}

impl Watch {
    /// A watch of everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects objects by a label selector, such as `app=web,tier!=cache`.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        self.selector.labels = Some(selector.to_owned());
        self
    }

    /// Selects objects by a field selector, such as `metadata.name=web`. The supported fields depend on the
    /// type; a custom resource supports the fields marked `selectable`.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        self.selector.fields = Some(selector.to_owned());
        self
    }

    /// Passes only events that match `predicate`. For primary objects, the start and each resync count as
    /// creations.
    #[must_use]
    pub fn when(mut self, predicate: Predicate) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// Queues the objects of an event with this [priority](crate::guide::controllers#priorities). Default: 0.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// For `owns`: matches every owner, not only the controller.
    #[must_use]
    pub fn any_owner(mut self) -> Self {
        self.any_owner = true;
        self
    }

    /// Watches in the other cluster of this name, added with [`Manager::cluster`](crate::Manager::cluster).
    #[must_use]
    pub fn cluster(mut self, name: &'static str) -> Self {
        self.cluster = Some(name);
        self
    }

    /// The type may be missing, such as that of a CRD which only some clusters have. While the API server does not
    /// serve it, there are no objects, and the operator starts and is ready without it. It is asked every 10 s:
    /// objects appear soon after their CRD, and are deleted with it.
    ///
    /// If another watch or store of the same objects is not optional, the type is needed.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The source of the objects.
    pub(super) fn source(&self, cache: &Cache, kind: &ScopedResource, form: Form) -> Arc<Source> {
        cache.source(kind, &self.selector, form, self.optional)
    }

    pub(super) fn passes(&self, change: &ObjectEvent<'_>) -> bool {
        let passes = |predicate: &Predicate| predicate.passes(change);
        self.predicate.as_ref().is_none_or(passes)
    }

    /// The form to cache for the objects of type `kind`, at least `form`.
    pub(super) fn form(&self, kind: &ScopedResource, form: Form) -> Result<Form, Error> {
        let form = match &self.predicate {
            Some(predicate) => predicate
                .form(kind, form)
                .map_err(|wanted| Error::Predicate(wanted, kind.to_string()))?,
            None => form,
        };
        match &self.transform {
            None => Ok(form),
            Some((of, whole, left)) if of == kind && form.and(whole).is_some() => Ok(left.clone()),
            Some((of, ..)) => Err(Error::Transform(of.to_string(), kind.to_string())),
        }
    }
}

/// A secondary watch.
pub(super) struct Secondary<C> {
    pub(super) of: ScopedResource,
    pub(super) form: Form,
    pub(super) watch: Watch,
    pub(super) map: Map<C>,
    /// Whether the objects are children that are pruned.
    pub(super) prunes: bool,
}

/// The mapping from a secondary object to primary objects.
#[derive(Clone)]
pub(crate) enum Map<C> {
    Owner,
    By(Mapper<C>),
}

pub(crate) type Mapper<C> = Arc<dyn Fn(&Entry, &C) -> Vec<Key> + Send + Sync>;

impl<C> Secondary<C> {
    /// The part of the objects that the controller needs in this process, if it does not need them all.
    pub(super) fn share(&self, key: &ShareKey, primary: &ScopedResource) -> Option<Share> {
        // The index by owners knows one owner of each object.
        let by_controller = matches!(self.map, Map::Owner) && !self.watch.any_owner;
        let (kind, group) = (&primary.resource.kind, &primary.resource.group);
        by_controller.then(|| Share::of_children(key, kind, group))?
    }

    /// The primary objects of an event, by its state before and after.
    pub(super) fn concerned(
        &self,
        change: &ObjectEvent<'_>,
        primary: &ScopedResource,
        known: &Content,
        context: &C,
    ) -> Vec<Key> {
        if !self.watch.passes(change) {
            return Vec::new();
        }
        let gone = change.after().is_none();
        let mut keys: Vec<Key> = change
            .entries()
            .flat_map(|entry| match &self.map {
                Map::By(map) => map(entry, context),
                Map::Owner => owners(entry.meta(), primary, self.watch.any_owner)
                    // A deletion frees the name for an owner of any uid.
                    .filter(|(key, uid)| gone || is_or_may_be(known, key, uid))
                    .map(|(key, _)| key)
                    .collect(),
            })
            .collect();
        keys.dedup();
        keys
    }
}

/// The owners of type `owner`, with their uids. They match by group and kind, not by version: an owner
/// reference keeps the version that wrote it.
fn owners<'a>(
    child: &'a ObjectMeta,
    owner: &'a ScopedResource,
    any: bool,
) -> impl Iterator<Item = (Key, &'a str)> {
    let references = child.owner_references.iter().flatten();
    let matches = move |found: &&OwnerReference| {
        let group = found.api_version.rsplit_once('/');
        (any || found.controller == Some(true))
            && found.kind == owner.resource.kind
            && group.map_or("", |(group, _)| group) == owner.resource.group
    };
    let namespace = child.namespace.as_deref().filter(|_| owner.namespaced);
    references
        .filter(matches)
        .map(move |found| (Key::new(namespace, &found.name), &*found.uid))
}

/// Whether the object with this key has this uid, or is not cached.
fn is_or_may_be(known: &Content, key: &Key, uid: &str) -> bool {
    let entry = known.get(key);
    entry.is_none_or(|entry| entry.meta().uid.as_deref() == Some(uid))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Node};

    use super::*;

    fn owned_by(api_version: &str, kind: &str, controller: Option<bool>) -> ObjectMeta {
        ObjectMeta {
            namespace: Some("ns".into()),
            owner_references: Some(vec![OwnerReference {
                api_version: api_version.into(),
                kind: kind.into(),
                name: "owner".into(),
                uid: "uid".into(),
                controller,
                ..OwnerReference::default()
            }]),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn an_owner_is_matched_by_group_and_kind() {
        let deployment = ScopedResource::of::<Deployment>();
        for (api_version, kind, controller, any, found) in [
            ("apps/v1", "Deployment", Some(true), false, true),
            ("apps/v2", "Deployment", Some(true), false, true),
            ("apps/v1", "Deployment", None, false, false),
            ("apps/v1", "Deployment", None, true, true),
            ("apps/v1", "ReplicaSet", Some(true), true, false),
            ("other/v1", "Deployment", Some(true), true, false),
            ("v1", "Deployment", Some(true), true, false),
        ] {
            let child = owned_by(api_version, kind, controller);
            let keys: Vec<_> = owners(&child, &deployment, any).collect();
            let expected = found.then(|| (Key::new(Some("ns"), "owner"), "uid"));
            assert_eq!(keys, Vec::from_iter(expected), "{api_version} {kind}");
        }
    }

    #[test]
    fn a_cluster_scoped_owner_has_no_namespace() {
        let child = owned_by("v1", "Node", Some(true));
        let node = ScopedResource::of::<Node>();
        let keys: Vec<_> = owners(&child, &node, false).collect();
        assert_eq!(keys, [(Key::new(None, "owner"), "uid")]);
    }
}
