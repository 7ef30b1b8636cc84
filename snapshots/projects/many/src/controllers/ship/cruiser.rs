// SPDX-License-Identifier: MIT

use std::sync::Arc;

use operator_runtime::{Action, Controller, ReadyCondition, ReconcileError, finalizer, status};

use crate::Context;
use crate::api::ship::cruiser::{Cruiser, CruiserStatus};

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "ship-cruiser";

/// The condition that reports readiness: `True` when the cluster matches the spec. For a condition
/// whose good status is `False`, such as `Degraded`, use `ReadyCondition::negative`.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// Keeps a deleted object until `clean_up` has succeeded. Objects in clusters contain this name, so
/// do not change it.
const FINALIZER: &str = "project-many.testproject.org/ship-cruiser";

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
///
/// Add `.owns::<Deployment>()` for types that it creates, `.watches::<ConfigMap>(map)` for other
/// types that it depends on, and `.needs::<Secret>(&[Verb::Get])` for types that it only reads or writes.
pub fn controller() -> Controller<Cruiser, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .finalizer()
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

/// Drives the cluster toward `cruiser.spec`. Runs after every change, so it must be idempotent.
async fn reconcile(object: Arc<Cruiser>, context: Arc<Context>) -> Result<Action, Error> {
    let api = context.api(&*object);
    // Before `apply`, the object gets the finalizer; after `clean_up`, it loses it.
    let apply = |object| apply(object, &context);
    let clean_up = |object| clean_up(object, &context);
    finalizer::run(&api, object, FINALIZER, apply, clean_up).await
}

/// Applies what `cruiser.spec` asks for, and reports the result.
async fn apply(cruiser: Arc<Cruiser>, context: &Context) -> Result<Action, Error> {
    // Here, apply the objects that `cruiser.spec` asks for, before the status reports them.
    let api = context.api(&*cruiser);
    let wanted = wanted_status(&cruiser);
    status::patch(&api, &*cruiser, &wanted).await?;
    tracing::debug!("reconciled");
    Ok(Action::await_change())
}

/// Deletes resources that garbage collection cannot: outside the cluster, or in other namespaces.
/// It may run twice, so a missing resource is not an error.
async fn clean_up(cruiser: Arc<Cruiser>, context: &Context) -> Result<(), Error> {
    // The condition says why the object still exists.
    let api = context.api(&*cruiser);
    finalizer::terminating(&api, &*cruiser, READY).await?;
    tracing::debug!("no cleanup needed");
    Ok(())
}

/// The status that this controller wants: its own fields and conditions. Those of others stay.
fn wanted_status(cruiser: &Cruiser) -> CruiserStatus {
    // When `reconcile` does its work, report the result: `READY.of(…)`.
    let ready = READY.not_implemented(cruiser);
    let mut status = CruiserStatus::default();
    status.conditions.push(ready);
    status.observed_generation = cruiser.metadata.generation;
    status
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn skips_unchanged_objects_and_cleans_up_deleted_ones() {
        let fake = Fake::default();
        // Unchanged owned objects are not applied again.
        fake.watch(controller());
        let context = Arc::new(fake.context(Context::new).await);
        let mut cruiser = Cruiser::default();
        cruiser.metadata.name = Some("test".into());
        fake.insert(cruiser);
        let stored = || fake.get("test").map(Arc::new);
        reconcile(stored().unwrap(), context.clone()).await.unwrap();
        let writes = fake.writes();
        assert!(!writes.is_empty());
        reconcile(stored().unwrap(), context.clone()).await.unwrap();
        assert_eq!(fake.writes(), writes);

        let mut deleted = (*stored().unwrap()).clone();
        deleted.metadata.deletion_timestamp = Some(Time(Timestamp::now()));
        fake.insert(deleted);
        reconcile(stored().unwrap(), context).await.unwrap();
        // Without its finalizer, the object is gone.
        assert_eq!(stored(), None);
    }
}
