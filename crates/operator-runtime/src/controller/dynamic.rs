//! Watches of types that are found while the operator runs.

use std::{
    collections::BTreeSet,
    marker::PhantomData,
    sync::{Arc, Weak},
};

use kube::api::DynamicObject;
use parking_lot::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::watch::{Map, Secondary, Watch};
use crate::{
    cache::{Content, Form, Key, Source, Store, Watching},
    cluster::Cluster,
    object::{ScopedResource, TypedObject},
    queue::Queue,
    server::probes::Readiness,
};

/// Watches that a reconcile function adds and ends, of types that are known only at run time. Make them with
/// [`Manager::owns_dynamic`](crate::Manager::owns_dynamic) or
/// [`Manager::watches_dynamic`](crate::Manager::watches_dynamic). Clones share their watches.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use std::sync::Arc;
/// use kube::{Client, core::GroupVersionKind};
/// use operator_runtime::{Action, DynamicWatches, ScopedResource};
///
/// struct Context {
///     client: Client,
///     children: DynamicWatches<Memcached>,
/// }
///
/// async fn reconcile(memcached: Arc<Memcached>, ctx: Arc<Context>) -> kube::Result<Action> {
///     let kind = GroupVersionKind::gvk("example.com", "v1", "Backup");
///     // The type may be missing.
///     let kind = ScopedResource::discover(&ctx.client, &kind).await?;
///     let Some(stores) = ctx.children.set(&memcached, kind) else {
///         // The stores are being filled.
///         return Ok(Action::await_change());
///     };
///     for backup in stores.iter().flat_map(|store| store.controlled_by(&*memcached)) {
///         println!("{:?}", backup.metadata.name);
///     }
///     Ok(Action::await_change())
/// }
/// ```
pub struct DynamicWatches<K> {
    found: Arc<Found>,
    objects: PhantomData<fn(K)>,
}

impl<K> Clone for DynamicWatches<K> {
    fn clone(&self) -> Self {
        Self {
            found: self.found.clone(),
            objects: PhantomData,
        }
    }
}

impl<K: TypedObject> DynamicWatches<K> {
    pub(crate) fn new(found: Arc<Found>) -> Self {
        Self {
            found,
            objects: PhantomData,
        }
    }

    /// Sets the types that `object` needs, in place of those of the previous call, and returns a store for
    /// each. A type is watched once; its watch ends when no object needs it, at the latest when the objects
    /// are deleted.
    ///
    /// Returns `None` until each store is filled. Then `object` is reconciled again.
    ///
    /// The operator needs get, list and watch on each type:
    /// [`Controller::needs_dynamic`](crate::Controller::needs_dynamic), or a role of your own for types that
    /// you cannot know. Without the permission, and for a type that the API server does not serve, the store
    /// stays empty, and a warning says why.
    pub fn set(
        &self,
        object: &K,
        kinds: impl IntoIterator<Item = ScopedResource>,
    ) -> Option<Vec<Store<DynamicObject>>> {
        let sources = self.found.set(&Key::of(object.meta()), kinds);
        let filled = sources.iter().all(|source| source.is_filled());
        filled.then(|| sources.into_iter().map(Store::new).collect())
    }
}

/// The watches that a controller has found.
pub(crate) struct Found {
    cluster: Cluster,
    /// The namespaces of the operator; `None` means all.
    namespaces: Vec<Option<String>>,
    queue: Arc<Queue<Key>>,
    primary: ScopedResource,
    watch: Watch,
    map: Map<()>,
    running: Mutex<Vec<Running>>,
}

/// A watch, which ends when this is dropped.
struct Running {
    source: Arc<Source>,
    /// The objects that need it.
    users: BTreeSet<Key>,
    _end: DropGuard,
}

impl Found {
    pub(crate) fn new(
        cluster: Cluster,
        namespaces: Vec<Option<String>>,
        queue: Arc<Queue<Key>>,
        primary: ScopedResource,
        (watch, map): (Watch, Map<()>),
    ) -> Arc<Self> {
        Arc::new(Self {
            cluster,
            namespaces,
            queue,
            primary,
            watch,
            map,
            running: Mutex::default(),
        })
    }

    /// Ends the watches that only the object with this key needs.
    pub(crate) fn forget(self: &Arc<Self>, key: &Key) {
        self.set(key, []);
    }

    fn set(
        self: &Arc<Self>,
        user: &Key,
        kinds: impl IntoIterator<Item = ScopedResource>,
    ) -> Vec<Arc<Source>> {
        let mut running = self.running.lock();
        let mut needed = Vec::new();
        for kind in kinds {
            let found = running.iter().position(|watch| watch.source.kind == kind);
            let index = found.unwrap_or_else(|| {
                running.push(self.start(kind));
                running.len() - 1
            });
            running[index].users.insert(user.clone());
            needed.push(running[index].source.clone());
        }
        let (cache, primary) = (&self.cluster.cache, &self.primary);
        running.retain_mut(|watch| {
            let source = &watch.source;
            if !needed.iter().any(|other| Arc::ptr_eq(other, source)) {
                watch.users.remove(user);
            }
            if watch.users.is_empty() {
                tracing::info!("no longer watching {} for {primary}", source.kind);
                cache.remove(source);
            }
            !watch.users.is_empty()
        });
        needed
    }

    /// Starts a watch. Its events, and the end of its first list, reconcile objects.
    fn start(self: &Arc<Self>, kind: ScopedResource) -> Running {
        tracing::info!("watching {kind} for {}", self.primary);
        let secondary = Secondary {
            of: kind.clone(),
            form: Form::dynamic(),
            watch: self.watch.clone(),
            map: self.map.clone(),
            prunes: false,
        };
        let selector = self.watch.selector.clone();
        let source = self.cluster.cache.add(kind, selector, Form::dynamic());
        let (queue, primary) = (self.queue.clone(), self.primary.clone());
        source.subscribe(Box::new(move |change| {
            let keys = secondary.concerned(change, &primary, &Content::default(), &());
            let priority = secondary.watch.priority;
            keys.iter().for_each(|key| queue.add(key, priority));
        }));
        let end = CancellationToken::new();
        // A fake API server has filled it.
        if !source.is_filled() {
            let watching = Watching {
                client: self.cluster.clients.watches.clone(),
                namespaces: self.namespaces.clone(),
                is_own: true,
                // A type that is not served makes no replica unready.
                readiness: Readiness::default(),
                check: source.check(None),
                filled: false,
            };
            let (this, watched, end) = (Arc::downgrade(self), source.clone(), end.clone());
            tokio::spawn(async move {
                let filled = async {
                    watched.filled().await;
                    reconcile_users(&this, &watched);
                };
                let watch = futures::future::join(watched.clone().watch(watching), filled);
                end.run_until_cancelled(watch).await;
            });
        }
        Running {
            source,
            users: BTreeSet::new(),
            _end: end.drop_guard(),
        }
    }
}

/// Reconciles the objects that may have seen the store before it was filled.
fn reconcile_users(found: &Weak<Found>, source: &Arc<Source>) {
    let Some(found) = found.upgrade() else {
        return;
    };
    let running = found.running.lock();
    let watch = running
        .iter()
        .find(|watch| Arc::ptr_eq(&watch.source, source));
    for user in watch.iter().flat_map(|watch| &watch.users) {
        found.queue.add(user, 0);
    }
}
