// SPDX-License-Identifier: MIT

use std::sync::Arc;

use operator_runtime::{Action, Controller, ReadyCondition, ReconcileError, status};

use crate::Context;
use crate::api::crew::first_mate::{FirstMate, FirstMateStatus};

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "crew-firstmate";

/// The condition that reports readiness: `True` when the cluster matches the spec. For a condition
/// whose good status is `False`, such as `Degraded`, use `ReadyCondition::negative`.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
///
/// Add `.owns::<Deployment>()` for types that it creates, `.watches::<ConfigMap>(map)` for other
/// types that it depends on, and `.needs::<Secret>(&[Verb::Get])` for types that it only reads or writes.
pub fn controller() -> Controller<FirstMate, Context> {
    Controller::new(NAME, reconcile).condition(READY)
}

/// The errors of `reconcile`. A failed reconcile is retried with exponential back-off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(_) => "ApiCallFailed",
        }
    }
}

/// Drives the cluster toward `first_mate.spec`. Runs after every change, so it must be idempotent.
async fn reconcile(first_mate: Arc<FirstMate>, context: Arc<Context>) -> Result<Action, Error> {
    // The object and its owned objects are being deleted: do not create new ones.
    if first_mate.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    // Here, apply the objects that `first_mate.spec` asks for, before the status reports them.
    let api = context.api(&*first_mate);
    let wanted = wanted_status(&first_mate);
    status::patch(&api, &*first_mate, &wanted).await?;
    tracing::debug!("reconciled");
    Ok(Action::await_change())
}

/// The status that this controller wants: its own fields and conditions. Those of others stay.
fn wanted_status(first_mate: &FirstMate) -> FirstMateStatus {
    // When `reconcile` does its work, report the result: `READY.of(…)`.
    let ready = READY.not_implemented(first_mate);
    let mut status = FirstMateStatus::default();
    status.conditions.push(ready);
    status.observed_generation = first_mate.metadata.generation;
    status
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn does_not_write_unchanged_or_deleted_objects() {
        let fake = Fake::default();
        // Unchanged owned objects are not applied again.
        fake.watch(controller());
        let context = Arc::new(fake.context(Context::new).await);
        let mut first_mate = FirstMate::default();
        first_mate.metadata.name = Some("test".into());
        fake.insert(first_mate);
        let stored = || fake.get("test").map(Arc::new);
        reconcile(stored().unwrap(), context.clone()).await.unwrap();
        let writes = fake.writes();
        assert!(!writes.is_empty());
        reconcile(stored().unwrap(), context.clone()).await.unwrap();
        assert_eq!(fake.writes(), writes);

        let mut deleted = (*stored().unwrap()).clone();
        deleted.metadata.deletion_timestamp = Some(Time(Timestamp::now()));
        deleted.status = None;
        reconcile(Arc::new(deleted), context).await.unwrap();
        assert_eq!(fake.writes(), writes);
    }
}
