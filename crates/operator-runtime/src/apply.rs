//! Server-side apply that sends nothing when nothing changed.

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

/// Applies objects; a clone is cheap.
///
/// What was applied and has not changed since, as the watch of an owned type shows, is not sent
/// again. An operator that starts sends everything once.
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
    /// The types whose deletions are followed.
    followed: Arc<Mutex<HashSet<String>>>,
    pruned: Pruned,
}

/// A plural with its group and version, and a key.
type Id = (String, Key);

/// An object as it is sent, whatever its type.
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

    /// A child of `owner`.
    fn owned<O: TypedObject, T: TypedObject>(owner: &O, mut child: T) -> kube::Result<Self> {
        let owned = owner::own(owner, &mut child);
        owned.map_err(|error| kube::Error::Service(error.into()))?;
        Self::of(&child)
    }

    fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }
}

/// Such as `ConfigMap a`.
impl fmt::Display for Desired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.resource.kind, self.name())
    }
}

/// What the API server has of an object that was applied.
///
/// It has no spec and no status: those of a type that is kept in memory are in its [`Store`](crate::Store).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Whether a request was sent: not if the object is still as it was applied before.
    pub sent: bool,
    /// The uid of the object.
    pub uid: Option<String>,
    /// Counts changes of the spec; types such as ConfigMap have none.
    pub generation: Option<i64>,
    /// The newest version that is known: of the last apply, or of the watch if that has seen a newer one.
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

/// What an object was when it had been applied.
struct Record {
    /// Of what was sent.
    hash: u64,
    answer: Applied,
    at: Instant,
}

/// How long a watch may take to show what was applied.
const LAG: Duration = Duration::from_secs(60);

/// What grows when somebody changes more than the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Generation(i64),
    /// For types without generations.
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

    /// Whether this is from before or of the moment of `other`.
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

    /// Applies `child` with `owner` as its controller. Without a namespace, it goes into the owner's.
    ///
    /// # Errors
    /// Those of the API server, and an [`OwnerError`] in [`kube::Error::Service`]: an owner whose deletion
    /// waits for its children gets no new ones.
    pub async fn owned<O, T>(&self, owner: &O, child: T) -> kube::Result<Applied>
    where
        O: TypedObject,
        T: TypedObject,
    {
        self.send(&Desired::owned(owner, child)?).await
    }

    /// Applies `object`, and takes the fields that it has from whoever else manages them.
    ///
    /// # Errors
    /// Those of the API server.
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

        // Without a watch nobody would notice what somebody else changes.
        if let Some(source) = self.cluster.cache.any(kind) {
            self.follow(&source);
            let found = source.content.get(&key);
            let found = found.as_ref().map(crate::cache::Entry::meta);
            let mut applied = self.applied();
            if let Some(Some(record)) = applied.get(&id)
                && record.hash == hash
                && record.holds(found, meta)
            {
                return Ok(record.newest(found));
            }
            // If the watch shows a deletion before the answer comes, there is nothing to remember.
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

    /// Notes that a controller of `owner` prunes children of type `child`.
    pub(crate) fn prune(&self, owner: &ScopedResource, child: &ScopedResource, of: &Selector) {
        self.pruned.declare(owner, child, of);
    }

    /// Prunes children of whatever type, which `everything` finds.
    #[cfg(feature = "testing")]
    pub(crate) fn prune_everything(&mut self, everything: Everything) {
        self.pruned = Pruned::of_everything(everything);
    }

    /// Forgets what is deleted, so that it is applied again.
    fn follow(&self, source: &Source) {
        let (applied, kind) = (self.applied.clone(), source.kind.to_string());
        let mut followed = self.followed.lock();
        if !followed.insert(kind.clone()) {
            return;
        }
        // First, so that no owner is reconciled before its child is forgotten.
        source.subscribe_first(Box::new(move |change: &ObjectEvent<'_>| {
            if let (Some(old), None) = (change.before(), change.after()) {
                let id = (kind.clone(), Key::of(old));
                applied.lock().remove(&id);
            }
        }));
    }

    /// Where an object of this type with this metadata is.
    fn api(&self, kind: &ScopedResource, meta: &ObjectMeta) -> Api<DynamicObject> {
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        kind.api(self.cluster.client(), Some(namespace))
    }

    fn applied(&self) -> MutexGuard<'_, HashMap<Id, Option<Record>>> {
        self.applied.lock()
    }
}

impl Record {
    /// What is known of an object that was not sent again.
    fn newest(&self, found: Option<&ObjectMeta>) -> Applied {
        let version = |of: &Applied| of.resource_version.as_ref()?.parse::<u128>().ok();
        let found = found.map(|found| Applied::of(found, false));
        let newer = found.filter(|found| version(found) > version(&self.answer));
        newer.unwrap_or_else(|| Applied {
            sent: false,
            ..self.answer.clone()
        })
    }

    /// Whether the object is still as applied; `found` may lag behind the apply.
    fn holds(&self, found: Option<&ObjectMeta>, desired: &ObjectMeta) -> bool {
        let Some(found) = found else {
            // Not seen yet: a deletion would have ended this record, if the watch showed it.
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

    /// Whether what was applied as `applied` holds when the watch shows `change` on top of it.
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
    fn an_object_holds_until_more_than_its_status_changes() {
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
    fn what_is_known_is_of_the_newest_version() {
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
    fn an_object_without_generations_holds_until_it_has_a_newer_version() {
        let applied = json!({ "uid": "u", "resourceVersion": "99" });
        for (version, expected) in [
            (json!("98"), true),
            (json!("99"), true),
            (json!("100"), false),
            // Nothing can be said of these.
            (json!("x"), false),
            (Value::Null, false),
        ] {
            let change = json!({ "resourceVersion": version });
            assert_eq!(holds(&applied, change), expected, "{version}");
        }
        assert!(!holds(&json!({ "uid": "u" }), json!({})));
    }

    #[test]
    fn an_object_that_the_watch_has_not_shown_holds_for_a_while() {
        let mut applied = Record {
            hash: 0,
            answer: Applied::of(&meta(&json!({ "uid": "u" })), true),
            at: Instant::now(),
        };
        assert!(applied.holds(None, &ObjectMeta::default()));
        // For so long that it must have been missed.
        applied.at -= LAG;
        assert!(!applied.holds(None, &ObjectMeta::default()));
    }
}
