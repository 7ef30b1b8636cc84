//! Server-side apply that skips unchanged objects.

mod children;
pub mod conditions;
pub mod finalizer;
mod owner;
mod pruned;
pub mod status;
pub(crate) mod written;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Api,
    api::{DynamicObject, ObjectMeta, Patch, PatchParams},
};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

pub use children::{AppliedChildren, ChildError, Children};
pub use owner::OwnerError;
#[cfg(feature = "testing")]
pub(crate) use pruned::Everything;

use crate::{
    cache::{Key, ObjectEvent, Source},
    cluster::Cluster,
    object::{ScopedResource, Selector, TypedObject},
};
use pruned::Pruned;

/// Applies objects by server-side apply. Clones are cheap and share state.
///
/// An object is not sent again if the watch of its type shows it unchanged since the last apply. After a
/// start, everything is sent once.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::ResourceExt;
/// use operator_runtime::Applier;
/// use serde_json::json;
///
/// async fn config(applier: &Applier, memcached: &Memcached) -> kube::Result<()> {
///     let config: ConfigMap = serde_json::from_value(json!({
///         "metadata": { "name": memcached.name_any() },
///         "data": { "replicas": memcached.spec.replicas.to_string() },
///     }))
///     .map_err(kube::Error::SerdeError)?;
///     let applied = applier.owned(memcached, config).await?;
///     if applied.sent {
///         tracing::info!(generation = applied.generation, "applied the configuration");
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Applier {
    cluster: Cluster,
    field_manager: &'static str,
    applied: Arc<Mutex<HashMap<Id, Option<Record>>>>,
    /// Types whose deletions are subscribed to.
    followed: Arc<Mutex<HashSet<String>>>,
    pruned: Pruned,
}

/// `plural.group/version`, and the object's key.
type Id = (String, Key);

/// The type-erased object of an apply.
struct Desired {
    kind: ScopedResource,
    meta: ObjectMeta,
    value: Value,
}

impl Desired {
    fn of<T: TypedObject>(object: &T) -> kube::Result<Self> {
        Ok(Self {
            kind: ScopedResource::of::<T>(),
            meta: object.meta().clone(),
            value: serde_json::to_value(object).map_err(kube::Error::SerdeError)?,
        })
    }

    /// The desired state of a child of `owner`.
    fn owned<O: TypedObject, T: TypedObject>(owner: &O, mut child: T) -> kube::Result<Self> {
        let owned = owner::own(owner, &mut child);
        owned.map_err(|error| kube::Error::Service(error.into()))?;
        Self::of(&child)
    }

    fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }
}

/// Formats as `ConfigMap a`.
impl fmt::Display for Desired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.resource.kind, self.name())
    }
}

/// The newest known metadata of an applied object.
///
/// It has no spec and no status. For a cached type, read them from its [`Store`](crate::Store).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Whether a request was sent; false if the object is unchanged since the last apply.
    pub sent: bool,
    /// The uid of the object.
    pub uid: Option<String>,
    /// The generation, which counts changes of the spec. Types such as ConfigMap have none.
    pub generation: Option<i64>,
    /// The newest known version: of the last apply, or of the watch if the watch is ahead.
    pub resource_version: Option<String>,
}

impl Applied {
    fn of(meta: &ObjectMeta, sent: bool) -> Self {
        Self {
            sent,
            uid: meta.uid.clone(),
            generation: meta.generation,
            resource_version: meta.resource_version.clone(),
        }
    }
}

/// The last apply of an object.
struct Record {
    /// The hash of the sent JSON.
    hash: u64,
    answer: Applied,
    at: Instant,
}

/// The time within which a watch should show an apply.
const LAG: Duration = Duration::from_secs(60);

/// A counter that increases with every change, except of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Generation(i64),
    /// The resource version, for types without generations.
    Version(u128),
    Unknown,
}

impl Mark {
    fn of(object: &Applied) -> Self {
        let version = || object.resource_version.as_ref()?.parse().ok();
        match object.generation {
            Some(generation) => Self::Generation(generation),
            None => version().map_or(Self::Unknown, Self::Version),
        }
    }

    /// Whether this mark is not newer than `other`.
    fn is_no_later_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Generation(own), Self::Generation(other)) => own <= other,
            (Self::Version(own), Self::Version(other)) => own <= other,
            _ => false,
        }
    }
}

impl Applier {
    pub(crate) fn new(cluster: Cluster, field_manager: &'static str) -> Self {
        Self {
            cluster,
            field_manager,
            applied: Arc::default(),
            followed: Arc::default(),
            pruned: Pruned::default(),
        }
    }

    /// Applies `child` with `owner` as its controller. The child's namespace defaults to the owner's.
    ///
    /// An existing object of that name is adopted, unless the watch of its type shows another controller.
    ///
    /// # Errors
    /// Errors of the API server; in [`kube::Error::Service`], [`ChildError::OtherController`], or an
    /// [`OwnerError`], for example for an owner under foreground deletion, which gets no new children.
    pub async fn owned<O, T>(&self, owner: &O, child: T) -> kube::Result<Applied>
    where
        O: TypedObject,
        T: TypedObject,
    {
        self.send(&Desired::owned(owner, child)?).await
    }

    /// Applies `object` with force: its fields are taken over from other field managers.
    ///
    /// # Errors
    /// Errors of the API server.
    pub async fn apply<T: TypedObject>(&self, object: &T) -> kube::Result<Applied> {
        self.send(&Desired::of(object)?).await
    }

    async fn send(&self, desired: &Desired) -> kube::Result<Applied> {
        let Desired { kind, meta, value } = desired;
        let mut hasher = DefaultHasher::new();
        value.to_string().hash(&mut hasher);
        let hash = hasher.finish();
        let key = Key::of(meta);
        let id = (kind.to_string(), key.clone());

        // Without a watch, changes by others would go unnoticed.
        if let Some(source) = self.cluster.cache.any(kind) {
            self.follow(&source);
            let found = source.content.get(&key);
            let found = found.as_ref().map(crate::cache::Entry::meta);
            if let Some(owner) = found.and_then(|found| owner::other_controller(meta, found)) {
                return Err(ChildError::OtherController {
                    child: desired.to_string(),
                    controller: format!("{} {}", owner.kind, owner.name),
                }
                .into());
            }
            let mut applied = self.applied();
            if let Some(Some(record)) = applied.get(&id)
                && record.hash == hash
                && record.holds(found, meta)
            {
                return Ok(record.newest(found));
            }
            // A deletion that the watch shows before the response arrives removes this entry.
            applied.insert(id.clone(), None);
        }
        let params = PatchParams::apply(self.field_manager).force();
        let patch = Patch::Apply(value);
        let api = self.api(kind, meta);
        let result = api.patch_metadata(desired.name(), &params, &patch);
        let result = result.await.inspect_err(|_| {
            self.applied().remove(&id);
        })?;
        let answer = Applied::of(&result.metadata, true);
        if let Some(applied) = self.applied().get_mut(&id) {
            *applied = Some(Record {
                hash,
                answer: answer.clone(),
                at: Instant::now(),
            });
        }
        Ok(answer)
    }

    /// Declares that a controller of `owner` prunes children of type `child`.
    pub(crate) fn prune(&self, owner: &ScopedResource, child: &ScopedResource, of: &Selector) {
        self.pruned.declare(owner, child, of);
    }

    /// Prunes children of every type, found by `everything`.
    #[cfg(feature = "testing")]
    pub(crate) fn prune_everything(&mut self, everything: Everything) {
        self.pruned = Pruned::of_everything(everything);
    }

    /// Drops the records of deleted objects, so that they are applied again.
    fn follow(&self, source: &Source) {
        let (applied, kind) = (self.applied.clone(), source.kind.to_string());
        let mut followed = self.followed.lock();
        if !followed.insert(kind.clone()) {
            return;
        }
        // Subscribed first, so that the record is gone before the owner is reconciled.
        source.subscribe_first(Box::new(move |change: &ObjectEvent<'_>| {
            if let (Some(old), None) = (change.before(), change.after()) {
                let id = (kind.clone(), Key::of(old));
                applied.lock().remove(&id);
            }
        }));
    }

    /// The API for the type and namespace of an object.
    fn api(&self, kind: &ScopedResource, meta: &ObjectMeta) -> Api<DynamicObject> {
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        kind.api(self.cluster.client(), Some(namespace))
    }

    fn applied(&self) -> MutexGuard<'_, HashMap<Id, Option<Record>>> {
        self.applied.lock()
    }
}

impl Record {
    /// The newest known metadata of an object that was not sent.
    fn newest(&self, found: Option<&ObjectMeta>) -> Applied {
        let version = |of: &Applied| of.resource_version.as_ref()?.parse::<u128>().ok();
        let found = found.map(|found| Applied::of(found, false));
        let newer = found.filter(|found| version(found) > version(&self.answer));
        newer.unwrap_or_else(|| Applied {
            sent: false,
            ..self.answer.clone()
        })
    }

    /// Whether the object is unchanged since the apply. `found` may be older than the apply.
    fn holds(&self, found: Option<&ObjectMeta>, desired: &ObjectMeta) -> bool {
        let Some(found) = found else {
            // Not in the cache yet: a deletion shown by the watch would have removed this record.
            return self.at.elapsed() < LAG;
        };
        let has = |found: &Option<BTreeMap<_, _>>, desired: &Option<BTreeMap<_, _>>| {
            let found = |key: &String| found.as_ref().and_then(|found| found.get(key));
            let mut desired = desired.iter().flatten();
            desired.all(|(key, value): (&String, &String)| found(key) == Some(value))
        };
        let is_owner = |owner: &OwnerReference| {
            let mut found = found.owner_references.iter().flatten();
            found.any(|found| found.uid == owner.uid)
        };
        let mut owners = desired.owner_references.iter().flatten();
        found.uid == self.answer.uid
            && Mark::of(&Applied::of(found, false)).is_no_later_than(Mark::of(&self.answer))
            && has(&found.labels, &desired.labels)
            && has(&found.annotations, &desired.annotations)
            && owners.all(is_owner)
    }
}

impl fmt::Debug for Applier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Applier of {}", self.field_manager)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn meta(value: &Value) -> ObjectMeta {
        from_value(value.clone()).unwrap()
    }

    /// Whether the record of `applied` holds when the watch shows `applied` with `change`.
    fn holds(applied: &Value, change: Value) -> bool {
        let mut found = applied.clone();
        for (key, value) in change.as_object().unwrap() {
            found[key] = value.clone();
        }
        let record = Record {
            hash: 0,
            answer: Applied::of(&meta(applied), true),
            at: Instant::now(),
        };
        record.holds(Some(&meta(&found)), &meta(applied))
    }

    #[test]
    fn a_record_holds_until_more_than_the_status_changes() {
        let owner = |uid| json!([{ "apiVersion": "v1", "kind": "A", "name": "a", "uid": uid }]);
        let applied = json!({
            "uid": "u",
            "generation": 2,
            "resourceVersion": "20",
            "labels": { "a": "b" },
            "annotations": { "c": "d" },
            "ownerReferences": owner("o"),
        });
        for (change, expected) in [
            (json!({}), true),
            (json!({ "resourceVersion": "21" }), true),
            (json!({ "generation": 1, "resourceVersion": "19" }), true),
            (json!({ "generation": 3, "resourceVersion": "21" }), false),
            (json!({ "uid": "other" }), false),
            (json!({ "labels": { "a": "b", "more": "x" } }), true),
            (json!({ "labels": { "a": "x" } }), false),
            (json!({ "labels": null }), false),
            (json!({ "annotations": {} }), false),
            (json!({ "ownerReferences": owner("other") }), false),
            (json!({ "ownerReferences": null }), false),
        ] {
            assert_eq!(holds(&applied, change.clone()), expected, "{change}");
        }
    }

    #[test]
    fn the_newest_known_version_is_returned() {
        let versions = |version: &str| meta(&json!({ "uid": "u", "resourceVersion": version }));
        let record = Record {
            hash: 0,
            answer: Applied::of(&versions("20"), true),
            at: Instant::now(),
        };
        for (found, expected) in [(None, "20"), (Some("19"), "20"), (Some("21"), "21")] {
            let newest = record.newest(found.map(versions).as_ref());
            assert_eq!(newest, Applied::of(&versions(expected), false), "{found:?}");
        }
    }

    #[test]
    fn a_record_without_generation_holds_until_a_newer_version() {
        let applied = json!({ "uid": "u", "resourceVersion": "99" });
        for (version, expected) in [
            (json!("98"), true),
            (json!("99"), true),
            (json!("100"), false),
            // Versions that cannot be compared.
            (json!("x"), false),
            (Value::Null, false),
        ] {
            let change = json!({ "resourceVersion": version });
            assert_eq!(holds(&applied, change), expected, "{version}");
        }
        assert!(!holds(&json!({ "uid": "u" }), json!({})));
    }

    #[test]
    fn a_record_holds_for_a_minute_before_the_watch_shows_the_object() {
        let mut applied = Record {
            hash: 0,
            answer: Applied::of(&meta(&json!({ "uid": "u" })), true),
            at: Instant::now(),
        };
        assert!(applied.holds(None, &ObjectMeta::default()));
        // So long ago that the watch must have missed it.
        applied.at -= LAG;
        assert!(!applied.holds(None, &ObjectMeta::default()));
    }
}
