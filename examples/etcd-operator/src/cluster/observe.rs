//! What the cluster is now: its Pods, disks and Secrets from the API server, its members from etcd.
//!
//! Nothing of it comes from a cache. The decisions are about data, and a Pod or a disk that the cache still
//! shows, or does not show yet, would be a reason for the wrong one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use futures::future::join_all;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use kube_quantity::ParsedQuantity;

use super::certificates::credentials;
use super::objects::{
    GUARD, INCARNATION, INITIAL_CLUSTER, Objects, ROLE, SnapshotSource, TEMPLATE, VOTER,
};
use super::plan::{self, Disk, Member, Observed, Requested, Restorer, Threshold, Version};
use crate::api::etcd::v1alpha1::etcd_backup::EtcdBackup;
use crate::api::etcd::v1alpha1::etcd_cluster::EtcdCluster;
use crate::api::etcd::v1alpha1::etcd_restore::EtcdRestore;
use crate::etcd::{self, Credentials, Etcd, Id};
use crate::snapshot::Location;

/// What etcd prints before it ends because its disk is empty, and [`GUARD`] is its initial cluster.
const EMPTY_DISK: &str = "couldn't find local name";

/// The objects of one cluster, as the API server has them.
pub struct Found {
    pub pods: Vec<Pod>,
    pub disks: Vec<PersistentVolumeClaim>,
    pub secrets: Vec<Secret>,
}

impl Found {
    pub async fn read(client: &Client, cluster: &EtcdCluster) -> kube::Result<Self> {
        let namespace = cluster.namespace().unwrap_or_default();
        let params = ListParams::default().labels(&Objects::of(cluster).selector());
        let pods = Api::<Pod>::namespaced(client.clone(), &namespace);
        let disks = Api::<PersistentVolumeClaim>::namespaced(client.clone(), &namespace);
        let secrets = Api::<Secret>::namespaced(client.clone(), &namespace);
        Ok(Self {
            pods: pods.list(&params).await?.items,
            disks: disks.list(&params).await?.items,
            secrets: secrets.list(&params).await?.items,
        })
    }

    pub fn pod(&self, name: &str) -> Option<&Pod> {
        self.pods.iter().find(|pod| pod.name_any() == name)
    }

    pub fn disk(&self, name: &str) -> Option<&PersistentVolumeClaim> {
        self.disks.iter().find(|disk| disk.name_any() == name)
    }

    pub fn secret(&self, name: &str) -> Option<&Secret> {
        self.secrets.iter().find(|secret| secret.name_any() == name)
    }

    /// The credentials of a client, once their Secret exists.
    pub fn credentials(&self, objects: &Objects<'_>) -> Option<Credentials> {
        self.secret(&objects.client()).and_then(credentials)
    }
}

/// What a majority of the members says about the cluster, and each member about itself.
#[derive(Default)]
pub struct Answers {
    /// `None` if no majority answered.
    pub list: Option<etcd::MemberList>,
    pub statuses: BTreeMap<String, etcd::Status>,
    pub alarms: Vec<etcd::Alarm>,
    /// Whether the Service leads to a member that reads through a majority.
    pub available: bool,
}

impl Answers {
    /// Asks every member of this incarnation that has an address.
    pub async fn ask(objects: &Objects<'_>, found: &Found, incarnation: i32) -> Self {
        let Some(credentials) = found.credentials(objects) else {
            return Self::default();
        };
        let members = found.pods.iter().filter(|pod| {
            is_member(pod) && self::incarnation(*pod) == incarnation && !is_terminating(*pod)
        });
        let answers = join_all(members.map(async |pod| {
            let name = pod.name_any();
            let etcd = client(objects, pod, &credentials)?;
            let (status, list) = futures::join!(etcd.status(), etcd.members());
            Some((name, status.ok()?, list.ok()))
        }));
        let service = async {
            Etcd::new(&objects.service_host(), None, &credentials)?
                .read()
                .await
        };
        let (answers, service) = futures::join!(answers, service);
        let mut all = Self {
            available: service.is_ok(),
            ..Self::default()
        };
        for (name, status, list) in answers.into_iter().flatten() {
            all.statuses.insert(name, status);
            all.list = all.list.or(list);
        }
        if all.list.is_some() {
            let pod = found
                .pods
                .iter()
                .find(|pod| all.statuses.contains_key(&pod.name_any()));
            if let Some(etcd) = pod.and_then(|pod| client(objects, pod, &credentials)) {
                all.alarms = etcd.alarms().await.unwrap_or_default();
            }
        }
        all
    }
}

/// A client of the member that runs in a Pod with an address.
pub fn client(objects: &Objects<'_>, pod: &Pod, credentials: &Credentials) -> Option<Etcd> {
    let address: IpAddr = pod.status.as_ref()?.pod_ip.as_ref()?.parse().ok()?;
    Etcd::new(&objects.host(&pod.name_any()), Some(address), credentials).ok()
}

/// Brings together what the API server and etcd say.
pub fn observe(
    cluster: &EtcdCluster,
    found: &Found,
    answers: &Answers,
    requested: Option<Requested>,
) -> Observed {
    let objects = Objects::of(cluster);
    let status = cluster.status.clone().unwrap_or_default();
    let version: Version = cluster.spec.version.parse().unwrap_or_default();
    let template = objects.template(version);
    let mut observed = Observed {
        cluster: cluster.name_any(),
        size: usize::try_from(cluster.spec.size).unwrap_or_default(),
        version,
        recorded: status.version.as_deref().and_then(|text| text.parse().ok()),
        founded: status.cluster_id.is_some(),
        incarnation: status.incarnation.unwrap_or_default(),
        requested,
        quorum: answers.list.is_some(),
        leader: leader(answers),
        revision: answers.statuses.values().map(|it| it.header.revision).max(),
        defragmentation: cluster.spec.defragmentation.as_ref().map(|it| Threshold {
            percent: u64::try_from(it.threshold).unwrap_or_default(),
            minimum: bytes(&it.minimum_size),
        }),
        ..Observed::default()
    };
    observed.members = match &answers.list {
        Some(list) => list.members.iter().map(member).collect(),
        None => status.members.iter().map(recorded).collect(),
    };
    observed
        .members
        .sort_by_key(|member| plan::ordinal(&member.name));
    for pod in &found.pods {
        if is_member(pod) {
            let answer = answers.statuses.get(&pod.name_any());
            let instance = observed.instances.entry(pod.name_any()).or_default();
            instance.pod = Some(self::pod(pod, answer, &template));
        } else if pod.name_any() == objects.restorer() {
            observed.restorer = Some(restorer(pod, observed.incarnation));
        }
    }
    for disk in &found.disks {
        let instance = observed.instances.entry(disk.name_any()).or_default();
        instance.disk = Some(Disk {
            incarnation: incarnation(disk),
            terminating: is_terminating(disk),
        });
    }
    observed
}

/// The restore that is asked for: the oldest that has found its snapshot and has not begun.
pub fn requested(cluster: &EtcdCluster, restores: &[Arc<EtcdRestore>]) -> Option<Requested> {
    let current = cluster.status.as_ref().and_then(|it| it.restore.as_deref());
    let waiting = restores.iter().filter(|restore| {
        let status = restore.status.as_ref();
        restore.spec.cluster == cluster.name_any()
            && restore.namespace() == cluster.namespace()
            && restore.metadata.deletion_timestamp.is_none()
            && status.is_some_and(|it| it.snapshot.is_some() && it.completion_time.is_none())
            && restore.uid().as_deref() != current
    });
    let oldest = waiting.min_by_key(|restore| restore.creation_timestamp())?;
    Some(Requested {
        uid: oldest.uid()?,
        overwrite: oldest.spec.overwrite,
    })
}

/// The snapshot of the restore that made this incarnation.
pub fn snapshot(
    cluster: &EtcdCluster,
    restores: &[Arc<EtcdRestore>],
    backups: &[Arc<EtcdBackup>],
) -> Option<SnapshotSource> {
    let uid = cluster.status.as_ref()?.restore.as_ref()?;
    let restore = restores
        .iter()
        .find(|restore| restore.uid().as_ref() == Some(uid))?;
    let backup = backups.iter().find(|backup| {
        backup.name_any() == restore.spec.backup && backup.namespace() == restore.namespace()
    })?;
    Some(SnapshotSource {
        location: Location::of(backup),
        name: restore.status.as_ref()?.snapshot.clone()?,
    })
}

fn member(member: &etcd::Member) -> Member {
    // A member that has not started has no name yet, but its URL begins with it.
    let host = member
        .peer_urls
        .first()
        .and_then(|url| url.strip_prefix("https://"));
    let name = host.and_then(|host| host.split('.').next());
    Member {
        name: name.unwrap_or(&member.name).to_owned(),
        id: member.id,
        learner: member.is_learner,
        started: !member.name.is_empty(),
    }
}

fn recorded(member: &crate::api::etcd::v1alpha1::etcd_cluster::Member) -> Member {
    Member {
        name: member.name.clone(),
        id: member.id.parse().unwrap_or_default(),
        learner: member.learner,
        started: true,
    }
}

fn leader(answers: &Answers) -> Option<Id> {
    answers.list.as_ref()?;
    let known = answers
        .statuses
        .values()
        .filter(|status| status.leader != Id(0));
    Some(known.max_by_key(|status| status.term)?.leader)
}

fn pod(pod: &Pod, answer: Option<&etcd::Status>, template: &str) -> plan::Pod {
    let annotation = |key: &str| pod.annotations().get(key).map(String::as_str);
    let is_voter = pod.labels().contains_key(VOTER);
    plan::Pod {
        incarnation: incarnation(pod),
        terminating: is_terminating(pod),
        ready: is_ready(pod) && answer.is_some(),
        disk_lost: has_empty_disk(pod),
        outdated: annotation(TEMPLATE) != Some(template),
        guarded: annotation(INITIAL_CLUSTER) == Some(GUARD),
        admitted: is_voter,
        version: answer.and_then(|status| status.version.parse().ok()),
        database: answer.map_or((0, 0), |status| (status.size, status.size_in_use)),
    }
}

fn restorer(pod: &Pod, current: i32) -> Restorer {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    match phase {
        _ if is_terminating(pod) || incarnation(pod) < current => Restorer::Leaving,
        Some("Succeeded") => Restorer::Succeeded,
        Some("Failed") => Restorer::Failed,
        _ => Restorer::Running,
    }
}

fn is_member(pod: &Pod) -> bool {
    pod.labels().get(ROLE).is_some_and(|role| role == "member")
}

fn is_terminating(object: &impl ResourceExt) -> bool {
    object.meta().deletion_timestamp.is_some()
}

fn incarnation(object: &impl ResourceExt) -> i32 {
    let label = object.labels().get(INCARNATION);
    label.and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod
        .status
        .iter()
        .flat_map(|it| it.conditions.iter().flatten());
    conditions
        .into_iter()
        .any(|it| it.type_ == "Ready" && it.status == "True")
}

/// Whether the container found an empty disk when it last ran, and has not passed its startup probe since.
fn has_empty_disk(pod: &Pod) -> bool {
    let statuses = pod
        .status
        .iter()
        .flat_map(|it| it.container_statuses.iter().flatten());
    statuses.into_iter().any(|status| {
        let state = status.state.clone().unwrap_or_default();
        let last = status.last_state.clone().unwrap_or_default();
        let end = state.terminated.or(last.terminated);
        let message = end.and_then(|end| end.message).unwrap_or_default();
        status.started != Some(true) && message.contains(EMPTY_DISK)
    })
}

/// The number of bytes that a quantity such as `100Mi` is.
fn bytes(quantity: &Quantity) -> u64 {
    let parsed = ParsedQuantity::try_from(quantity).ok();
    // `to_bytes_u64` takes 1.5Gi for 1Gi.
    parsed.and_then(|it| it.to_bytes_f64()).unwrap_or_default() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::objects::object;
    use super::*;

    #[test]
    fn quantities_are_bytes() {
        for (text, expected) in [
            ("100Mi", 100 << 20),
            ("1.5Gi", 3 << 29),
            ("2G", 2_000_000_000),
            ("512", 512),
        ] {
            assert_eq!(bytes(&Quantity(text.to_owned())), expected, "{text}");
        }
    }

    #[test]
    fn a_disk_is_lost_until_its_member_starts() {
        let message = "couldn't find local name \"c-0\" in the initial cluster configuration";
        let ended = json!({ "terminated": { "exitCode": 1, "message": message } });
        let running = json!({ "running": {} });
        let waiting = json!({ "waiting": { "reason": "CrashLoopBackOff" } });
        let other = json!({ "terminated": { "exitCode": 1, "message": "killed" } });
        for (state, last, started, expected) in [
            (&ended, &json!({}), false, true),
            (&waiting, &ended, false, true),
            (&running, &ended, false, true),
            (&running, &ended, true, false),
            (&other, &ended, false, false),
            (&waiting, &other, false, false),
        ] {
            let pod = object(json!({
                "metadata": { "name": "c-0" },
                "status": { "containerStatuses": [{
                    "name": "etcd", "image": "", "imageID": "", "ready": false, "restartCount": 1,
                    "started": started, "state": state, "lastState": last,
                }] },
            }));
            assert_eq!(has_empty_disk(&pod), expected, "{state} {last}");
        }
    }

    #[test]
    fn a_restore_is_asked_for_once_its_snapshot_is_known() {
        let cluster: EtcdCluster = object(json!({
            "metadata": { "name": "c", "namespace": "ns" },
            "spec": { "version": "3.6.16", "storage": {} },
            "status": { "restore": "first", "incarnation": 1 },
        }));
        let restore = |uid: &str, cluster: &str, snapshot: Option<&str>| {
            Arc::new(object::<EtcdRestore>(json!({
                "metadata": {
                    "name": uid, "namespace": "ns", "uid": uid,
                    "creationTimestamp": "2030-01-01T00:00:00Z",
                },
                "spec": { "cluster": cluster, "backup": "b" },
                "status": { "snapshot": snapshot },
            })))
        };
        let uid = |all: &[Arc<EtcdRestore>]| requested(&cluster, all).map(|it| it.uid);
        assert_eq!(uid(&[restore("second", "c", None)]), None);
        assert_eq!(uid(&[restore("second", "other", Some("s.db"))]), None);
        let first = restore("first", "c", Some("s.db"));
        assert_eq!(uid(std::slice::from_ref(&first)), None);
        let second = restore("second", "c", Some("t.db"));
        assert_eq!(uid(&[first.clone(), second]), Some("second".to_owned()));

        let backup = object::<EtcdBackup>(json!({
            "metadata": { "name": "b", "namespace": "ns" },
            "spec": { "cluster": "c", "destination": { "claim": "snapshots" } },
        }));
        let source = snapshot(&cluster, &[first], &[Arc::new(backup)]).unwrap();
        assert_eq!(source.name, "s.db");
        assert_eq!(source.location.argument(), "--archive=file:///archive/b");
    }
}
