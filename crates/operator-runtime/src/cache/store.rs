//! Cached reads for reconcile functions.

use std::{
    fmt,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kube::Resource;

use super::{Key, Source};
use crate::error::panic_message;

/// The cached objects of type `K`. A watch keeps them up to date, with a short delay. Clones are cheap.
///
/// The store is filled before the first reconcile, and before a webhook receives a request; a task waits
/// for [`synced`](Self::synced). A write appears when its watch event arrives, so a new object may be
/// missing for a moment: make writes idempotent.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operator_runtime::{Index, Manager, Store};
///
/// struct Context {
///     secrets: Store<Secret>,
///     by_type: Index<Secret>,
/// }
///
/// fn context(manager: &Manager) -> Context {
///     let secrets = manager.store::<Secret>();
///     let by_type = secrets.index(|secret| secret.type_.iter().cloned().collect());
///     Context { secrets, by_type }
/// }
///
/// fn read(context: &Context) {
///     let one = context.secrets.get(Some("default"), "password");
///     let some = context.by_type.get("kubernetes.io/tls");
///     let all = context.secrets.list();
/// }
/// ```
pub struct Store<K> {
    source: Arc<Source>,
    objects: PhantomData<fn() -> K>,
}

impl<K: Send + Sync + 'static> Store<K> {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        Self {
            source,
            objects: PhantomData,
        }
    }

    /// Waits until the store holds every object that existed when the operator started.
    pub async fn synced(&self) {
        self.source.filled().await;
    }

    /// The object with this name. `namespace` is `None` for cluster-scoped types.
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<Arc<K>> {
        self.source.content.get(&Key::new(namespace, name))?.get()
    }

    /// All objects, sorted by namespace and name.
    pub fn list(&self) -> Vec<Arc<K>> {
        let entries = self.source.content.entries();
        entries.iter().filter_map(super::Entry::get).collect()
    }

    /// The objects that `owner` controls, sorted by namespace and name: their controller reference has the
    /// owner's uid, as Go's `metav1.IsControlledBy` checks.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
    /// # use example::Memcached;
    /// use k8s_openapi::api::batch::v1::Job;
    /// use operator_runtime::Store;
    ///
    /// fn backups(jobs: &Store<Job>, memcached: &Memcached) -> usize {
    ///     jobs.controlled_by(memcached).len()
    /// }
    /// ```
    pub fn controlled_by<O: Resource>(&self, owner: &O) -> Vec<Arc<K>> {
        let uid = owner.meta().uid.as_deref();
        let entries = uid.map(|uid| self.source.controlled_by(uid));
        let entries = entries.iter().flatten();
        entries.filter_map(super::Entry::get).collect()
    }

    /// An index of the objects by the values that `values` returns for each. Create it once, with the
    /// context. `values` must not read stores.
    pub fn index(&self, values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static) -> Index<K> {
        let values = move |entry: &super::Entry| {
            let values = || entry.as_ref().map(&values).unwrap_or_default();
            catch_unwind(AssertUnwindSafe(values)).unwrap_or_else(|panic| {
                let (name, error) = (&entry.meta().name, panic_message(&*panic));
                tracing::error!(name, error, "an index function panicked");
                Vec::new()
            })
        };
        Index {
            number: self.source.content.index(Box::new(values)),
            store: self.clone(),
        }
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            objects: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store of {}", self.source.kind)
    }
}

/// An index of a [`Store`].
#[derive(Clone, Debug)]
pub struct Index<K> {
    store: Store<K>,
    number: usize,
}

impl<K: Send + Sync + 'static> Index<K> {
    /// The objects with this value, sorted by namespace and name.
    pub fn get(&self, value: &str) -> Vec<Arc<K>> {
        let entries = self.store.source.content.find(self.number, value);
        entries.iter().filter_map(super::Entry::get).collect()
    }
}
