//! What a reconcile reports: conditions, the record of the last run, and events.

use kube::{
    ResourceExt as _,
    runtime::events::{Event, EventType},
};
use operator_runtime::{ReconcileError as _, api_of, in_one_line, status};

use crate::{
    added::AnsibleObject,
    conditions::{self, Phase},
    error::Error,
    events::Outcome,
    reconcile::Reconcile,
    status::{AnsibleStatus, Record},
};

/// The longest note of an event, in bytes, that the API server takes.
const NOTE: usize = 1024;

impl<K: AnsibleObject> Reconcile<'_, K> {
    /// A run failed: the next one follows after a pause.
    pub(crate) async fn failed<T>(
        &self,
        inputs: String,
        outcome: &Outcome,
        error: Error,
    ) -> Result<T, Error> {
        let before = self.known(|known| known.last.clone());
        let before = before.filter(|last| last.inputs == inputs);
        let failures = before.map_or(0, |last| last.failures);
        self.remember(inputs, None, failures.saturating_add(1));
        self.fail(outcome, error).await
    }

    /// Reports a failure.
    pub(crate) async fn fail<T>(&self, outcome: &Outcome, error: Error) -> Result<T, Error> {
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
            .shared
            .recorder
            .publish(&event, &self.object.object_ref(&()))
            .await
        {
            tracing::debug!(%error, "the event of a failure cannot be published");
        }
        Err(error)
    }

    /// Writes the status for a phase, if the operator manages it. A record stays until the next one.
    pub(crate) async fn report(
        &self,
        phase: &Phase<'_>,
        record: Option<Record>,
    ) -> Result<(), Error> {
        if !self.added.automation.manage_status {
            return Ok(());
        }
        let empty = AnsibleStatus::default();
        // The run, or a former phase, may have written it.
        let api = api_of(&self.shared.client, &self.object);
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
