use std::sync::Arc;
use std::time::Duration;

use croner::Cron;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::tz::TimeZone;
use kube::api::{DeleteParams, ListParams};
use kube::runtime::reflector::ObjectRef;
use kube::{Api, ResourceExt};
use operator_runtime::{
    Action, Controller, ReadyCondition, ReconcileError, Verb, Watch, conditions, status,
};
use serde_json::json;

use crate::api::etcd::etcd_backup::{EtcdBackup, EtcdBackupStatus};
use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::cluster::{Objects, container_security, object, pod_security};
use crate::snapshot::{Location, Report};
use crate::{Context, fault};

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "etcd-etcdbackup";

/// The condition that reports readiness: `True` when no snapshot is overdue, and none is being taken.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// The label with the name of the EtcdBackup.
const BACKUP: &str = "etcd.example.com/backup";

/// The annotation with the time at which the snapshot was due.
const DUE: &str = "etcd.example.com/due";

/// Pods also reconcile when they change.
const WHILE_RUNNING: Duration = Duration::from_secs(30);

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
pub fn controller() -> Controller<EtcdBackup, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .owns_with::<Pod>(Watch::new().labels(BACKUP))
        .needs::<Pod>(&[Verb::Delete])
        .watches_with::<EtcdCluster>(Watch::new(), backups_of)
}

/// The errors of `reconcile`. A failed reconcile is retried with exponential back-off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
    #[error("cannot find out which image takes the snapshot")]
    Image(#[source] anyhow::Error),
    #[error("`spec.schedule` is not a cron schedule: {0}")]
    Schedule(String),
    #[error("the snapshot failed: {0}")]
    Snapshot(String),
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(_) => "ApiCallFailed",
            Self::Image(_) => "ImageUnknown",
            Self::Schedule(_) => "ScheduleInvalid",
            Self::Snapshot(_) => "SnapshotFailed",
        }
    }
}

/// Takes the snapshots that `backup.spec` asks for. Runs after every change, so it must be idempotent.
async fn reconcile(backup: Arc<EtcdBackup>, context: Arc<Context>) -> Result<Action, Error> {
    // The object and its owned objects are being deleted: do not create new ones.
    if backup.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let namespace = backup.namespace().unwrap_or_default();
    let api = Api::namespaced(context.client.clone(), &namespace);
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), &namespace);
    let selector = format!("{BACKUP}={}", backup.name_any());
    let found = pods.list(&ListParams::default().labels(&selector)).await?;
    let now = Timestamp::now();

    let mut wanted = backup.status.clone().unwrap_or_default();
    wanted.observed_generation = backup.metadata.generation;
    wanted.running = None;
    let mut failed = None;
    for pod in &found.items {
        match phase(pod) {
            "Succeeded" => match record(&mut wanted, pod) {
                Ok(()) => {}
                Err(error) => failed = Some(format!("its report cannot be read: {error}")),
            },
            "Failed" => failed = Some(message(pod)),
            _ => wanted.running = Some(pod.name_any()),
        }
    }
    let cluster = context.clusters.get(Some(&namespace), &backup.spec.cluster);
    let due = due(&backup, &wanted, now);
    let is_due = due.as_ref().is_ok_and(|due| due.missed.is_some());
    let (is_ready, reason, text) = match (&wanted.running, &cluster) {
        (Some(pod), _) => (false, "Running", format!("{pod} takes a snapshot")),
        (None, None) => (
            false,
            "ClusterNotFound",
            "there is no such EtcdCluster yet".to_owned(),
        ),
        (None, Some(_)) if is_due => (false, "Due", "a snapshot is about to start".to_owned()),
        _ if backup.spec.suspend => (true, "Suspended", String::new()),
        _ => (true, "UpToDate", String::new()),
    };
    conditions::set(
        &mut wanted.conditions,
        READY.of(&*backup, is_ready, reason, text),
    );
    // The report of a Pod is written down before the Pod goes.
    if backup.status.as_ref() != Some(&wanted) {
        fault::before_write();
    }
    let backup = status::patch(&api, &*backup, &wanted).await?;
    for pod in found
        .items
        .iter()
        .filter(|pod| matches!(phase(pod), "Succeeded" | "Failed"))
    {
        fault::before_write();
        delete(&pods, pod).await?;
        context.metrics.snapshot(phase(pod) == "Succeeded");
    }
    if let Some(message) = failed {
        return Err(Error::Snapshot(message));
    }
    let due = due?;
    if wanted.running.is_none()
        && let (Some(time), Some(cluster)) = (due.missed, cluster)
    {
        let image = context.image().await.map_err(Error::Image)?;
        fault::before_write();
        let pod = snapshot_pod(&backup, &cluster, time, image);
        context.applier.create_owned(&backup, pod).await?;
        return Ok(Action::requeue(WHILE_RUNNING));
    }
    Ok(due.next.map_or(Action::await_change(), |next| {
        let wait = next.duration_since(now).try_into();
        Action::requeue(wait.unwrap_or(WHILE_RUNNING))
    }))
}

/// Adds the snapshot that a Pod took, and forgets those that it removed.
fn record(status: &mut EtcdBackupStatus, pod: &Pod) -> serde_json::Result<()> {
    status.last_schedule_time = time_of(pod).max(status.last_schedule_time.take());
    let report: Report = serde_json::from_str(&message(pod))?;
    status
        .snapshots
        .retain(|old| report.kept.contains(&old.name) && old.name != report.taken.name);
    status.snapshots.push(report.taken);
    status.snapshots.sort_by_key(|snapshot| snapshot.time.0);
    Ok(())
}

/// When a snapshot should have been taken, and when the next one should be.
struct Due {
    missed: Option<Timestamp>,
    next: Option<Timestamp>,
}

/// After several missed runs, only one snapshot is taken: the others would hold the same data.
fn due(backup: &EtcdBackup, status: &EtcdBackupStatus, now: Timestamp) -> Result<Due, Error> {
    let created = backup.creation_timestamp().map_or(now, |time| time.0);
    let last = status.last_schedule_time.as_ref().map(|time| time.0);
    // A clock that was ahead must not put off all runs until then.
    let last = last.map(|time| time.min(now));
    let Some(schedule) = &backup.spec.schedule else {
        let missed = last.is_none().then_some(created);
        return Ok(Due { missed, next: None });
    };
    let invalid = |error: croner::errors::CronError| Error::Schedule(error.to_string());
    let cron: Cron = schedule.parse().map_err(invalid)?;
    let zoned = now.to_zoned(TimeZone::UTC);
    let next = cron.find_next_occurrence(&zoned, false).map_err(invalid)?;
    let previous = cron
        .find_previous_occurrence(&zoned, true)
        .map_err(invalid)?;
    let previous = previous.timestamp();
    let is_missed = previous > last.unwrap_or(created) && !backup.spec.suspend;
    Ok(Due {
        missed: is_missed.then_some(previous),
        next: Some(next.timestamp()),
    })
}

/// The Pod that takes the snapshot that is due at `time`. Its name follows from the time, so that a repeated
/// reconcile creates no second one.
fn snapshot_pod(backup: &EtcdBackup, cluster: &EtcdCluster, time: Timestamp, image: &str) -> Pod {
    let objects = Objects::of(cluster);
    let name = backup.name_any();
    let location = Location::of(backup);
    let mut mounts = location.mounts(false);
    mounts.push(json!({ "name": "tls", "mountPath": "/etc/etcd/tls", "readOnly": true }));
    let mut volumes = location.volumes();
    let tls = json!({ "secretName": objects.client(), "defaultMode": 0o440 });
    volumes.push(json!({ "name": "tls", "secret": tls }));
    object(json!({
        "metadata": {
            "name": format!("{name}-{}", time.as_second()),
            "labels": {
                "app.kubernetes.io/name": "etcd-backup",
                "app.kubernetes.io/managed-by": "etcd-operator",
                BACKUP: name,
            },
            "annotations": { DUE: time.to_string() },
        },
        "spec": {
            "restartPolicy": "Never",
            // One that hangs must not hold up the next ones.
            "activeDeadlineSeconds": 3600,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "securityContext": pod_security(),
            "containers": [{
                "name": "snapshot",
                "image": image,
                "args": [
                    "snapshot",
                    "save",
                    location.argument(),
                    format!("--host={}", objects.service_host()),
                    "--tls=/etc/etcd/tls",
                    format!("--name={}.db", time.strftime("%Y%m%dT%H%M%SZ")),
                    format!("--keep={}", backup.spec.keep),
                ],
                "env": location.environment(),
                "securityContext": container_security(),
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "volumeMounts": mounts,
            }],
            "volumes": volumes,
        },
    }))
}

async fn delete(pods: &Api<Pod>, pod: &Pod) -> kube::Result<()> {
    match pods
        .delete(&pod.name_any(), &DeleteParams::background())
        .await
    {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => result.map(|_| ()),
    }
}

fn phase(pod: &Pod) -> &str {
    let status = pod.status.as_ref();
    status
        .and_then(|status| status.phase.as_deref())
        .unwrap_or_default()
}

/// What the container of a Pod wrote when it ended.
fn message(pod: &Pod) -> String {
    let statuses = pod
        .status
        .iter()
        .flat_map(|status| status.container_statuses.iter().flatten());
    let mut ends = statuses.filter_map(|status| status.state.as_ref()?.terminated.as_ref());
    ends.find_map(|end| end.message.clone()).unwrap_or_default()
}

fn time_of(pod: &Pod) -> Option<Time> {
    let text = pod.annotations().get(DUE)?;
    text.parse().ok().map(Time)
}

/// The backups of a cluster, which may have waited for it.
fn backups_of(cluster: &EtcdCluster, context: &Context) -> Vec<ObjectRef<EtcdBackup>> {
    let all = context.backups.list().into_iter();
    let of_cluster = all.filter(|backup| {
        backup.namespace() == cluster.namespace() && backup.spec.cluster == cluster.name_any()
    });
    of_cluster
        .map(|backup| ObjectRef::from_obj(&*backup))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        format!("2030-01-01T{text}Z").parse().unwrap()
    }

    fn backup(schedule: Option<&str>) -> EtcdBackup {
        object(json!({
            "metadata": {
                "name": "b", "namespace": "ns", "creationTimestamp": "2030-01-01T08:30:00Z",
            },
            "spec": {
                "cluster": "c", "destination": { "claim": "snapshots" }, "schedule": schedule,
            },
        }))
    }

    fn missed(backup: &EtcdBackup, last: Option<&str>, now: &str) -> Option<Timestamp> {
        let status = EtcdBackupStatus {
            last_schedule_time: last.map(|text| Time(time(text))),
            ..EtcdBackupStatus::default()
        };
        due(backup, &status, time(now)).unwrap().missed
    }

    #[test]
    fn without_a_schedule_it_is_taken_once() {
        let backup = backup(None);
        let created = Some(time("08:30:00"));
        assert_eq!(missed(&backup, None, "08:30:01"), created);
        assert_eq!(missed(&backup, Some("08:30:00"), "09:00:00"), None);
    }

    #[test]
    fn of_several_missed_runs_the_last_is_made_up_for() {
        let mut backup = backup(Some("0 * * * *"));
        assert_eq!(missed(&backup, None, "08:59:59"), None);
        assert_eq!(missed(&backup, None, "09:00:00"), Some(time("09:00:00")));
        assert_eq!(missed(&backup, None, "12:10:00"), Some(time("12:00:00")));
        assert_eq!(missed(&backup, Some("12:00:00"), "12:10:00"), None);
        backup.spec.suspend = true;
        assert_eq!(missed(&backup, None, "12:10:00"), None);
        backup.spec.schedule = Some("now and then".to_owned());
        assert!(due(&backup, &EtcdBackupStatus::default(), time("09:00:00")).is_err());
    }

    #[test]
    fn the_report_of_a_pod_becomes_the_status() {
        let report = json!({
            "taken": {
                "name": "3.db", "time": "2030-01-01T03:00:00Z", "clusterId": "c", "revision": 3,
                "size": 1, "sha256": "x",
            },
            "kept": ["2.db", "3.db"],
        });
        let pod: Pod = object(json!({
            "metadata": { "name": "b-3", "annotations": { DUE: "2030-01-01T03:00:00Z" } },
            "status": { "phase": "Succeeded", "containerStatuses": [{
                "name": "snapshot", "image": "", "imageID": "", "ready": false, "restartCount": 0,
                "state": { "terminated": { "exitCode": 0, "message": report.to_string() } },
            }] },
        }));
        let mut status = EtcdBackupStatus::default();
        for second in [1, 2] {
            status
                .snapshots
                .push(crate::api::etcd::etcd_backup::Snapshot {
                    name: format!("{second}.db"),
                    time: Time(Timestamp::from_second(second).unwrap()),
                    ..Default::default()
                });
        }
        for _ in 0..2 {
            record(&mut status, &pod).unwrap();
            let names: Vec<_> = status.snapshots.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, ["2.db", "3.db"]);
            assert_eq!(status.last_schedule_time, Some(Time(time("03:00:00"))));
        }
    }
}
