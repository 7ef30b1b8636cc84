use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::runtime::reflector::ObjectRef;
use kube::{Api, ResourceExt};
use operator_runtime::{Action, Controller, ReadyCondition, Watch, conditions, status};

use super::etcd_cluster;
use crate::api::etcd::etcd_backup::EtcdBackup;
use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::api::etcd::etcd_restore::{EtcdRestore, EtcdRestoreStatus};
use crate::cluster::is_newer;
use crate::{Context, fault};

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "etcd-etcdrestore";

/// The condition that reports readiness: `True` when the cluster was ready with the data of the snapshot.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
///
/// The controller of the cluster does the work. This one finds the snapshot, and reports.
pub fn controller() -> Controller<EtcdRestore, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .watches_with::<EtcdCluster>(Watch::new(), |cluster: &EtcdCluster, context: &Context| {
            restores(context, cluster.namespace(), |restore| {
                restore.spec.cluster == cluster.name_any()
            })
        })
        .watches_with::<EtcdBackup>(Watch::new(), |backup: &EtcdBackup, context: &Context| {
            restores(context, backup.namespace(), |restore| {
                restore.spec.backup == backup.name_any()
            })
        })
}

fn restores(
    context: &Context,
    namespace: Option<String>,
    concerns: impl Fn(&EtcdRestore) -> bool,
) -> Vec<ObjectRef<EtcdRestore>> {
    let all = context.restores.list().into_iter();
    let found = all.filter(|restore| restore.namespace() == namespace && concerns(restore));
    found
        .map(|restore| ObjectRef::from_obj(&*restore))
        .collect()
}

/// Drives the restore toward its end. Runs after every change, so it must be idempotent.
async fn reconcile(restore: Arc<EtcdRestore>, context: Arc<Context>) -> kube::Result<Action> {
    let is_complete = restore
        .status
        .as_ref()
        .is_some_and(|it| it.completion_time.is_some());
    // A restore happens once, whatever becomes of the cluster afterwards.
    if restore.metadata.deletion_timestamp.is_some() || is_complete {
        return Ok(Action::await_change());
    }
    let namespace = restore.namespace().unwrap_or_default();
    let api = Api::namespaced(context.client.clone(), &namespace);
    let cluster = context
        .clusters
        .get(Some(&namespace), &restore.spec.cluster);
    let backup = context.backups.get(Some(&namespace), &restore.spec.backup);
    let wanted = wanted_status(
        &restore,
        cluster.as_deref(),
        backup.as_deref(),
        Timestamp::now(),
    );
    if restore.status.as_ref() != Some(&wanted) {
        fault::before_write();
    }
    status::patch(&api, &*restore, &wanted).await?;
    Ok(Action::await_change())
}

/// The status that `restore` should have.
fn wanted_status(
    restore: &EtcdRestore,
    cluster: Option<&EtcdCluster>,
    backup: Option<&EtcdBackup>,
    now: Timestamp,
) -> EtcdRestoreStatus {
    let mut status = restore.status.clone().unwrap_or_default();
    status.observed_generation = restore.metadata.generation;
    let snapshots = backup
        .and_then(|backup| backup.status.as_ref())
        .map(|it| &it.snapshots);
    let cluster_status = cluster.and_then(|cluster| cluster.status.as_ref());
    let is_ours =
        cluster_status.is_some_and(|it| it.restore.is_some() && it.restore == restore.uid());
    let is_superseded = cluster.is_some_and(|it| !is_ours && !is_newer(restore, it));
    // A restore may wait for weeks, while snapshots come and go. Once it has begun, it stays with one.
    if !is_ours || status.snapshot.is_none() {
        let chosen = snapshots.and_then(|all| match &restore.spec.snapshot {
            Some(name) => all.iter().find(|snapshot| snapshot.name == *name),
            None => all.last(),
        });
        status.snapshot = chosen.map(|snapshot| snapshot.name.clone());
    }
    let has = |type_: &str| {
        let conditions = cluster_status.iter().flat_map(|it| &it.conditions);
        conditions
            .into_iter()
            .any(|it| it.type_ == type_ && it.status == "True")
    };
    let (reason, message) = match (&status.snapshot, cluster) {
        (_, None) => ("ClusterNotFound", "there is no such EtcdCluster yet"),
        _ if is_superseded => {
            status.completion_time = Some(Time(now));
            (
                "Superseded",
                "a newer EtcdRestore of the cluster has begun: this one never will",
            )
        }
        (None, _) => ("SnapshotNotFound", "the EtcdBackup has no such snapshot"),
        (Some(_), Some(_)) if is_ours && has(etcd_cluster::READY.type_()) => {
            status.completion_time = Some(Time(now));
            (
                "Restored",
                "the cluster was ready with the data of the snapshot",
            )
        }
        (Some(_), Some(_)) if is_ours => ("Restoring", "the cluster starts from the snapshot"),
        (Some(_), Some(_)) if has("Available") && !restore.spec.overwrite => (
            "ClusterAlive",
            "the cluster serves its clients: the restore waits, unless `spec.overwrite` is true",
        ),
        _ => (
            "Pending",
            "the restore begins when the cluster has lost its majority",
        ),
    };
    let is_ready = reason == "Restored";
    conditions::set(
        &mut status.conditions,
        READY.of(restore, is_ready, reason, message),
    );
    status
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::object;

    fn reason(restore: &Value, cluster: Option<Value>, snapshots: &[&str]) -> (String, bool) {
        let restore: EtcdRestore = object(restore.clone());
        let cluster: Option<EtcdCluster> = cluster.map(|status| {
            object(json!({
                "metadata": { "name": "c" },
                "spec": { "version": "3.6.16", "storage": {} },
                "status": status,
            }))
        });
        let snapshots: Vec<_> = snapshots
            .iter()
            .map(|name| json!({ "name": name, "clusterId": "c", "time": "2030-01-01T00:00:00Z", "revision": 1, "size": 1, "sha256": "" }))
            .collect();
        let backup: EtcdBackup = object(json!({
            "metadata": { "name": "b" },
            "spec": { "cluster": "c", "destination": { "claim": "s" } },
            "status": { "snapshots": snapshots },
        }));
        let status = wanted_status(
            &restore,
            cluster.as_ref(),
            Some(&backup),
            Timestamp::UNIX_EPOCH,
        );
        let reason = status.conditions[0].reason.clone();
        (reason, status.completion_time.is_some())
    }

    #[test]
    fn a_restore_waits_for_what_it_needs_and_ends_with_the_cluster() {
        let restore = |spec: Value| {
            json!({
                "metadata": {
                    "name": "r", "uid": "r", "creationTimestamp": "2030-01-01T00:00:00Z",
                },
                "spec": spec,
            })
        };
        let plain = restore(json!({ "cluster": "c", "backup": "b" }));
        let named = restore(json!({ "cluster": "c", "backup": "b", "snapshot": "1.db" }));
        let condition = |type_: &str| {
            json!({ "type": type_, "status": "True", "reason": "", "message": "",
                "lastTransitionTime": "2030-01-01T00:00:00Z" })
        };
        let alive = json!({ "conditions": [condition("Available"), condition("Ready")] });
        let ours = json!({ "restore": "r", "conditions": [] });
        let newer = json!({ "restore": "s", "restoreTime": "2030-01-01T00:00:00Z" });
        let done = json!({ "restore": "r", "conditions": [condition("Ready")] });
        for (restore, cluster, snapshots, expected) in [
            (&plain, None, &["1.db"] as &[_], ("ClusterNotFound", false)),
            (&plain, Some(json!({})), &[], ("SnapshotNotFound", false)),
            (
                &named,
                Some(json!({})),
                &["2.db"],
                ("SnapshotNotFound", false),
            ),
            (&plain, Some(alive), &["1.db"], ("ClusterAlive", false)),
            (&plain, Some(json!({})), &["1.db"], ("Pending", false)),
            (&plain, Some(newer), &["1.db"], ("Superseded", true)),
            (&named, Some(ours), &["1.db", "2.db"], ("Restoring", false)),
            (&named, Some(done), &["1.db"], ("Restored", true)),
        ] {
            let (reason, complete) = reason(restore, cluster, snapshots);
            assert_eq!((reason.as_str(), complete), expected);
        }
    }
}
