//! Turns a definition into a running controller.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use futures::future::{join_all, pending};
use kube::runtime::events::Recorder;
use tokio::{task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    Definition,
    backoff::Backoff,
    dynamic::Found,
    watch::{Secondary, Watch},
    worker::Worker,
};
use crate::{
    apply::writer::Writer,
    cache::{Entry, Key, ObjectEvent, Shards, Share, ShareKey, Source},
    client::fence::in_every_replica,
    cluster::Clusters,
    error::{Error, panic_message},
    metrics::Metrics,
    queue::Queue,
};

/// The manager's settings and services for its controllers.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) clusters: Clusters,
    pub(crate) metrics: Metrics,
    pub(crate) recorder: Recorder,
    pub(crate) concurrency: u16,
    /// The watches that controllers find at run time, by their names.
    pub(crate) found: BTreeMap<&'static str, Vec<Arc<Found>>>,
    /// The shards of this process, if the replicas share objects.
    pub(crate) shards: Option<Shards>,
    /// The resync period: every object is reconciled this often although nothing changed.
    pub(crate) resync: Duration,
}

/// A controller with subscribed watches and a queue, but no workers yet.
pub(crate) struct Prepared {
    pub(crate) name: &'static str,
    pub(crate) needs_leadership: bool,
    worker: Arc<Worker>,
    watch: Watch,
    sources: Vec<Arc<Source>>,
    concurrency: u16,
    resync: Duration,
    resync_priority: i32,
}

impl<C: Send + Sync + 'static> Definition<C> {
    /// Subscribes to the watches of the controller.
    pub(crate) fn prepare(
        self,
        context: Arc<C>,
        queue: Arc<Queue<Key>>,
        writer: Writer,
        environment: &Environment,
    ) -> Result<Prepared, Error> {
        let Environment {
            clusters, metrics, ..
        } = environment;
        let cluster = clusters.get(self.watch.cluster)?;
        let form = self.watch.form(&self.primary, self.form)?;
        let source = self.watch.source(&cluster.cache, &self.primary, form);
        // The leader, and a controller in every replica, reconcile all objects.
        let shards = environment.shards.clone().zip(self.sharded);
        let own = |(shards, key): &(Shards, ShareKey)| (shards.clone(), Share::Own(key.clone()));
        source.needs(shards.as_ref().map(own));
        let add = queue.clone();
        let watch = self.watch.clone();
        source.subscribe(Box::new(move |change| {
            // A deletion runs no reconcile, but clears the object's state.
            let passes = watch.passes(change) || change.after().is_none();
            if let (true, Some(meta)) = (passes, change.after().or(change.before())) {
                add.add_changed(&Key::of(meta), watch.priority);
            }
        }));
        let mut sources = vec![source.clone()];
        for secondary in self.secondaries {
            let Secondary {
                of, form, watch, ..
            } = &secondary;
            let cache = &clusters.get(watch.cluster)?.cache;
            let other = watch.source(cache, of, watch.form(of, form.clone())?);
            other.needs(shards.as_ref().and_then(|(shards, key)| {
                let share = secondary.share(key, &source.kind)?;
                Some((shards.clone(), share))
            }));
            let (primary, queue) = (source.clone(), queue.clone());
            let context = context.clone();
            other.subscribe(Box::new(move |change| {
                let keys = secondary.concerned(change, &primary.kind, &primary.content, &context);
                let priority = secondary.watch.priority;
                keys.iter().for_each(|key| queue.add(key, priority));
            }));
            sources.push(other);
        }
        if let Some((shards, key)) = shards.clone() {
            let source = source.clone();
            metrics.shared(self.name, move || {
                let served = shards.served();
                let is_served =
                    |entry: &&Entry| key.slot(entry).is_some_and(|it| served.contains(it));
                source.content.entries().iter().filter(is_served).count()
            });
        }
        let concurrency = self.concurrency.unwrap_or(environment.concurrency);
        let reconcile = self.reconcile;
        let worker = Worker {
            name: self.name,
            source,
            shards,
            queue,
            reconcile: Box::new(move |object| reconcile(object, context.clone())),
            client: cluster.client(),
            recorder: environment.recorder.clone(),
            metrics: metrics.controller(self.name, concurrency),
            timeout: self.timeout,
            condition: self.condition,
            report: self.report,
            backoff: Backoff::new(self.retries),
            shown: Default::default(),
            own: Default::default(),
            writer: Arc::new(writer),
            runs: Default::default(),
            found: environment
                .found
                .get(self.name)
                .cloned()
                .unwrap_or_default(),
        };
        Ok(Prepared {
            name: self.name,
            needs_leadership: self.needs_leadership && worker.shards.is_none(),
            worker: Arc::new(worker),
            watch: self.watch,
            sources,
            concurrency,
            resync: environment.resync,
            resync_priority: self.resync_priority,
        })
    }
}

impl Prepared {
    /// Delays the first reconcile until these sources are filled, too.
    pub(crate) fn wait_for(&mut self, sources: &[Arc<Source>]) {
        self.sources.extend_from_slice(sources);
    }

    /// Runs until `stop`, and until the running reconciles have ended.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let filled = join_all(self.sources.iter().map(|source| source.filled()));
        tokio::select! {
            _ = filled => {}
            () = stop.cancelled() => return,
        }
        tracing::info!(
            controller = self.name,
            workers = self.concurrency,
            "started"
        );
        let mut moves = self
            .worker
            .shards
            .as_ref()
            .map(|(shards, _)| shards.observe());
        self.worker.queue.open();
        self.add_all();
        let mut workers = JoinSet::new();
        for _ in 0..self.concurrency {
            let work = self.worker.clone().run(stop.clone());
            // A sharded controller writes under the fence of the object's slot.
            match self.needs_leadership || self.worker.shards.is_some() {
                true => workers.spawn(work),
                false => workers.spawn(in_every_replica(work)),
            };
        }
        let moved = async {
            let Some(moves) = &mut moves else {
                return pending().await;
            };
            loop {
                let slots = moves.next().await;
                self.add(|entry| self.worker.is_in(entry, slots));
            }
        };
        let resync = async {
            loop {
                sleep(jittered(self.resync)).await;
                self.add_all();
            }
        };
        tokio::select! {
            _ = workers.join_all() => {}
            () = resync => {}
            () = moved => {}
        }
    }

    /// Queues every object, as if just created, with a low priority.
    fn add_all(&self) {
        self.add(|_| true);
    }

    fn add(&self, is: impl Fn(&Entry) -> bool) {
        let queue = &self.worker.queue;
        for entry in self.worker.source.content.entries() {
            if !is(&entry) {
                continue;
            }
            let passes = || self.watch.passes(&ObjectEvent::created(&entry));
            match catch_unwind(AssertUnwindSafe(passes)) {
                Ok(true) => queue.add(&Key::of(entry.meta()), self.resync_priority),
                Ok(false) => {}
                Err(panic) => {
                    let (controller, error) = (self.name, panic_message(&*panic));
                    tracing::error!(controller, error, "a predicate panicked");
                }
            }
        }
    }
}

/// Adds up to a tenth, so that replicas and controllers do not resync at once.
fn jittered(period: Duration) -> Duration {
    period.mul_f64(1.0 + fastrand::f64() / 10.0)
}
