//! The manager: controllers, webhooks, tasks and servers of an operator. `manager/run.rs` starts and stops
//! it.

mod endpoints;
#[cfg(feature = "envtest")]
mod envtest;
#[cfg(feature = "testing")]
mod fake;
mod flags;
mod options;
mod run;
mod serves;
mod stop;
mod waiting;

use std::{collections::BTreeMap, convert::identity, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    http::{HeaderValue, header::USER_AGENT},
};
use kube::{
    Client, Config,
    api::DynamicObject,
    runtime::{
        events::{Recorder, Reporter},
        reflector::ObjectRef,
    },
};
use parking_lot::Mutex;
#[cfg(feature = "metrics")]
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use endpoints::Endpoints;
pub use flags::Flags;
use options::watched;
pub use options::{ManagerOptions, WatchScope};
pub use serves::Serves;
use waiting::Waiting;

#[cfg(feature = "testing")]
use crate::apply::Everything;
use crate::{
    apply::Applier,
    cache::{Key, Shards, Store, StoreOptions},
    client::{self, Fences, fence::Fence},
    clock::Clock,
    cluster::{Cluster, Clusters},
    controller::{Controllers, DynamicWatches, Found, Hubs, Map, Trigger, Watch, by_dynamic},
    crypto,
    error::{Error, TaskError},
    leader::Candidate,
    logs,
    metrics::Metrics,
    object::{ScopedResource, TypedObject},
    queue::Queue,
    runnable::Runnable,
    server::probes::Readiness,
    traces::Traces,
    webhook::{Webhooks, server::Site},
};

/// controller-runtime's default. A resync covers changes outside the cluster, which cause no events; an
/// interrupted watch loses no event.
pub(crate) const DEFAULT_RESYNC: Duration = Duration::from_secs(10 * 60 * 60);

/// controller-runtime's default of `CacheSyncTimeout`.
const DEFAULT_SYNC: Duration = Duration::from_secs(2 * 60);

/// Runs controllers and webhooks, with probes, metrics and a graceful shutdown.
///
/// ```no_run
/// use clap::Parser;
/// use k8s_openapi::api::apps::v1::Deployment;
/// use kube::Client;
/// use operator_runtime::{Controllers, Flags, Manager, ManagerOptions, Store, WatchScope};
///
/// struct Context {
///     client: Client,
///     deployments: Store<Deployment>,
/// }
///
/// # async fn main_(controllers: Controllers<Context>) -> Result<(), operator_runtime::Error> {
/// let options = ManagerOptions {
///     name: "memcached.example.com",
///     scope: WatchScope::Cluster,
/// };
/// let manager = Manager::new(&options, Flags::parse()).await?;
/// // The shared context comes from the manager, before it runs.
/// let context = Context {
///     client: manager.client(),
///     deployments: manager.store(),
/// };
/// manager.controllers(controllers, context).run().await
/// # }
/// ```
pub struct Manager {
    endpoints: Endpoints,
    webhooks: Site,
    namespaces: Vec<Option<String>>,
    liveness: Readiness,
    readiness: Readiness,
    clusters: Clusters,
    metrics: Metrics,
    recorder: Recorder,
    applier: Applier,
    clock: Clock,
    candidate: Option<Candidate>,
    fences: Fences,
    shards: Option<Shards>,
    /// The time that a write may spend in flight.
    margin: Duration,
    concurrency: u16,
    resync: Duration,
    /// The longest time to list all objects at the start.
    sync: Duration,
    /// The longest time for a shutdown.
    grace: Duration,
    queues: Mutex<BTreeMap<&'static str, Arc<Queue<Key>>>>,
    /// The watches that controllers find at run time, by their names.
    found: Mutex<BTreeMap<&'static str, Vec<Arc<Found>>>>,
    hubs: Hubs,
    controllers: Vec<Waiting>,
    runnables: Vec<Runnable>,
    stop: CancellationToken,
    traces: Option<Traces>,
    /// Tells in place of an API server whether it serves a type.
    #[cfg(feature = "testing")]
    served: Option<Box<Served>>,
}

#[cfg(feature = "testing")]
type Served = dyn Fn(&ScopedResource) -> bool + Send + Sync;

impl Manager {
    /// Starts logging and creates the clients; call it first in `main`.
    ///
    /// The log lines go to stderr, at the levels of `RUST_LOG`, and panics are logged, too. If the process has a
    /// subscriber of `tracing` already, the lines go there, and this is
    /// [`without_logs`](Self::without_logs).
    ///
    /// # Errors
    /// If no Kubernetes configuration is found, if the watched namespaces do not fit the
    /// [scope](WatchScope), if the flags of leader election are invalid, or, with the feature `otlp`, if a
    /// variable of OpenTelemetry is.
    pub async fn new(options: &ManagerOptions, flags: Flags) -> Result<Self, Error> {
        let traces = Traces::from_env(options.name).map_err(Error::Traces)?;
        let is_ours = logs::init(flags.log_format, traces.as_ref());
        let mut manager = Self::without_logs(options, flags).await?;
        manager.traces = traces.filter(|_| is_ours);
        Ok(manager)
    }

    /// Like [`new`](Self::new), for a program whose logs are its own: installs no subscriber of `tracing`, no
    /// hook for panics and no exporter of traces. `--log-format` and `RUST_LOG` have no effect.
    ///
    /// The lines and spans of this crate are those of `tracing`, with targets that start with
    /// `operator_runtime`, and go to the program's subscriber, whether it is installed before or after. A span
    /// `reconcile` has the fields `controller`, `namespace`, `object` and `reconcile_id`; a span `call` in
    /// it, at the level `DEBUG`, is a call to the API server.
    ///
    /// ```no_run
    /// # async fn main_(options: operator_runtime::ManagerOptions, flags: operator_runtime::Flags)
    /// # -> Result<(), operator_runtime::Error> {
    /// use operator_runtime::Manager;
    ///
    /// tracing_subscriber::fmt().compact().init();
    /// let manager = Manager::without_logs(&options, flags).await?;
    /// # manager.run().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub async fn without_logs(options: &ManagerOptions, flags: Flags) -> Result<Self, Error> {
        let endpoints = Endpoints::from(&flags);
        let config = client::config(flags.kubeconfig.as_deref()).await?;
        #[cfg(feature = "leader-election")]
        let candidate = flags.leader_election.candidate(options.name)?;
        #[cfg(not(feature = "leader-election"))]
        let candidate = None;
        let namespaces = &flags.watch_namespace;
        let mut manager = Self::with_config(options, config, namespaces, candidate, identity)?;
        manager.endpoints = endpoints;
        #[cfg(feature = "webhooks")]
        manager.webhooks.serve_as(flags.webhooks);
        manager.concurrency = flags.max_concurrent_reconciles.into();
        manager.resync = flags.sync_period;
        manager.sync = flags.cache_sync_timeout;
        manager.grace = flags.graceful_shutdown_timeout;
        manager.applier.replace(flags.former_field_manager);
        Ok(manager)
    }

    /// `through` wraps the clients of the operator's own cluster.
    pub(crate) fn with_config(
        options: &ManagerOptions,
        mut config: Config,
        namespaces: &[String],
        candidate: Option<Candidate>,
        through: impl Fn(Client) -> Client,
    ) -> Result<Self, Error> {
        crypto::provider();
        let margin = candidate
            .as_ref()
            .map(|candidate| candidate.timing.margin());
        let shards = candidate.as_ref().and_then(|candidate| candidate.shards);
        let shards = shards.map(|_| Shards::default());
        let fences = Fences {
            leader: margin.map_or_else(Fence::open, |_| Fence::closed()),
            member: shards.as_ref().map(|_| Fence::closed()),
        };
        let margin = margin.unwrap_or(Duration::MAX);
        // The API server uses the user agent as the field manager of writes that name none.
        let agent = HeaderValue::from_str(options.name).map_err(|_| Error::Name(options.name))?;
        config.headers.push((USER_AGENT, agent));
        let metrics = Metrics::default();
        let mut own = Cluster::new(config, &metrics, &fences, margin)?;
        own.clients = own.clients.map(through);
        let reporter = Reporter {
            controller: options.name.to_owned(),
            instance: std::env::var("HOSTNAME").ok(),
        };
        Ok(Self {
            endpoints: Endpoints::default(),
            webhooks: Site::default(),
            namespaces: watched(options.scope, namespaces)?,
            liveness: Readiness::default(),
            readiness: Readiness::default(),
            recorder: Recorder::new(own.client(), reporter),
            applier: Applier::new(own.clone(), options.name),
            clock: Clock::default(),
            clusters: Clusters::new(own),
            candidate,
            fences,
            shards,
            margin,
            metrics,
            concurrency: 1,
            resync: DEFAULT_RESYNC,
            sync: DEFAULT_SYNC,
            grace: stop::GRACE,
            queues: Mutex::default(),
            found: Mutex::default(),
            hubs: Hubs::default(),
            controllers: Vec::new(),
            runnables: Vec::new(),
            stop: CancellationToken::new(),
            traces: None,
            #[cfg(feature = "testing")]
            served: None,
        })
    }

    /// A client with timeouts and without retries. Clones are cheap.
    ///
    /// With leader election, it writes only while this replica leads. Exceptions are webhooks, servers, and
    /// controllers and tasks without leadership: in their tokio tasks, it writes in every replica. The same
    /// holds for the [`applier`](Self::applier) and the [`recorder`](Self::recorder).
    pub fn client(&self) -> Client {
        self.clusters.own.client()
    }

    /// Like [`client`](Self::client), but writes in every replica: for a tokio task spawned by a webhook.
    pub fn client_without_leadership(&self) -> Client {
        self.clusters.own.clients.unfenced.clone()
    }

    /// A store of the objects of type `K`; see [`Cluster::store`].
    pub fn store<K: TypedObject>(&self) -> Store<K> {
        self.clusters.own.store()
    }

    /// Like [`store`](Self::store), with [options](StoreOptions).
    pub fn store_with<K: TypedObject>(&self, options: StoreOptions<K>) -> Store<K> {
        self.clusters.own.store_with(options)
    }

    /// Whether the API server serves the type `K`, such as that of a CRD which only some clusters have. It is asked
    /// now, and every 10 s as long as you keep the result. A watch or store of the type should be
    /// [optional](crate::Watch::optional).
    ///
    /// This needs no permission on the type. Without an answer, it asks again.
    pub async fn serves<K: TypedObject>(&self) -> Serves {
        let kind = ScopedResource::of::<K>();
        #[cfg(feature = "testing")]
        if let Some(served) = &self.served {
            return Serves::always(served(&kind));
        }
        Serves::ask(self.client(), kind).await
    }

    /// The applier, which sends server-side applies with a field manager for each controller, and skips
    /// unchanged objects.
    pub fn applier(&self) -> Applier {
        self.applier.clone()
    }

    /// The clock, whose time a unit test may [set](Clock).
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Registers your own metrics, beside those of the runtime: `manager.metrics(|registry|
    /// registry.register("widgets_made", "Widgets made", counter.clone()))`.
    #[cfg(feature = "metrics")]
    pub fn metrics(&self, register: impl FnOnce(&mut Registry)) {
        self.metrics.register(register);
    }

    /// Adds a check to `/readyz`. The check runs at each probe and must not block. The response of the
    /// probe contains its error.
    pub fn readiness_check(
        &self,
        name: &str,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.readiness.ask(name, check);
    }

    /// Adds a check to `/healthz`, as [`readiness_check`](Self::readiness_check) does to `/readyz`. The
    /// kubelet restarts a container whose check fails for long, so check only what a restart repairs: a
    /// deadlock, but not a database that is down.
    pub fn liveness_check(
        &self,
        name: &str,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.liveness.ask(name, check);
    }

    /// The event recorder. Clones share its cache, which aggregates repeated events.
    pub fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Prunes children of every type, found by `everything`.
    #[cfg(feature = "testing")]
    pub(crate) fn prune_everything(&mut self, everything: Everything) {
        self.applier.prune_everything(everything);
    }

    /// Adds another cluster, which controllers can [watch](crate::Watch::cluster).
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn cluster(&self, name: &'static str, config: Config) -> Result<Cluster, Error> {
        let cluster = Cluster::new(config, &self.metrics, &self.fences, self.margin)?;
        self.clusters.add(name, cluster.clone());
        Ok(cluster)
    }

    /// A trigger for the controller of this name, for events that no watch shows.
    pub fn trigger<K: TypedObject>(&self, controller: &'static str) -> Trigger<K> {
        Trigger::new(self.queue(controller))
    }

    /// Watches that the reconcile function of this controller adds and ends: an event reconciles the
    /// controller, of type `K`, of the object, as [`Controller::owns_dynamic`] does for a type that is known
    /// at the start.
    ///
    /// [`Controller::owns_dynamic`]: crate::Controller::owns_dynamic
    pub fn owns_dynamic<K: TypedObject>(&self, controller: &'static str) -> DynamicWatches<K> {
        self.found(controller, (Watch::new(), Map::Owner))
    }

    /// Like [`owns_dynamic`](Self::owns_dynamic), with options for the watches, which are in the operator's own
    /// cluster; an event reconciles the objects that `map` returns.
    pub fn watches_dynamic<K: TypedObject>(
        &self,
        controller: &'static str,
        watch: Watch,
        map: impl Fn(&DynamicObject) -> Vec<ObjectRef<K>> + Send + Sync + 'static,
    ) -> DynamicWatches<K> {
        let map = by_dynamic(move |object, ()| map(object));
        self.found(controller, (watch, map))
    }

    /// Adds controllers, which share `context`.
    #[must_use]
    pub fn controllers<C: Send + Sync + 'static>(
        mut self,
        controllers: impl Into<Controllers<C>>,
        context: impl Into<Arc<C>>,
    ) -> Self {
        let context = context.into();
        let (controllers, hubs) = controllers.into().into_parts();
        self.hubs.extend(hubs);
        for mut controller in controllers {
            for task in controller.tasks.drain(..) {
                self.runnables.push(task.with(context.clone()));
            }
            let context = context.clone();
            let primary = controller.primary.clone();
            for (child, selector) in controller.prunes() {
                self.applier
                    .prune(controller.name, &primary, child, selector);
            }
            let prunes = controller.prunes().map(|(child, _)| child.clone());
            self.controllers.push(Waiting {
                name: controller.name,
                shows: controller.shows(),
                prunes: (primary, prunes.collect()),
                uses: controller.uses().cloned().collect(),
                shares: controller.check_shares(),
                is_sharded: controller.is_sharded(),
                prepare: Box::new(|queue, writer, environment| {
                    controller.prepare(context, queue, writer, environment)
                }),
            });
        }
        self
    }

    /// Adds webhooks, which share `context`. They are served in every replica, unless the flags disable
    /// them.
    #[must_use]
    pub fn webhooks<C>(mut self, webhooks: Webhooks<C>, context: impl Into<Arc<C>>) -> Self
    where
        C: Send + Sync + 'static,
    {
        self.webhooks.add(webhooks, &context.into());
        self
    }

    /// Adds a task that runs while this replica leads. The task must end when its token is cancelled. A
    /// task that ends earlier, or fails, ends the operator.
    ///
    /// A task that shares the context, and that integration tests run, is a
    /// [`Controller::task`](crate::Controller::task).
    #[must_use]
    pub fn task<F, Fut>(mut self, name: &str, run: F) -> Self
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), TaskError>> + Send + 'static,
    {
        self.runnables.push(Runnable::new(name, true, run));
        self
    }

    /// Like [`task`](Self::task), in every replica.
    #[must_use]
    pub fn task_without_leadership<F, Fut>(mut self, name: &str, run: F) -> Self
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), TaskError>> + Send + 'static,
    {
        self.runnables.push(Runnable::new(name, false, run));
        self
    }

    /// Serves `router` at `address` in every replica, over plain HTTP.
    #[must_use]
    pub fn serve(mut self, name: &str, address: SocketAddr, router: Router) -> Self {
        self.endpoints.add(name, address, router);
        self
    }

    /// Runs until SIGTERM or SIGINT, then waits for running reconciles: for three quarters of
    /// [`Flags::graceful_shutdown_timeout`]. Ends at once if another replica may lead.
    ///
    /// # Errors
    /// If a component cannot start, or ends without a signal.
    pub async fn run(self) -> Result<(), Error> {
        stop::on_signals(self.stop.clone(), self.grace).map_err(Error::Signals)?;
        let traces = self.traces.clone();
        let result = self.run_until_stopped().await;
        if matches!(result, Err(Error::Lost | Error::LostShare)) {
            stop::end_after(stop::LOST);
        } else if let Some(traces) = traces {
            traces.end().await;
        }
        result
    }

    fn found<K: TypedObject>(
        &self,
        controller: &'static str,
        by: (Watch, Map<()>),
    ) -> DynamicWatches<K> {
        let (cluster, namespaces) = (self.clusters.own.clone(), self.namespaces.clone());
        let (queue, primary) = (self.queue(controller), ScopedResource::of::<K>());
        let found = Found::new(cluster, namespaces, queue, primary, by);
        let mut all = self.found.lock();
        all.entry(controller).or_default().push(found.clone());
        DynamicWatches::new(found)
    }

    fn queue(&self, controller: &'static str) -> Arc<Queue<Key>> {
        let mut queues = self.queues.lock();
        let queue = || Arc::new(Queue::new(self.metrics.queue(controller)));
        queues.entry(controller).or_insert_with(queue).clone()
    }
}
