use std::sync::Arc;

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt;
use kube::runtime::reflector::ObjectRef;
use operator_runtime::{Action, Controller, ReadyCondition, Verb, Watch};

use crate::Context;
use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::api::etcd::etcd_restore::EtcdRestore;
use crate::cluster::{self, CLUSTER};

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "etcd-etcdcluster";

/// The condition that reports readiness: `True` when the cluster is as its spec asks, and serves clients.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
pub fn controller() -> Controller<EtcdCluster, Context> {
    let own = || Watch::new().labels(CLUSTER);
    Controller::new(NAME, reconcile)
        .condition(READY)
        // Pods and disks are replaced one by one.
        .owns_with::<Pod>(own())
        .needs::<Pod>(&[Verb::Delete])
        .owns_with::<PersistentVolumeClaim>(own())
        .needs::<PersistentVolumeClaim>(&[Verb::Delete])
        .owns_with::<Secret>(own())
        .needs::<Secret>(&[Verb::Delete])
        .owns_with::<Service>(own())
        .owns_with::<PodDisruptionBudget>(own())
        .watches::<EtcdRestore>(restored)
        // A cluster that waits for a member that hangs must not hold up the others.
        .concurrency(8)
}

/// Drives the cluster toward `cluster.spec`. Runs after every change, so it must be idempotent.
async fn reconcile(cluster: Arc<EtcdCluster>, context: Arc<Context>) -> cluster::Result<Action> {
    cluster::reconcile(&cluster, &context).await
}

/// The cluster that a restore is for.
fn restored(restore: &EtcdRestore) -> Vec<ObjectRef<EtcdCluster>> {
    let namespace = restore.namespace().unwrap_or_default();
    vec![ObjectRef::new(&restore.spec.cluster).within(&namespace)]
}
