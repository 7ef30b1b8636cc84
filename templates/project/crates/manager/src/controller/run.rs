//! How a controller runs: on kube's `Controller`, which no public signature names.

use std::{
    any::Any,
    collections::HashMap,
    convert::Infallible,
    future::ready,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, join_all},
};
use kube::{
    Client,
    api::{DynamicObject, ObjectMeta},
    core::PartialObjectMeta,
    runtime::{
        self,
        controller::{self, Action},
        watcher,
    },
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{Definition, Failure, Map, Reconciling, Watch, backoff::Backoff, owner};
use crate::{
    client::Clients,
    logs::{chain, panic_message},
    metrics::{ControllerMetrics, Metrics, Outcome, QueueMetrics},
    object::Type,
};

/// Reconciles of one controller that may run at once.
const WORKERS: u16 = 1;

/// How long an object rests at most, as with controller-runtime: a watch that was interrupted may
/// have missed the deletion of something that it depends on.
const RESYNC: Duration = Duration::from_secs(10 * 60 * 60);

/// What the manager gives to a controller.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) clients: Clients,
    /// The namespaces to watch; `None` is all of them.
    pub(crate) namespaces: Vec<Option<String>>,
    pub(crate) metrics: Metrics,
    pub(crate) stop: CancellationToken,
}

impl<C: Send + Sync + 'static> Definition<C> {
    /// Runs until `environment.stop`, and until the reconciles that run then have ended.
    pub(crate) fn run(self, context: Arc<C>, environment: Environment) -> BoxFuture<'static, ()> {
        let Self {
            name,
            primary,
            reconcile,
            watches,
            ..
        } = self;
        let reconcile = move |object| reconcile(object, context.clone());
        let worker = Worker {
            name,
            kind: primary.resource.kind.clone(),
            reconcile: Box::new(reconcile),
            metrics: environment.metrics.controller(name, WORKERS),
            queue: environment.metrics.queue(name),
            stop: environment.stop.clone(),
            slots: Semaphore::new(usize::from(WORKERS)),
            backoff: Backoff::default(),
            invalid: Mutex::default(),
            runs: AtomicU64::default(),
        };
        run(primary, watches, Arc::new(worker), environment).boxed()
    }
}

async fn run(primary: Type, watches: Vec<Watch>, worker: Arc<Worker>, environment: Environment) {
    let Environment {
        clients,
        namespaces,
        stop,
        ..
    } = environment;
    let client = clients.watches;
    let name = worker.name;
    let engine = |namespace: &Option<String>| {
        let api = primary.api(client.clone(), namespace.as_deref());
        let kind = primary.resource.clone();
        let config = controller::Config::default().concurrency(WORKERS);
        let mut engine = runtime::Controller::new_with(api, watcher::Config::default(), kind)
            .with_config(config)
            .graceful_shutdown_on(stop.clone().cancelled_owned());
        for namespace in &namespaces {
            for watch in &watches {
                engine = watch.attach(engine, &primary, client.clone(), namespace.as_deref());
            }
        }
        let runs = worker.clone();
        let reconcile = move |object, _| runs.clone().reconcile(object);
        let worker = worker.clone();
        let never = |_, error: &Infallible, _| match *error {};
        engine
            .run(reconcile, never, Arc::new(()))
            .for_each(move |event| {
                match event {
                    Err(controller::Error::QueueError(error)) => {
                        let error = chain(&error);
                        tracing::warn!(controller = name, error, "a watch failed, trying again");
                    }
                    Err(controller::Error::ObjectNotFound(object)) => {
                        worker.forget(&(object.namespace, Some(object.name)));
                    }
                    Err(error) => tracing::error!(controller = name, %error, "not reconciled"),
                    Ok(_) => {}
                }
                ready(())
            })
    };
    let engines: Vec<_> = namespaces.iter().map(engine).collect();
    tracing::info!(controller = name, "started");
    join_all(engines).await;
}

type Engine = runtime::Controller<DynamicObject>;

impl Watch {
    /// Makes `engine` reconcile what a change of these objects concerns.
    fn attach(
        &self,
        engine: Engine,
        primary: &Type,
        client: Client,
        namespace: Option<&str>,
    ) -> Engine {
        let config = watcher::Config::default();
        let kind = self.of.resource.clone();
        match self.map.clone() {
            Map::Owner => {
                let (api, primary) = (self.of.metadata(client, namespace), primary.clone());
                let map = move |child: PartialObjectMeta<_>| owner::of(&child.metadata, &primary);
                engine.watches_with(api, kind, config, map)
            }
            Map::By(map) => {
                let api = self.of.api(client, namespace);
                engine.watches_with(api, kind, config, move |object| map(&object))
            }
        }
    }
}

/// Runs the reconcile function, and nothing that it does ends the controller.
struct Worker {
    name: &'static str,
    kind: String,
    reconcile: Box<dyn Fn(Arc<DynamicObject>) -> Reconciling + Send + Sync>,
    metrics: ControllerMetrics,
    queue: QueueMetrics,
    stop: CancellationToken,
    slots: Semaphore,
    backoff: Backoff<Key>,
    /// The resource version at which an object was last found not to decode.
    invalid: Mutex<HashMap<Key, Option<String>>>,
    runs: AtomicU64,
}

/// The namespace, if any, and the name of an object.
type Key = (Option<String>, Option<String>);

impl Worker {
    async fn reconcile(self: Arc<Self>, object: Arc<DynamicObject>) -> Result<Action, Infallible> {
        let Ok(_slot) = self.slots.acquire().await else {
            return Ok(Action::await_change());
        };
        if self.stop.is_cancelled() {
            return Ok(Action::await_change());
        }
        let span = tracing::error_span!(
            "reconcile",
            controller = self.name,
            namespace = object.metadata.namespace,
            name = object.metadata.name,
            run = self.runs.fetch_add(1, Ordering::Relaxed),
        );
        let rest = rest(&object.metadata);
        let action = self.run(object).instrument(span).await;
        Ok(if self.stop.is_cancelled() {
            Action::await_change()
        } else if action == Action::await_change() {
            Action::requeue(rest)
        } else {
            action
        })
    }

    /// Drops what is known of an object that is gone: one of the same name is another object.
    fn forget(&self, key: &Key) {
        self.backoff.reset(key);
        self.invalid
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
    }

    async fn run(&self, object: Arc<DynamicObject>) -> Action {
        let meta = object.metadata.clone();
        let key = (meta.namespace.clone(), meta.name.clone());
        self.queue.added();
        let _work = self.queue.work();
        let _running = self.metrics.running();
        let begin = Instant::now();
        let reconcile = async { (self.reconcile)(object).await };
        let result = AssertUnwindSafe(reconcile).catch_unwind().await;
        if let Ok(Err(Failure::Invalid(error))) = result {
            self.leave(key, &meta, &error);
            return Action::await_change();
        }
        self.invalid
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&key);
        let (outcome, action) = self.conclude(key, result);
        self.metrics.ended(outcome, begin.elapsed());
        action
    }

    /// Leaves alone an object that does not decode, and says so once for each of its versions.
    fn leave(&self, key: Key, meta: &ObjectMeta, error: &str) {
        let version = meta.resource_version.clone();
        let mut known = self.invalid.lock().unwrap_or_else(PoisonError::into_inner);
        if known.insert(key, version.clone()) != Some(version) {
            warn_invalid(self.name, &self.kind, meta, error);
        }
    }

    /// What a result means for the object, logged.
    fn conclude(
        &self,
        key: Key,
        result: Result<Result<Action, Failure>, Panic>,
    ) -> (Outcome, Action) {
        match result {
            Ok(Ok(action)) => {
                self.backoff.reset(&key);
                let waits = action == Action::await_change();
                (
                    if waits {
                        Outcome::Success
                    } else {
                        Outcome::RequeueAfter
                    },
                    action,
                )
            }
            Ok(Err(Failure::Error {
                error,
                reason,
                terminal: true,
            })) => {
                self.backoff.reset(&key);
                let error = chain(&*error);
                tracing::error!(reason, error, "reconcile failed, waiting for a change");
                (Outcome::TerminalError, Action::await_change())
            }
            Ok(Err(Failure::Error { error, reason, .. })) => {
                let delay = self.backoff.failed(key);
                let error = chain(&*error);
                tracing::error!(reason, error, retry_in = ?delay, "reconcile failed");
                (Outcome::Error, Action::requeue(delay))
            }
            Ok(Err(Failure::Invalid(_))) => (Outcome::Success, Action::await_change()),
            Err(panic) => {
                let delay = self.backoff.failed(key);
                let error = panic_message(&*panic);
                tracing::error!(reason = "Panic", error, retry_in = ?delay, "reconcile panicked");
                (Outcome::Panic, Action::requeue(delay))
            }
        }
    }
}

/// [`RESYNC`] and up to a tenth more, which differs between objects so that they do not come at once.
fn rest(meta: &ObjectMeta) -> Duration {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&meta.uid);
    RESYNC + (RESYNC / 10).mul_f64(hash as f64 / u64::MAX as f64)
}

type Panic = Box<dyn Any + Send>;

/// Says that an object does not decode. It is left alone: a finalizer on it stays.
pub(super) fn warn_invalid(controller: &str, kind: &str, meta: &ObjectMeta, error: &str) {
    let (namespace, name) = (meta.namespace.as_deref(), meta.name.as_deref());
    tracing::warn!(
        controller,
        kind,
        namespace,
        name,
        error,
        "skipping an object that does not decode"
    );
}
