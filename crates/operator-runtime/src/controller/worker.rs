//! Runs the reconcile function. No error or panic of it ends the controller.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures::FutureExt;
use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource,
    api::DynamicObject,
    runtime::events::{Event, EventType, Recorder},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    Action, Reconciling,
    backoff::Backoff,
    dynamic::Found,
    failure::{Failure, Report, Shown},
};
use crate::{
    apply::{
        conditions::ReadyCondition,
        status,
        writer::{Writer, writing},
        written::{self, Own},
    },
    cache::{Entry, Key, Shards, ShareKey, Source, Stored},
    client::permit::Permit,
    error::{chain, panic_message},
    metrics::{ControllerMetrics, Outcome},
    queue::{Queue, Taken},
    slots::Slots,
    traces,
};

/// The time for which an own write does not wake an object with a terminal failure: effectively forever, as
/// the resync comes sooner.
const NEVER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The state that the workers of one controller share.
pub(super) struct Worker {
    pub(super) name: &'static str,
    pub(super) source: Arc<Source>,
    /// The shards of this process, and the key of an object, if the replicas share the objects.
    pub(super) shards: Option<(Shards, ShareKey)>,
    pub(super) queue: Arc<Queue<Key>>,
    pub(super) reconcile: Box<dyn Fn(Arc<dyn Stored>) -> Reconciling + Send + Sync>,
    pub(super) client: Client,
    pub(super) recorder: Recorder,
    pub(super) metrics: ControllerMetrics,
    pub(super) timeout: Option<Duration>,
    pub(super) condition: ReadyCondition,
    pub(super) report: Option<Report>,
    pub(super) backoff: Backoff<Key>,
    pub(super) shown: Shown,
    pub(super) own: Own,
    pub(super) writer: Arc<Writer>,
    pub(super) runs: AtomicU64,
    pub(super) found: Vec<Arc<Found>>,
}

impl Worker {
    /// Reconciles queued objects until `stop`, and finishes the running one.
    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let taken = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                taken = self.queue.next() => taken,
            };
            let _work = self.queue.work();
            let turn = AssertUnwindSafe(self.turn(&taken)).catch_unwind();
            if let Err(panic) = turn.await {
                // The reconcile function panics in `call`. Here it was the code of its type.
                let (controller, error) = (self.name, panic_message(&*panic));
                let (key, delay) = (&taken.object, self.backoff.failed(&taken.object));
                tracing::error!(controller, ?key, error, retry_in = ?delay, "a controller panicked");
                self.queue.requeue(&taken, delay, None);
            }
            self.queue.done(&taken.object);
        }
    }

    /// Reconciles a taken object, if it exists, and is in a share of this process.
    async fn turn(&self, taken: &Taken<Key>) {
        let key = &taken.object;
        let Some(found) = self.source.content.get(key) else {
            return self.forget_all(key);
        };
        let Some((shards, by)) = &self.shards else {
            return self.serve(taken, found).await;
        };
        match by.slot(&found).and_then(|slot| shards.enter(slot)) {
            Some(turn) => turn.run(self.serve(taken, found)).await,
            None => self.forget_all(key),
        }
    }

    /// Reconciles an object, unless it waits for its own write.
    async fn serve(&self, taken: &Taken<Key>, found: Entry) {
        let key = &taken.object;
        if let Some((delay, priority)) = self.own.wait(key, found.meta(), taken.urgent) {
            self.queue.look_after(taken, delay, priority);
            return;
        }
        match found {
            Entry::Valid(object) => {
                let next = self.reconcile(taken, object).await;
                if let Some(delay) = next.requeue_after {
                    self.queue.requeue(taken, delay, next.priority);
                }
            }
            Entry::Invalid(_) => self.leave(key, &found).await,
        }
    }

    /// Whether the object is in one of these slots.
    pub(super) fn is_in(&self, entry: &Entry, slots: Slots) -> bool {
        let by = self.shards.as_ref().map(|(_, by)| by);
        let slot = by.and_then(|by| by.slot(entry));
        slot.is_some_and(|slot| slots.contains(slot))
    }

    /// Forgets an object that is deleted, or that is now another replica's.
    fn forget_all(&self, key: &Key) {
        self.forget(key);
        self.writer.owned.forget(key);
        self.found.iter().for_each(|found| found.forget(key));
    }

    /// Reconciles an object and returns when to reconcile it next.
    async fn reconcile(&self, taken: &Taken<Key>, object: Arc<dyn Stored>) -> Action {
        let key = &taken.object;
        let span = tracing::error_span!(
            "reconcile",
            controller = self.name,
            namespace = key.namespace(),
            object = key.name(),
            reconcile_id = self.runs.fetch_add(1, Ordering::Relaxed),
            trace_id = tracing::field::Empty,
        );
        traces::record_id(&span);
        let run = async {
            let running = self.metrics.running();
            let begin = Instant::now();
            let reconcile = self.call(object.clone());
            let (result, newest) = self.writing(&*object, reconcile).await;
            drop(running);
            if let Err((Outcome::Error | Outcome::TerminalError, failure)) = &result
                && Permit::is_over()
            {
                let error = &failure.message;
                tracing::info!(error, "given up: the object has another owner now");
                self.forget_all(key);
                return Action::await_change();
            }
            let (outcome, mut next) = self.conclude(key, &result);
            self.metrics.ended(outcome, begin.elapsed());
            let mut own = newest;
            let mut retry = None;
            if let Err((_, failure)) = &result {
                let show = self.show(key, &*object, newest.is_some(), failure);
                match self.writing(&*object, show).await.0 {
                    Ok(shown) => {
                        own = own.max(shown);
                        if failure.terminal {
                            self.backoff.reset(key);
                        }
                    }
                    // The failure would go unreported.
                    Err(()) if failure.terminal => {
                        next = Action::requeue(self.backoff.failed(key));
                    }
                    Err(()) => {}
                }
                own = own.max(written::version(object.meta()));
                let at = Instant::now().checked_add(next.requeue_after.unwrap_or(NEVER));
                retry = at.map(|at| (at, taken.priority));
            }
            if let Some(own) = own {
                self.own.note(key, own, retry);
            }
            next
        };
        run.instrument(span).await
    }

    /// Runs the work on an object, whose writes are the controller's; also returns the newest version of the
    /// object that the work has written.
    async fn writing<T>(
        &self,
        object: &dyn Stored,
        work: impl Future<Output = T>,
    ) -> (T, Option<u128>) {
        writing(self.writer.clone(), written::during(object.meta(), work)).await
    }

    async fn call(&self, object: Arc<dyn Stored>) -> Result<Action, (Outcome, Failure)> {
        let reconcile = async { (self.reconcile)(object).await };
        let reconcile = AssertUnwindSafe(reconcile).catch_unwind();
        let result = match self.timeout {
            Some(timeout) => tokio::time::timeout(timeout, reconcile).await,
            None => Ok(reconcile.await),
        };
        match result {
            Ok(Ok(result)) => result.map_err(|failure| match failure.terminal {
                true => (Outcome::TerminalError, failure),
                false => (Outcome::Error, failure),
            }),
            Ok(Err(panic)) => {
                let message = panic_message(&*panic).to_owned();
                Err((Outcome::Panic, Failure::new("Panic", message)))
            }
            Err(_) => {
                let after = self.timeout.unwrap_or_default();
                let failure = Failure::new("Timeout", format!("timed out after {after:?}"));
                Err((Outcome::Timeout, failure))
            }
        }
    }

    /// The outcome of a result, which is logged, and when to reconcile the object next.
    fn conclude(
        &self,
        key: &Key,
        result: &Result<Action, (Outcome, Failure)>,
    ) -> (Outcome, Action) {
        let (outcome, failure) = match result {
            Ok(action) => {
                self.forget(key);
                let outcome = match action.requeue_after {
                    Some(_) => Outcome::RequeueAfter,
                    None => Outcome::Success,
                };
                return (outcome, *action);
            }
            Err((outcome, failure)) => (*outcome, failure),
        };
        let Failure {
            reason,
            message: error,
            terminal,
            conflict,
        } = failure;
        if *terminal {
            tracing::error!(
                reason,
                error,
                "reconcile failed, not retrying until a change"
            );
            return (outcome, Action::await_change());
        }
        let delay = self.backoff.failed(key);
        if *conflict {
            tracing::info!(reason, error, retry_in = ?delay, "conflict: the object has changed, retrying");
        } else {
            tracing::error!(reason, error, retry_in = ?delay, "reconcile failed");
        }
        (outcome, Action::requeue(delay))
    }

    /// Reports a failure in the object's condition, unless it is already there; returns the version of the
    /// write. Fails if the API server refused the write.
    ///
    /// If the reconcile has written the object, its condition may be another one than in `object`.
    async fn show(
        &self,
        key: &Key,
        object: &dyn Stored,
        is_written: bool,
        failure: &Failure,
    ) -> Result<Option<u128>, ()> {
        let Some(report) = self.report.filter(|_| !failure.conflict) else {
            return Ok(None);
        };
        let meta = object.meta();
        let version = meta.resource_version.as_deref();
        if self.shown.has(key, version, failure) {
            return Ok(None);
        }
        let condition = Condition {
            type_: self.condition.type_().to_owned(),
            status: self.condition.status(false).to_owned(),
            reason: failure.reason.to_owned(),
            message: failure.short_message(),
            observed_generation: meta.generation,
            last_transition_time: Time(Timestamp::now()),
        };
        let client = self.client.clone();
        let api: Api<DynamicObject> = self.source.kind.api(client, key.namespace());
        let newer = match is_written {
            true => api.get_opt(key.name()).await.map_err(unreported)?,
            false => None,
        };
        let (object, status) = match report(object, newer, condition) {
            Ok(Some(report)) => report,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::warn!(%error, "cannot report the failure in the status: give the fields of the status defaults");
                return Err(());
            }
        };
        match status::write(&api, &object, &status).await {
            Ok(shown) => {
                self.shown.note(key, version, failure);
                Ok(written::version(&shown.metadata))
            }
            Err(kube::Error::Api(status)) if status.is_conflict() => {
                tracing::debug!("conflict: cannot report the failure in the status");
                Err(())
            }
            Err(error) => {
                unreported(error);
                Err(())
            }
        }
    }

    fn forget(&self, key: &Key) {
        self.backoff.reset(key);
        self.shown.forget(key);
        self.own.forget(key);
    }

    /// Skips an object that does not decode, and publishes an event. Its finalizers stay.
    async fn leave(&self, key: &Key, entry: &Entry) {
        let Entry::Invalid(invalid) = entry else {
            return;
        };
        self.forget(key);
        self.metrics.undecodable();
        let mut object = DynamicObject::new(key.name(), &self.source.kind.resource);
        object.metadata = entry.meta().clone();
        let event = Event {
            type_: EventType::Warning,
            reason: "Undecodable".to_owned(),
            note: Some(invalid.error.chars().take(1024).collect()),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        let reference = object.object_ref(&self.source.kind.resource);
        if let Err(error) = self.recorder.publish(&event, &reference).await {
            let error = chain(&error);
            tracing::debug!(error, "cannot publish the event for an undecodable object");
        }
    }
}

/// Logs why a failure is not in the status.
fn unreported(error: kube::Error) {
    let error = chain(&error);
    tracing::warn!(error, "cannot report the failure in the status");
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use std::convert::Infallible;

    use futures::future::ok;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{client::Body, runtime::events::Reporter};
    use tokio::sync::mpsc::unbounded_channel;
    use tower::service_fn;

    use super::*;
    use crate::{
        cache::{Cache, Form},
        controller::backoff::Retries,
        metrics::Metrics,
        object::{ScopedResource, Selector},
    };

    /// Its type may panic while a failure is written to its status.
    #[tokio::test]
    async fn a_panic_beside_the_reconcile_function_ends_no_worker() {
        let answer = |_| ok::<_, Infallible>(http::Response::new(Body::empty()));
        let client = Client::new(service_fn(answer), "default");
        let kind = ScopedResource::of::<ConfigMap>();
        let form = Form::of::<ConfigMap>();
        let source = Cache::default().source(&kind, &Selector::default(), form, false);
        let key = Key::new(Some("ns"), "a");
        let object = r#"{"metadata":{"name":"a","namespace":"ns","resourceVersion":"1"}}"#;
        source.fill([(key.clone(), object)].into_iter());
        let metrics = Metrics::default();
        let queue = Arc::new(Queue::new(metrics.queue("a")));
        queue.open();
        queue.add(&key, 0);
        let reporter = Reporter {
            controller: "a".to_owned(),
            instance: None,
        };
        let (calls, mut called) = unbounded_channel();
        let worker = Worker {
            shards: None,
            name: "a",
            source,
            queue,
            reconcile: Box::new(move |_| {
                calls.send(()).unwrap();
                async { Err(Failure::new("Failed", "it fails".to_owned())) }.boxed()
            }),
            recorder: Recorder::new(client.clone(), reporter),
            client,
            metrics: metrics.controller("a", 1),
            timeout: None,
            condition: ReadyCondition::default(),
            report: Some(|_, _, _| panic!("at the disco")),
            backoff: Backoff::new(Retries::default()),
            shown: Shown::default(),
            own: Own::default(),
            writer: Arc::new(Writer::new("a", None, "a", true)),
            runs: AtomicU64::default(),
            found: Vec::new(),
        };
        let stop = CancellationToken::new();
        let worker = tokio::spawn(Arc::new(worker).run(stop.clone()));
        for _ in 0..3 {
            called.recv().await.expect("the worker has ended");
        }
        stop.cancel();
        worker.await.unwrap();
    }
}
