// SPDX-License-Identifier: MIT

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use kube::{Api, ResourceExt};
use operator_runtime::{
    Action, Controller, ReadyCondition, ReconcileError, conditions, finalizer, status,
};

use crate::Context;
use crate::api::sea_creatures::v1beta1::kraken::{Kraken, KrakenStatus};

/// What logs, metrics and probes call this controller.
const NAME: &str = "sea-creatures-kraken";

/// The condition that tells whether an object is as its spec wants it. One whose good status is
/// `False`, such as `Degraded`, is `ReadyCondition::negative`.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// Keeps an object that is being deleted until `clean_up` is done. Objects in clusters have it, so
/// it never changes.
const FINALIZER: &str = "project-many.testproject.org/sea-creatures-kraken";

/// What this controller watches. `make manifests` derives its permissions from the same list.
///
/// Name what it creates with `.owns::<Deployment>()`, what else it depends on with
/// `.watches::<ConfigMap>(map)`, and what it only reads or writes with
/// `.needs::<Secret>(&[Verb::Get])`.
pub fn controller() -> Controller<Kraken, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .finalizer()
}

/// Why reconciling failed. It is tried again, after a longer time each time.
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

/// Brings the cluster closer to what `object` wants. Called after every change, so idempotent.
async fn reconcile(object: Arc<Kraken>, context: Arc<Context>) -> Result<Action, Error> {
    let namespace = object.namespace().unwrap_or_default();
    let api = Api::namespaced(context.client.clone(), &namespace);
    // The finalizer is there before anything that has to be cleaned up.
    let object = match finalizer::ensure(&api, &*object, FINALIZER).await? {
        finalizer::Event::Apply(object) => object,
        finalizer::Event::Cleanup => {
            let object = finalizer::terminating(&api, &*object, READY).await?;
            clean_up(&object, &context).await?;
            finalizer::remove(&api, &object, FINALIZER).await?;
            return Ok(Action::await_change());
        }
        finalizer::Event::Gone => return Ok(Action::await_change()),
    };
    // Create here what `object.spec` asks for. Then the status says that it is there.
    let wanted = wanted_status(&object, Timestamp::now());
    status::patch(&api, &object, &wanted).await?;
    tracing::debug!("reconciled");
    Ok(Action::await_change())
}

/// Deletes what garbage collection does not: what is outside of the cluster, or in another
/// namespace. It may run twice, so what is gone already is no error.
async fn clean_up(object: &Kraken, _: &Context) -> Result<(), Error> {
    tracing::debug!(name = object.name_any(), "nothing to clean up");
    Ok(())
}

/// The status that `object` should have.
fn wanted_status(object: &Kraken, now: Timestamp) -> KrakenStatus {
    let mut status = object.status.clone().unwrap_or_default();
    let ready = Condition {
        last_transition_time: Time(now),
        ..READY.of(object, true, "Reconciled", "the spec is fulfilled")
    };
    conditions::set(&mut status.conditions, ready);
    status.observed_generation = object.metadata.generation;
    status
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[test]
    fn status_follows_the_generation_and_then_stays() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let mut object = Kraken::default();
        for (generation, second) in [(1, 10), (1, 20), (2, 30)] {
            object.metadata.generation = Some(generation);
            let status = wanted_status(&object, time(second));
            assert_eq!(status.observed_generation, Some(generation));
            assert_eq!(status.conditions.len(), 1);
            let ready = &status.conditions[0];
            assert_eq!(ready.observed_generation, Some(generation));
            // It became ready once, and stayed so.
            assert_eq!(ready.last_transition_time, Time(time(10)));
            object.status = Some(status);
        }
    }

    #[tokio::test]
    async fn a_second_reconcile_writes_nothing_and_a_deleted_object_is_cleaned_up() {
        let fake = Fake::default();
        // What it owns and applies is sent again only after a change.
        fake.watch(controller());
        let context = Arc::new(fake.context(Context::new).await);
        let mut object = Kraken::default();
        object.metadata.name = Some("test".into());
        fake.add(object);
        let object = || fake.get("test").map(Arc::new);
        reconcile(object().unwrap(), context.clone()).await.unwrap();
        let writes = fake.writes();
        assert!(!writes.is_empty());
        reconcile(object().unwrap(), context.clone()).await.unwrap();
        assert_eq!(fake.writes(), writes);

        let mut deleted = (*object().unwrap()).clone();
        deleted.metadata.deletion_timestamp = Some(Time(Timestamp::now()));
        fake.add(deleted);
        reconcile(object().unwrap(), context).await.unwrap();
        // The condition says so, then the finalizer goes, and the object with it.
        assert_eq!(fake.writes().len(), writes.len() + 2);
        assert_eq!(object(), None);
    }
}
