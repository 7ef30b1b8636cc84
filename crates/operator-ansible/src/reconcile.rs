//! One reconcile of an object.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::jiff::Timestamp;
use kube::{ResourceExt as _, api::ApiResource};
use operator_runtime::{Action, LOW_PRIORITY, api_of, finalizer};
use serde_json::{Value, json};
use tokio::time::interval;

use crate::{
    added::{Added, AnsibleObject, FIRST, Shared},
    automation::Found,
    conditions::Phase,
    dependents::{Dependents, Key},
    error::Error,
    events::{self, Outcome, RunEvent},
    inputs, marks,
    memory::{Find, Memory},
    owner::Owner,
    session::Session,
    status::{Record, RecordedKind},
    vars::Vars,
};

/// How often a run looks whether its object still exists.
const LOOK: Duration = Duration::from_millis(500);

/// One reconcile of an object.
pub(crate) struct Reconcile<'a, K> {
    pub(crate) shared: &'a Shared,
    pub(crate) added: &'a Added<K>,
    pub(crate) object: K,
    pub(crate) key: Key,
}

/// How a run came to its end.
enum Run {
    Done(Outcome),
    /// Its object is being deleted, or is gone.
    Deleted,
}

impl<'a, K: AnsibleObject> Reconcile<'a, K> {
    pub(crate) fn new(shared: &'a Shared, added: &'a Added<K>, object: &K) -> Self {
        Self {
            shared,
            added,
            key: (object.namespace(), object.name_any()),
            object: object.clone(),
        }
    }

    pub(crate) async fn reconcile(mut self) -> Result<Action, Error> {
        if self.object.meta().deletion_timestamp.is_some() {
            return self.finalize().await;
        }
        if let Some(finalizer) = &self.added.automation.finalizer {
            let api = api_of(&self.shared.client, &self.object);
            match finalizer::ensure(&api, &self.object, finalizer.name).await? {
                finalizer::Event::Apply(object) => self.object = object,
                _ => return Ok(Action::await_change()),
            }
        }
        let period = match self.period() {
            Ok(period) => period,
            Err(error) => return self.fail(&Outcome::default(), error).await,
        };
        let found = match &self.added.content {
            Ok(found) => found,
            Err(error) => {
                let error = Error::Content(error.clone());
                return self.fail(&Outcome::default(), error).await;
            }
        };
        let whole = self.whole()?;
        let inputs = inputs::digest(&self.added.automation, found, self.object.meta(), &whole);
        if let Some(rest) = self.rest(&inputs, period) {
            return Ok(rest);
        }
        let is_new = self.known(|known| known.last.as_ref().is_none_or(|it| it.inputs != inputs));
        if is_new {
            self.report(&Phase::Running, None).await?;
        }
        let outcome = match self.measured(found, &whole, false).await {
            Ok(Run::Done(outcome)) => outcome,
            Ok(Run::Deleted) => return Ok(Action::requeue(FIRST)),
            Err(error) => return self.failed(inputs, &Outcome::default(), error).await,
        };
        if let Some(error) = failure(&outcome) {
            return self.failed(inputs, &outcome, error).await;
        }
        let record = self.record(&inputs);
        let requeue = outcome.requeue_after;
        self.remember(inputs, requeue, 0);
        let phase = match requeue {
            Some(after) => Phase::Requeued(after),
            None => Phase::Succeeded(&outcome),
        };
        self.report(&phase, Some(record)).await?;
        if self.added.dependents.has_changed(&self.key) {
            return Ok(Action::requeue(FIRST));
        }
        let after = requeue.or(self.spread(period));
        Ok(after.map_or(Action::await_change(), |after| {
            Action::requeue(after).priority(LOW_PRIORITY)
        }))
    }

    /// Runs the finalizer of an object that is being deleted.
    async fn finalize(self) -> Result<Action, Error> {
        let forget = || {
            let uid = self.object.uid().unwrap_or_default();
            self.added.known.lock().remove(&uid);
            self.added.dependents.forget(&self.key);
        };
        let finalizer = self.added.automation.finalizer.as_ref();
        let finalizer =
            finalizer.filter(|it| self.object.finalizers().iter().any(|has| has == it.name));
        let (Some(finalizer), Some(found)) = (finalizer, &self.added.finalizer) else {
            forget();
            return Ok(Action::await_change());
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let error = Error::Content(error.clone());
                return self.fail(&Outcome::default(), error).await;
            }
        };
        let inputs = format!(
            "deletion of {}",
            self.object.meta().generation.unwrap_or_default()
        );
        if let Some(rest) = self.retry(&inputs) {
            return Ok(rest);
        }
        let outcome = match self.measured(found, &self.whole()?, true).await {
            Ok(Run::Done(outcome)) => outcome,
            Ok(Run::Deleted) => return Ok(Action::await_change()),
            Err(error) => return self.failed(inputs, &Outcome::default(), error).await,
        };
        if let Some(error) = failure(&outcome) {
            return self.failed(inputs, &outcome, error).await;
        }
        if let Some(after) = outcome.requeue_after {
            return Ok(Action::requeue(after));
        }
        let api = api_of(&self.shared.client, &self.object);
        // The run may have written the object.
        if let Some(newest) = api.get_opt(&self.object.name_any()).await?
            && newest.uid() == self.object.uid()
        {
            finalizer::remove(&api, &newest, finalizer.name).await?;
        }
        forget();
        Ok(Action::await_change())
    }

    /// The object as JSON, with its kind.
    fn whole(&self) -> Result<Value, Error> {
        let mut whole = serde_json::to_value(&self.object)?;
        let resource = ApiResource::erase::<K>(&());
        whole["apiVersion"] = resource.api_version.into();
        whole["kind"] = resource.kind.into();
        if let Some(metadata) = whole["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        Ok(whole)
    }

    /// Runs content for the object, and counts that.
    async fn measured(
        &self,
        found: &Found,
        whole: &Value,
        is_finalizer: bool,
    ) -> Result<Run, Error> {
        let begin = Instant::now();
        let run = self.run(found, whole, is_finalizer).await;
        let has_succeeded = match &run {
            Ok(Run::Done(outcome)) => {
                let (took, stats) = (begin.elapsed(), outcome.stats.unwrap_or_default());
                let what = if is_finalizer {
                    "the run of the finalizer ended"
                } else {
                    "the run ended"
                };
                tracing::info!(
                    ?took,
                    ok = stats.ok,
                    changed = stats.changed,
                    failed = stats.failures,
                    "{what}"
                );
                failure(outcome).is_none()
            }
            Ok(Run::Deleted) => return run,
            Err(_) => false,
        };
        let resource = ApiResource::erase::<K>(&());
        let kind = (&*resource.api_version, &*resource.kind);
        self.shared
            .metrics
            .ran(kind, begin.elapsed(), has_succeeded);
        run
    }

    /// Runs content for the object.
    async fn run(&self, found: &Found, whole: &Value, is_finalizer: bool) -> Result<Run, Error> {
        let automation = &self.added.automation;
        let resource = ApiResource::erase::<K>(&());
        let owner = Owner {
            api_version: resource.api_version,
            group: resource.group,
            kind: resource.kind,
            name: self.key.1.clone(),
            namespace: self.key.0.clone(),
            uid: self.object.uid().unwrap_or_default(),
            controller: self.added.controller.to_owned(),
        };
        let options = &self.shared.runs.options;
        let vars = Vars::of(automation, (&owner.group, &owner.kind), whole, is_finalizer);
        let (kinds, memory) = self.known(|known| (known.kinds.clone(), known.memory.clone()));
        memory.begin();
        let permission = self.shared.proxy.permit(Session {
            owner,
            marks: options.inject_owner_references,
            key: self.key.clone(),
            dependents: self.added.dependents.clone(),
            kinds: kinds.clone(),
            memory: memory.clone(),
        })?;
        let verbosity = self.object.annotations().get(marks::VERBOSITY);
        let verbosity = verbosity.and_then(|it| it.parse().ok());
        let verbosity: u8 = verbosity
            .or(automation.verbosity)
            .unwrap_or(options.verbosity);
        let request = json!({
            "kind": found.kind,
            "path": found.path,
            "vars": vars.object,
            "trusted": vars.author,
            "verbosity": verbosity.min(7),
            "files": { "kubeconfig": permission.kubeconfig },
            "environment": {
                "K8S_AUTH_KUBECONFIG": "{place}/kubeconfig",
                "KUBECONFIG": "{place}/kubeconfig",
            },
        });
        let ending = Ending {
            dependents: &self.added.dependents,
            key: &self.key,
        };
        self.added.dependents.begin(&self.key);
        let hear = |event: &RunEvent| {
            if let Some(metric) = event.metric() {
                self.shared.metrics.change(metric);
            }
            options.log_events.log(event);
        };
        let mut run = pin!(self.shared.runs.run(request, automation.timeout, hear));
        let mut look = interval(LOOK);
        let mut is_shown = false;
        let outcome = loop {
            tokio::select! {
                outcome = &mut run => break outcome,
                () = kinds.more.notified() => is_shown = self.watch(kinds.all(), &memory),
                _ = look.tick() => {
                    if !is_finalizer && self.is_deleted() {
                        tracing::info!("the run is ended, because its object is being deleted");
                        return Ok(Run::Deleted);
                    }
                    if !is_shown {
                        is_shown = self.watch(kinds.all(), &memory);
                    }
                },
            }
        };
        self.watch(kinds.all(), &memory);
        drop(ending);
        outcome.map(Run::Done)
    }

    /// Watches objects of these kinds, so far as the automation watches them. Returns whether `memory` has all that the watches show.
    fn watch(&self, kinds: Vec<RecordedKind>, memory: &Memory) -> bool {
        let automation = &self.added.automation;
        if !automation.watch_dependents {
            return true;
        }
        let kinds = self.watched(kinds);
        let resources = kinds.iter().map(RecordedKind::resource);
        let Some(stores) = self.added.watches.set(&self.object, resources) else {
            return false;
        };
        let finds = stores.into_iter().map(|store| {
            let find: Find = Box::new(move |namespace, name| store.get(namespace, name));
            find
        });
        memory.show(kinds.into_iter().zip(finds).collect());
        true
    }

    fn watched(&self, mut kinds: Vec<RecordedKind>) -> Vec<RecordedKind> {
        let automation = &self.added.automation;
        kinds.retain(|kind| {
            let (group, version) = kind.version();
            let is_listed = automation.blacklist.iter().any(|(of, in_, listed)| {
                (of.as_str(), in_.as_str(), listed) == (group, version, &kind.kind)
            });
            let is_scoped =
                kind.namespaced || automation.watch_cluster_scoped || self.key.0.is_none();
            automation.watch_dependents && is_scoped && !is_listed
        });
        kinds
    }

    /// Whether the object is being deleted, or another one has its name.
    fn is_deleted(&self) -> bool {
        let found = self.added.objects.get(self.key.0.as_deref(), &self.key.1);
        found.is_none_or(|found| {
            found.meta().deletion_timestamp.is_some() || found.uid() != self.object.uid()
        })
    }

    /// The record of a run that succeeded.
    fn record(&self, inputs: &str) -> Record {
        let kinds = self.known(|known| known.kinds.all());
        Record {
            inputs: inputs.to_owned(),
            dependents: self.added.dependents.known(&self.key),
            completion: Timestamp::now().as_second(),
            kinds: self.watched(kinds),
        }
    }
}

/// Ends the time in which changes of dependents may be those of a run.
struct Ending<'a> {
    dependents: &'a Arc<Dependents>,
    key: &'a Key,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.dependents.end(self.key);
    }
}

/// Why a run that came to its end did not succeed.
fn failure(outcome: &Outcome) -> Option<Error> {
    if let Some(error) = &outcome.error {
        return Some(Error::Content(error.clone()));
    }
    let failed = outcome.failures.first()?;
    Some(Error::Task {
        task: failed.task.clone(),
        message: events::short(&failed.message),
    })
}
