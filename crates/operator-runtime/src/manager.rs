//! The manager: what an operator is made of. `manager/run.rs` starts and stops it.

mod endpoints;
#[cfg(feature = "envtest")]
mod envtest;
#[cfg(feature = "testing")]
mod fake;
mod flags;
mod options;
mod run;
mod stop;

use std::{collections::BTreeMap, convert::identity, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    http::{HeaderValue, header::USER_AGENT},
};
use kube::{
    Client, Config,
    runtime::events::{Recorder, Reporter},
};
use parking_lot::Mutex;
#[cfg(feature = "metrics")]
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use endpoints::Endpoints;
pub use flags::Flags;
use options::watched;
pub use options::{ManagerOptions, WatchScope};

#[cfg(feature = "testing")]
use crate::apply::Everything;
use crate::{
    apply::Applier,
    cache::{Key, Store, StoreOptions},
    client::{self, fence::Fence},
    clock::Clock,
    cluster::{Cluster, Clusters},
    controller::{Controllers, Environment, Prepared, Trigger},
    error::{Error, TaskError},
    leader::Candidate,
    logs,
    metrics::Metrics,
    object::{ScopedResource, TypedObject},
    queue::Queue,
    runnable::Runnable,
    server::probes::Readiness,
    webhook::{Webhooks, server::Site},
};

/// As controller-runtime's: a watch that was interrupted misses nothing, but what is outside of the
/// cluster changes without an event.
pub(crate) const DEFAULT_RESYNC: Duration = Duration::from_secs(10 * 60 * 60);

/// Runs controllers, with probes, metrics and a graceful stop.
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
/// // What reconciles share comes from the manager, before it runs.
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
    readiness: Readiness,
    clusters: Clusters,
    metrics: Metrics,
    recorder: Recorder,
    applier: Applier,
    clock: Clock,
    candidate: Option<Candidate>,
    fence: Fence,
    /// How long a change may be under way.
    margin: Duration,
    concurrency: u16,
    resync: Duration,
    queues: Mutex<BTreeMap<&'static str, Arc<Queue<Key>>>>,
    controllers: Vec<Waiting>,
    runnables: Vec<Runnable>,
    stop: CancellationToken,
}

/// A controller that has its context, and no environment yet.
struct Waiting {
    name: &'static str,
    /// The type and the condition that shows a failure.
    shows: Option<(ScopedResource, &'static str)>,
    /// The type, and those of the children that it prunes.
    prunes: (ScopedResource, Vec<ScopedResource>),
    prepare: Box<Prepare>,
}

type Prepare = dyn FnOnce(Arc<Queue<Key>>, &Environment) -> Result<Prepared, Error> + Send;

impl Manager {
    /// Starts logging and makes the clients; call it first in `main`.
    ///
    /// # Errors
    /// If the flags leave open where the API server is, or which namespaces to watch.
    pub async fn new(options: &ManagerOptions, flags: Flags) -> Result<Self, Error> {
        logs::init(flags.log_format);
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
        Ok(manager)
    }

    /// `through` makes the clients of the operator's own cluster what is used in their place.
    pub(crate) fn with_config(
        options: &ManagerOptions,
        mut config: Config,
        namespaces: &[String],
        candidate: Option<Candidate>,
        through: impl Fn(Client) -> Client,
    ) -> Result<Self, Error> {
        // Without this, TLS panics as soon as a dependency brings a second provider.
        _ = rustls::crypto::ring::default_provider().install_default();
        let (fence, margin) = match &candidate {
            Some(candidate) => (Fence::closed(), candidate.timing.margin()),
            None => (Fence::open(), Duration::MAX),
        };
        // The API server takes it for the field manager of whatever is not applied.
        let agent = HeaderValue::from_str(options.name).map_err(|_| Error::Name(options.name))?;
        config.headers.push((USER_AGENT, agent));
        let metrics = Metrics::default();
        let mut own = Cluster::new(config, &metrics, &fence, margin)?;
        own.clients = own.clients.map(through);
        let reporter = Reporter {
            controller: options.name.to_owned(),
            instance: std::env::var("HOSTNAME").ok(),
        };
        Ok(Self {
            endpoints: Endpoints::default(),
            webhooks: Site::default(),
            namespaces: watched(options.scope, namespaces)?,
            readiness: Readiness::default(),
            recorder: Recorder::new(own.client(), reporter),
            applier: Applier::new(own.clone(), options.name),
            clock: Clock::default(),
            clusters: Clusters::new(own),
            candidate,
            fence,
            margin,
            metrics,
            concurrency: 1,
            resync: DEFAULT_RESYNC,
            queues: Mutex::default(),
            controllers: Vec::new(),
            runnables: Vec::new(),
            stop: CancellationToken::new(),
        })
    }

    /// A client whose calls are bounded in time and not repeated; a clone is cheap.
    ///
    /// With leader election it changes nothing unless this replica leads, but from webhooks, servers,
    /// and controllers and tasks without leadership, in whose tokio task it changes things in every
    /// replica. The same is true of the [`applier`](Self::applier) and the [`recorder`](Self::recorder).
    pub fn client(&self) -> Client {
        self.clusters.own.client()
    }

    /// As [`client`](Self::client), but it changes things in every replica: for a tokio task that a
    /// webhook has spawned.
    pub fn client_without_leadership(&self) -> Client {
        self.clusters.own.clients.unfenced.clone()
    }

    /// The objects of type `K`, kept in memory and current; see [`Cluster::store`].
    pub fn store<K: TypedObject>(&self) -> Store<K> {
        self.clusters.own.store()
    }

    /// As [`store`](Self::store), of some objects, or of a part of each; see [`StoreOptions`].
    pub fn store_with<K: TypedObject>(&self, options: StoreOptions<K>) -> Store<K> {
        self.clusters.own.store_with(options)
    }

    /// Applies objects with the name of the operator as their field manager, and only changes.
    pub fn applier(&self) -> Applier {
        self.applier.clone()
    }

    /// What time it is, in unit tests too: there the test [says](Clock) what time it is.
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Registers metrics of your own, which are served beside those of the controllers:
    /// `manager.metrics(|registry| registry.register("widgets_made", "Widgets made", counter.clone()))`.
    #[cfg(feature = "metrics")]
    pub fn metrics(&self, register: impl FnOnce(&mut Registry)) {
        self.metrics.register(register);
    }

    /// Adds a check to `/readyz`. It is asked at each probe and must not block; what it fails with
    /// is shown to whoever asks.
    pub fn readiness_check(
        &self,
        name: &str,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.readiness.ask(name, check);
    }

    /// Publishes events, all through one memory of what was published.
    pub fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Prunes children of whatever type, which `everything` finds.
    #[cfg(feature = "testing")]
    pub(crate) fn prune_everything(&mut self, everything: Everything) {
        self.applier.prune_everything(everything);
    }

    /// Adds another cluster, in which controllers can [watch](crate::Watch::cluster).
    ///
    /// # Errors
    /// If the configuration is not one of a client.
    pub fn cluster(&self, name: &'static str, config: Config) -> Result<Cluster, Error> {
        let cluster = Cluster::new(config, &self.metrics, &self.fence, self.margin)?;
        self.clusters.add(name, cluster.clone());
        Ok(cluster)
    }

    /// Asks the controller of this name to reconcile objects for reasons of your own.
    pub fn trigger<K: TypedObject>(&self, controller: &'static str) -> Trigger<K> {
        Trigger::new(self.queue(controller))
    }

    /// Adds controllers, which share `context`.
    #[must_use]
    pub fn controllers<C: Send + Sync + 'static>(
        mut self,
        controllers: impl Into<Controllers<C>>,
        context: impl Into<Arc<C>>,
    ) -> Self {
        let context = context.into();
        for controller in controllers.into().into_vec() {
            let context = context.clone();
            let primary = controller.primary.clone();
            for (child, selector) in controller.prunes() {
                self.applier.prune(&primary, child, selector);
            }
            let prunes = controller.prunes().map(|(child, _)| child.clone());
            self.controllers.push(Waiting {
                name: controller.name,
                shows: controller.shows(),
                prunes: (primary, prunes.collect()),
                prepare: Box::new(|queue, environment| {
                    controller.prepare(context, queue, environment)
                }),
            });
        }
        self
    }

    /// Adds webhooks, which share `context`: served in every replica, unless the flags say otherwise.
    #[must_use]
    pub fn webhooks<C>(mut self, webhooks: Webhooks<C>, context: impl Into<Arc<C>>) -> Self
    where
        C: Send + Sync + 'static,
    {
        self.webhooks.add(webhooks, &context.into());
        self
    }

    /// Adds a task of your own that runs while this replica leads. It ends when its token is
    /// cancelled; if it ends before that, or fails, the operator ends, too.
    #[must_use]
    pub fn task<F, Fut>(mut self, name: &str, run: F) -> Self
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), TaskError>> + Send + 'static,
    {
        self.runnables.push(Runnable::new(name, true, run));
        self
    }

    /// As [`task`](Self::task), in every replica.
    #[must_use]
    pub fn task_without_leadership<F, Fut>(mut self, name: &str, run: F) -> Self
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), TaskError>> + Send + 'static,
    {
        self.runnables.push(Runnable::new(name, false, run));
        self
    }

    /// Serves `router` at `address` in every replica, by plain HTTP, for an endpoint of your own.
    #[must_use]
    pub fn serve(mut self, name: &str, address: SocketAddr, router: Router) -> Self {
        self.endpoints.add(name, address, router);
        self
    }

    /// Runs until SIGTERM or SIGINT, then lets running reconciles finish for up to 22 s; ends at once
    /// if another replica may lead.
    ///
    /// # Errors
    /// If something cannot start, or ends without having been asked to.
    pub async fn run(self) -> Result<(), Error> {
        stop::on_signals(self.stop.clone()).map_err(Error::Signals)?;
        let result = self.run_until_stopped().await;
        if matches!(result, Err(Error::Lost)) {
            stop::end_after(stop::LOST);
        }
        result
    }

    fn queue(&self, controller: &'static str) -> Arc<Queue<Key>> {
        let mut queues = self.queues.lock();
        let queue = || Arc::new(Queue::new(self.metrics.queue(controller)));
        queues.entry(controller).or_insert_with(queue).clone()
    }
}
