//! Operates one cluster of etcd: observes it, decides on one step, takes it, and reports.

mod act;
mod certificates;
mod objects;
mod observe;
mod plan;
mod status;

use std::time::Duration;

use kube::runtime::events::{Event, EventType};
use kube::{Api, Resource, ResourceExt};
use operator_runtime::{Action, ReconcileError};

pub use certificates::{CA, CERTIFICATE, KEY};
pub use objects::{CLUSTER, Objects, container_security, object, pod_security};
pub use observe::is_newer;

use act::Hands;
use observe::{Answers, Found, observe};
use plan::{Step, Waiting};

use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::{Context, etcd, fault};

/// After a step, the next one follows at once; Pods and disks also reconcile when they change.
const AFTER_STEP: Duration = Duration::from_millis(100);
const WHILE_WAITING: Duration = Duration::from_secs(1);
/// etcd does not report when a member stops, so a cluster that is ready is asked again.
const WHEN_DONE: Duration = Duration::from_secs(10);

/// The errors of a reconcile. A failed reconcile is retried with exponential back-off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
    #[error("a call to etcd failed")]
    Etcd(#[from] etcd::Error),
    #[error("cannot issue a certificate")]
    Certificate(#[from] rcgen::Error),
    #[error(
        "the Secret {0} with the CA is gone or cannot be read: members run on until their certificates expire"
    )]
    CaLost(String),
    #[error("cannot find out which image fetches the snapshot")]
    Image(#[source] anyhow::Error),
    /// Not an error: the step has to wait.
    #[error("{0}")]
    NotYet(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(_) => "ApiCallFailed",
            Self::Etcd(_) => "EtcdCallFailed",
            Self::Certificate(_) => "CertificateFailed",
            Self::CaLost(_) => "CaLost",
            Self::Image(_) => "ImageUnknown",
            Self::NotYet(_) => "Waiting",
        }
    }
}

/// Takes the cluster one step toward its spec.
pub async fn reconcile(cached: &EtcdCluster, context: &Context) -> Result<Action> {
    let namespace = cached.namespace().unwrap_or_default();
    let api: Api<EtcdCluster> = Api::namespaced(context.client.clone(), &namespace);
    let current = api.get_opt(&cached.name_any()).await?;
    // An object that is being deleted gets no new owned objects.
    let Some(cluster) = &current.filter(|it| it.metadata.deletion_timestamp.is_none()) else {
        return Ok(Action::await_change());
    };
    let found = Found::read(&context.client, cluster).await?;
    let hands = Hands {
        cluster,
        context,
        objects: Objects::of(cluster),
    };
    let foundation = match hands.apply_foundation(&found).await {
        // Members run on without it, and everything else goes on.
        Err(error @ Error::CaLost(_)) => Err(error),
        result => Ok(result?),
    };
    let incarnation = cluster.status.as_ref().and_then(|it| it.incarnation);
    let answers = Answers::ask(&hands.objects, &found, incarnation.unwrap_or_default()).await;
    let (restores, backups) = (context.restores.list(), context.backups.list());
    let requested = observe::requested(cluster, &restores, &backups);
    let observed = observe(cluster, &found, &answers, requested);
    let facts = status::facts(cluster, &observed, &answers);
    if cluster.status.as_ref().is_some_and(|it| *it != facts) {
        fault::before_write();
        operator_runtime::status::patch(&api, cluster, &facts).await?;
        return Ok(Action::requeue(AFTER_STEP));
    }
    let mut step = plan::next(&observed);
    let mut result = hands.take(&step, &observed, &found).await;
    if let Err(Error::NotYet(reason)) = result {
        step = Step::Wait(Waiting::For(reason));
        result = Ok(());
    }
    if result.is_ok() {
        publish(cluster, context, &step).await;
    }
    let result = result.and(foundation);
    let wanted = status::wanted(cluster, &observed, &answers, &step, result.is_err());
    if cluster.status.as_ref() != Some(&wanted) {
        fault::before_write();
    }
    operator_runtime::status::patch(&api, cluster, &wanted).await?;
    result?;
    Ok(Action::requeue(match step {
        Step::Done => WHEN_DONE,
        Step::Wait(_) => WHILE_WAITING,
        _ => AFTER_STEP,
    }))
}

/// Publishes an event about a step that somebody on call would want to know. An event that is lost is no
/// reason to stop.
async fn publish(cluster: &EtcdCluster, context: &Context, step: &Step) {
    let Some((reason, note)) = status::event(cluster, step) else {
        return;
    };
    tracing::info!(reason, note);
    context.metrics.step(reason);
    let type_ = if status::is_warning(step) {
        EventType::Warning
    } else {
        EventType::Normal
    };
    let event = Event {
        type_,
        reason: reason.to_owned(),
        note: Some(note),
        action: reason.to_owned(),
        secondary: None,
    };
    let about = cluster.object_ref(&());
    if let Err(error) = context.recorder.publish(&event, &about).await {
        tracing::warn!(%error, "cannot publish an event");
    }
}
