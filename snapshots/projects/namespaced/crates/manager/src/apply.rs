//! Server-side apply that sends nothing when nothing changed.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kube::api::{ObjectMeta, Patch, PatchParams};

use crate::{
    Cluster, Object, Scoped, Type,
    cache::{Change, Key, Source},
};

/// Applies objects; a clone is cheap.
///
/// What was applied and has not changed since, as the watch of an owned type shows, is not sent
/// again. An operator that starts sends everything once.
#[derive(Clone)]
pub struct Applier {
    cluster: Cluster,
    field_manager: &'static str,
    applied: Arc<Mutex<HashMap<Id, Option<Applied>>>>,
}

/// A plural with its group and version, and a key.
type Id = (String, Key);

/// What an object was when it had been applied.
struct Applied {
    /// Of what was sent.
    hash: u64,
    uid: Option<String>,
    mark: Mark,
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
    fn of(meta: &ObjectMeta) -> Self {
        let version = || meta.resource_version.as_ref()?.parse().ok();
        match meta.generation {
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
        }
    }

    /// Applies `child` with `owner` as its controller. Without a namespace, it goes into the owner's.
    ///
    /// # Errors
    /// Those of the API server, and if `owner` did not come from it.
    pub async fn owned<O, T>(&self, owner: &O, mut child: T) -> kube::Result<()>
    where
        O: Object,
        T: Object,
    {
        let meta = child.meta_mut();
        meta.owner_references = owner.controller_owner_ref(&()).map(|owner| vec![owner]);
        if <T::Scope as Scoped>::NAMESPACED && meta.namespace.is_none() {
            meta.namespace.clone_from(&owner.meta().namespace);
        }
        self.apply(&child).await
    }

    /// Applies `object`, and takes the fields that it has from whoever else manages them.
    ///
    /// # Errors
    /// Those of the API server.
    pub async fn apply<T: Object>(&self, object: &T) -> kube::Result<()> {
        let kind = Type::of::<T>();
        let value = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
        let mut hasher = DefaultHasher::new();
        value.to_string().hash(&mut hasher);
        let hash = hasher.finish();
        let meta = object.meta();
        let key = Key::of(meta);
        let id = (kind.to_string(), key.clone());

        if let Some(source) = self.cluster.cache.any(&kind) {
            let found = source.content.get(&key);
            let found = found.as_ref().map(crate::cache::Entry::meta);
            let applied = self.applied();
            let same = |applied: &Applied| applied.hash == hash && applied.holds(found, meta);
            if applied.get(&id).and_then(Option::as_ref).is_some_and(same) {
                return Ok(());
            }
        }
        // If the watch shows a deletion before the answer comes, there is nothing to remember.
        self.applied().insert(id.clone(), None);
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let api = <T::Scope as Scoped>::api::<T>(self.cluster.client(), namespace);
        let params = PatchParams::apply(self.field_manager).force();
        let name = meta.name.as_deref().unwrap_or_default();
        let result = api
            .patch_metadata(name, &params, &Patch::Apply(value))
            .await?;
        if let Some(applied) = self.applied().get_mut(&id) {
            *applied = Some(Applied {
                hash,
                uid: result.metadata.uid.clone(),
                mark: Mark::of(&result.metadata),
                at: Instant::now(),
            });
        }
        Ok(())
    }

    /// Forgets what is deleted, so that it is applied again.
    pub(crate) fn follow(&self, source: &Source) {
        let (applied, kind) = (self.applied.clone(), source.kind.to_string());
        source.subscribe(Box::new(move |change: &Change<'_>| {
            if let (Some(old), None) = (change.before(), change.after()) {
                let id = (kind.clone(), Key::of(old));
                lock(&applied).remove(&id);
            }
        }));
    }

    fn applied(&self) -> MutexGuard<'_, HashMap<Id, Option<Applied>>> {
        lock(&self.applied)
    }
}

impl Applied {
    /// Whether the object is still as applied; `found` may lag behind the apply.
    fn holds(&self, found: Option<&ObjectMeta>, desired: &ObjectMeta) -> bool {
        let Some(found) = found else {
            // Not seen yet: a deletion would have ended this record, if the watch showed it.
            return self.at.elapsed() < LAG;
        };
        let has = |found: &Option<BTreeMap<String, String>>, key, value| {
            found.as_ref().and_then(|found| found.get(key)) == Some(value)
        };
        let labels = desired.labels.iter().flatten();
        let annotations = desired.annotations.iter().flatten();
        let owners = desired.owner_references.iter().flatten();
        found.uid == self.uid
            && Mark::of(found).is_no_later_than(self.mark)
            && labels
                .into_iter()
                .all(|(key, value)| has(&found.labels, key, value))
            && annotations
                .into_iter()
                .all(|(key, value)| has(&found.annotations, key, value))
            && owners.into_iter().all(|owner| {
                let found = found.owner_references.iter().flatten();
                found.into_iter().any(|found| found.uid == owner.uid)
            })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Applier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Applier of {}", self.field_manager)
    }
}
