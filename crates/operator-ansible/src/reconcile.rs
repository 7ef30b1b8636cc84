//! One reconcile of an object.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::jiff::Timestamp;
use kube::{
    ResourceExt as _,
    api::ApiResource,
    runtime::events::{Event, EventType},
};
use operator_runtime::{
    Action, LOW_PRIORITY, ReconcileError as _, api_of, finalizer, in_one_line, status,
};
use serde_json::{Value, json};
use tokio::time::interval;

use crate::{
    ansible::{Added, Ansible, AnsibleObject, FIRST, Known, LAST, Last},
    automation::Found,
    conditions::{self, Phase},
    dependents::{Dependents, Key},
    error::Error,
    events::{Outcome, RunEvent, duration},
    inputs, marks,
    owner::{self, Owner},
    session::Session,
    status::{AnsibleStatus, Record, RecordedKind},
    vars::Vars,
};

/// How often a run looks whether its object still exists.
const LOOK: Duration = Duration::from_millis(500);

/// After this time, a reconcile that waits for watches looks again.
const WAIT: Duration = Duration::from_secs(10);

/// The longest note of an event, in bytes, that the API server takes.
const NOTE: usize = 1024;

/// One reconcile of an object.
pub(crate) struct Reconcile<'a, K> {
    ansible: &'a Ansible,
    added: &'a Added<K>,
    object: K,
    key: Key,
}

/// How a run came to its end.
enum Run {
    Done(Outcome),
    /// Its object is being deleted, or is gone.
    Deleted,
}

impl<'a, K: AnsibleObject> Reconcile<'a, K> {
    pub(crate) fn new(ansible: &'a Ansible, added: &'a Added<K>, object: &K) -> Self {
        Self {
            ansible,
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
            let api = api_of(&self.ansible.client, &self.object);
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
        let begin = Instant::now();
        let outcome = match self.run(found, &whole, false).await {
            Ok(Run::Done(outcome)) => outcome,
            Ok(Run::Deleted) => return Ok(Action::requeue(FIRST)),
            Err(error) => return self.failed(inputs, &Outcome::default(), error).await,
        };
        tracing::info!(took = ?begin.elapsed(), events = outcome.events, stats = ?outcome.stats, "the run ended");
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
        let outcome = match self.run(found, &self.whole()?, true).await {
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
        let api = api_of(&self.ansible.client, &self.object);
        // The run may have written the object.
        if let Some(newest) = api.get_opt(&self.object.name_any()).await?
            && newest.uid() == self.object.uid()
        {
            finalizer::remove(&api, &newest, finalizer.name).await?;
        }
        forget();
        Ok(Action::await_change())
    }

    /// The time after which an unchanged object is run for.
    fn period(&self) -> Result<Option<Duration>, Error> {
        let annotation = self.object.annotations().get(marks::RECONCILE_PERIOD);
        let period = match annotation {
            None => self.added.automation.period,
            Some(value) if value == "0" || value == "0s" => Duration::ZERO,
            Some(value) => duration(value).ok_or_else(|| Error::Annotation {
                annotation: marks::RECONCILE_PERIOD,
                value: value.clone(),
            })?,
        };
        Ok(Some(period).filter(|period| !period.is_zero()))
    }

    /// The period, made shorter by up to a tenth, which is always the same for an object: objects that were created at once are not run
    /// for at once.
    fn spread(&self, period: Option<Duration>) -> Option<Duration> {
        let uid = self.object.uid().unwrap_or_default();
        let sum = uid.bytes().fold(0_u32, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        period.map(|period| period - period / 1000 * (sum % 100))
    }

    /// What to wait for, if there is nothing to run for.
    fn rest(&self, inputs: &str, period: Option<Duration>) -> Option<Action> {
        if let Some(retry) = self.retry(inputs) {
            return Some(retry);
        }
        if self.added.dependents.has_changed(&self.key) {
            return None;
        }
        let last = self.known(|known| known.last.clone());
        let last = match last {
            Some(last) => last,
            None => match self.recall(inputs)? {
                Ok(last) => last,
                Err(wait) => return Some(wait),
            },
        };
        if last.inputs != inputs || last.failures > 0 {
            return None;
        }
        let Some(after) = last.requeue.or(self.spread(period)) else {
            return Some(Action::await_change());
        };
        let left = after
            .checked_sub(last.at.elapsed())
            .filter(|it| !it.is_zero());
        left.map(|left| Action::requeue(left).priority(LOW_PRIORITY))
    }

    /// The pause before a failed run is tried again. A change of the object by the run itself is no reason to try earlier.
    fn retry(&self, inputs: &str) -> Option<Action> {
        let last = self.known(|known| known.last.clone())?;
        if last.failures == 0 || last.inputs != inputs {
            return None;
        }
        let pause = FIRST * 2_u32.saturating_pow((last.failures - 1).min(10));
        let left = pause.min(LAST).checked_sub(last.at.elapsed())?;
        (left > Duration::from_millis(5)).then(|| Action::requeue(left))
    }

    /// The last run of a former process, if it ran for the same and nobody has changed what it created.
    fn recall(&self, inputs: &str) -> Option<Result<Last, Action>> {
        let status = self.object.status()?;
        let record = status.record()?;
        if record.inputs != inputs || !status.holds("Successful") {
            return None;
        }
        let kinds = record.kinds.iter().map(RecordedKind::resource);
        let Some(stores) = self.added.watches.set(&self.object, kinds) else {
            return Some(Err(Action::requeue(WAIT)));
        };
        if self.added.automation.watch_dependents {
            let kind = (K::group(&()), K::kind(&()));
            let objects = stores.iter().flat_map(|store| store.list());
            let is_mine = |metadata: &_| {
                let namespaced = self.key.0.is_some();
                owner::owner_of(metadata, (&kind.0, &kind.1), namespaced).as_ref()
                    == Some(&self.key)
            };
            let objects: Vec<_> = objects.filter(|it| is_mine(&it.metadata)).collect();
            if Dependents::digest(objects.iter().map(|it| &**it)) != record.dependents {
                return None;
            }
        }
        let age = Timestamp::now()
            .as_second()
            .saturating_sub(record.completion);
        let age = Duration::from_secs(age.try_into().unwrap_or_default());
        let last = Last {
            inputs: record.inputs,
            at: Instant::now().checked_sub(age)?,
            requeue: None,
            failures: 0,
        };
        self.known(|known| {
            known.kinds.extend(record.kinds);
            known.last = Some(last.clone());
        });
        Some(Ok(last))
    }

    /// Looks at what is known of the object, or changes it.
    fn known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        let mut all = self.added.known.lock();
        look(
            all.entry(self.object.uid().unwrap_or_default())
                .or_default(),
        )
    }

    fn remember(&self, inputs: String, requeue: Option<Duration>, failures: u32) {
        let last = Last {
            inputs,
            at: Instant::now(),
            requeue,
            failures,
        };
        self.known(|known| known.last = Some(last));
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
        let vars = Vars::of(automation, (&owner.group, &owner.kind), whole, is_finalizer);
        let kinds = self.known(|known| known.kinds.clone());
        let permission = self.ansible.proxy.permit(Session {
            owner,
            marks: self.ansible.runs.options.inject_owner_references,
            key: self.key.clone(),
            dependents: self.added.dependents.clone(),
            kinds: kinds.clone(),
        })?;
        let verbosity = self.object.annotations().get(marks::VERBOSITY);
        let verbosity = verbosity.and_then(|it| it.parse().ok());
        let request = json!({
            "kind": found.kind,
            "path": found.path,
            "vars": vars.object,
            "trusted": vars.author,
            "verbosity": verbosity.unwrap_or(automation.verbosity).min(7),
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
        let mut run = pin!(self.ansible.runs.run(request, automation.timeout, hear));
        let mut look = interval(LOOK);
        let outcome = loop {
            tokio::select! {
                outcome = &mut run => break outcome,
                () = kinds.more.notified() => self.watch(kinds.all()),
                _ = look.tick() => if !is_finalizer && self.is_deleted() {
                    tracing::info!("the run is ended, because its object is being deleted");
                    return Ok(Run::Deleted);
                },
            }
        };
        self.watch(kinds.all());
        drop(ending);
        outcome.map(Run::Done)
    }

    /// Watches objects of these kinds, so far as the automation watches them.
    fn watch(&self, kinds: Vec<RecordedKind>) {
        let automation = &self.added.automation;
        if !automation.watch_dependents {
            return;
        }
        // Their stores are not needed now.
        let kinds = self.watched(kinds);
        let kinds = kinds.iter().map(RecordedKind::resource);
        _ = self.added.watches.set(&self.object, kinds);
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

    /// A run failed: the next one follows after a pause.
    async fn failed<T>(&self, inputs: String, outcome: &Outcome, error: Error) -> Result<T, Error> {
        let before = self.known(|known| known.last.clone());
        let before = before.filter(|last| last.inputs == inputs);
        let failures = before.map_or(0, |last| last.failures);
        self.remember(inputs, None, failures.saturating_add(1));
        self.fail(outcome, error).await
    }

    /// Reports a failure.
    async fn fail<T>(&self, outcome: &Outcome, error: Error) -> Result<T, Error> {
        // The object may be gone, or the API server; the runtime reports the failure then.
        if let Err(unreported) = self.report(&Phase::Failed(outcome, &error), None).await {
            let unreported = in_one_line(&unreported);
            tracing::warn!(
                unreported,
                "the conditions of the failure cannot be written"
            );
        }
        let note = in_one_line(&error).chars().take(NOTE / 4).collect();
        let event = Event {
            type_: EventType::Warning,
            reason: error.reason().to_owned(),
            note: Some(note),
            action: "Run".to_owned(),
            secondary: None,
        };
        if let Err(error) = self
            .ansible
            .recorder
            .publish(&event, &self.object.object_ref(&()))
            .await
        {
            tracing::debug!(%error, "the event of a failure cannot be published");
        }
        Err(error)
    }

    /// Writes the status for a phase, if the operator manages it. A record stays until the next one.
    async fn report(&self, phase: &Phase<'_>, record: Option<Record>) -> Result<(), Error> {
        if !self.added.automation.manage_status {
            return Ok(());
        }
        let empty = AnsibleStatus::default();
        // The run, or a former phase, may have written it.
        let api = api_of(&self.ansible.client, &self.object);
        let newest = match phase {
            Phase::Running => Some(self.object.clone()),
            _ => api.get_opt(&self.key.1).await?,
        };
        let Some(newest) = newest.filter(|it| it.uid() == self.object.uid()) else {
            return Ok(());
        };
        let old = newest.status().unwrap_or(&empty);
        let generation = self.object.meta().generation;
        let conditions = conditions::of(phase, old, generation);
        let record = record.or_else(|| old.record());
        let status = AnsibleStatus::of(generation, conditions, record.as_ref());
        status::patch(&api, &newest, &status).await?;
        Ok(())
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
        message: failed.message.clone(),
    })
}

/// Logs an event.
fn hear(event: &RunEvent) {
    match event {
        RunEvent::Task { task, action } => tracing::debug!(task, action, "a task begins"),
        RunEvent::Failed {
            of,
            ignored: false,
            rescued: false,
        } => tracing::warn!(
            task = of.task,
            action = of.action,
            path = of.path,
            message = of.message,
            "a task failed"
        ),
        RunEvent::Unreachable { of, .. } => tracing::warn!(
            task = of.task,
            message = of.message,
            "a host is unreachable"
        ),
        RunEvent::Log { message } => tracing::debug!(message, "Ansible says"),
        _ => {}
    }
}
