//! What the cluster is now: its Pods, disks and Secrets from the API server, its members from etcd.
//!
//! The cluster and its objects are read from the API server, not from a cache. The decisions are about data, and a
//! Pod or a disk that the cache still shows, or does not show yet, would be a reason for the wrong one. Restores and
//! backups come from the cache: whether they are seen now or a moment later makes no difference.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use futures::future::join_all;
use k8s_openapi::api::core::v1::{ContainerStatus, PersistentVolumeClaim, Pod, Secret};
use kube::api::ListParams;
use kube::core::ObjectList;
use kube::{Api, Client, ResourceExt};

use super::certificates::credentials;
use super::objects::{
    GUARD, INCARNATION, INITIAL_CLUSTER, MEMBER, Objects, RESTORE, ROLE, SnapshotSource, TEMPLATE,
    VERSION, VOTER, bytes,
};
use super::plan::{
    self, Disk, Member, Observed, Requested, Restorer, RestorerState, Threshold, Version,
};
use crate::api::etcd::etcd_backup::EtcdBackup;
use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::api::etcd::etcd_restore::EtcdRestore;
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
        let (pods, disks, secrets) = futures::try_join!(
            pods.list(&params),
            disks.list(&params),
            secrets.list(&params)
        )?;
        Ok(Self {
            pods: owned(cluster, pods),
            disks: owned(cluster, disks),
            secrets: owned(cluster, secrets),
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

/// Without what is left of an earlier cluster with the same name.
fn owned<K: Clone + ResourceExt>(cluster: &EtcdCluster, found: ObjectList<K>) -> Vec<K> {
    let is_owned = |object: &K| {
        let mut owners = object.owner_references().iter();
        owners.any(|owner| Some(&owner.uid) == cluster.metadata.uid.as_ref())
    };
    found.items.into_iter().filter(is_owned).collect()
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
            // A learner does not know them.
            let is_voter = |pod: &&Pod| {
                let status = all.statuses.get(&pod.name_any());
                status.is_some_and(|status| !status.is_learner)
            };
            let pod = found.pods.iter().find(is_voter);
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
    requested: Vec<Requested>,
) -> Observed {
    let objects = Objects::of(cluster);
    let status = cluster.status.clone().unwrap_or_default();
    let version: Version = cluster.spec.version.parse().unwrap_or_default();
    let template = objects.template();
    let first = status.first_member.clone();
    let mut observed = Observed {
        cluster: cluster.name_any(),
        size: usize::try_from(cluster.spec.size).unwrap_or_default(),
        version,
        recorded: status.version.as_deref().and_then(|text| text.parse().ok()),
        founded: status.cluster_id.is_some(),
        incarnation: status.incarnation.unwrap_or_default(),
        restore: status.restore.clone(),
        first: first.unwrap_or_else(|| format!("{}-0", cluster.name_any())),
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
    observed.corrupt = alarmed(&observed.members, answers, "CORRUPT");
    let initial_cluster = objects.initial_cluster(&observed.members);
    for pod in &found.pods {
        if is_member(pod) {
            let answer = answers.statuses.get(&pod.name_any());
            let instance = observed.instances.entry(pod.name_any()).or_default();
            instance.pod = Some(self::pod(pod, answer, &template, &initial_cluster));
        } else if pod.name_any() == objects.restorer() {
            observed.restorer = Some(restorer(pod, &template, version));
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

/// The restores that are asked for, newest first: those whose snapshot is there, and that are newer than the one that
/// began last.
pub fn requested(
    cluster: &EtcdCluster,
    restores: &[Arc<EtcdRestore>],
    backups: &[Arc<EtcdBackup>],
) -> Vec<Requested> {
    let waiting = restores.iter().filter(|restore| {
        let status = restore.status.as_ref();
        restore.spec.cluster == cluster.name_any()
            && restore.namespace() == cluster.namespace()
            && restore.metadata.deletion_timestamp.is_none()
            && status.is_some_and(|it| it.completion_time.is_none())
            && is_newer(restore, cluster)
            && source(restore, backups).is_some()
    });
    let mut waiting: Vec<_> = waiting.collect();
    waiting.sort_by_key(|restore| (restore.creation_timestamp(), restore.uid()));
    let requests = waiting.into_iter().rev().filter_map(|restore| {
        Some(Requested {
            name: restore.name_any(),
            uid: restore.uid()?,
            created: restore.creation_timestamp(),
            overwrite: restore.spec.overwrite,
        })
    });
    requests.collect()
}

/// Whether a restore was created after the one that the cluster began last. Each restore begins once, and never after
/// a newer one.
pub fn is_newer(restore: &EtcdRestore, cluster: &EtcdCluster) -> bool {
    let began = cluster.status.as_ref();
    let began = began.map(|it| (&it.restore_time, &it.restore));
    began.is_none_or(|began| (&restore.creation_timestamp(), &restore.uid()) > began)
}

/// The snapshot of the restore with this uid.
pub fn snapshot(
    uid: &str,
    restores: &[Arc<EtcdRestore>],
    backups: &[Arc<EtcdBackup>],
) -> Option<SnapshotSource> {
    let mut restores = restores.iter();
    let restore = restores.find(|restore| restore.uid().as_deref() == Some(uid))?;
    source(restore, backups)
}

/// The snapshot that a restore has chosen, if the backup still keeps it.
fn source(restore: &EtcdRestore, backups: &[Arc<EtcdBackup>]) -> Option<SnapshotSource> {
    let name = restore.status.as_ref()?.snapshot.as_ref()?;
    let backup = backups.iter().find(|backup| {
        backup.name_any() == restore.spec.backup && backup.namespace() == restore.namespace()
    })?;
    let mut kept = backup.status.iter().flat_map(|it| &it.snapshots);
    kept.any(|it| it.name == *name).then(|| SnapshotSource {
        location: Location::of(backup),
        name: name.clone(),
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

fn recorded(member: &crate::api::etcd::etcd_cluster::Member) -> Member {
    Member {
        name: member.name.clone(),
        id: member.id.parse().unwrap_or_default(),
        learner: member.learner,
        started: true,
    }
}

/// The names of the members that raised an alarm.
pub fn alarmed(members: &[Member], answers: &Answers, kind: &str) -> Vec<String> {
    let alarms = answers.alarms.iter().filter(|alarm| alarm.alarm == kind);
    let members = alarms.filter_map(|alarm| members.iter().find(|it| it.id == alarm.member));
    members.map(|member| member.name.clone()).collect()
}

fn leader(answers: &Answers) -> Option<Id> {
    answers.list.as_ref()?;
    let known = answers
        .statuses
        .values()
        .filter(|status| status.leader != Id(0));
    Some(known.max_by_key(|status| status.term)?.leader)
}

fn annotation<'a>(pod: &'a Pod, key: &str) -> Option<&'a str> {
    pod.annotations().get(key).map(String::as_str)
}

fn phase(pod: &Pod) -> &str {
    let phase = pod.status.as_ref().and_then(|it| it.phase.as_deref());
    phase.unwrap_or_default()
}

fn pod(
    pod: &Pod,
    answer: Option<&etcd::Status>,
    template: &str,
    initial_cluster: &str,
) -> plan::Pod {
    let is_voter = pod.labels().contains_key(VOTER);
    plan::Pod {
        incarnation: incarnation(pod),
        terminating: is_terminating(pod),
        ended: matches!(phase(pod), "Failed" | "Succeeded"),
        running: container_statuses(pod).any(is_running),
        ready: is_ready(pod) && answer.is_some(),
        disk_lost: has_empty_disk(pod),
        asked: asked(pod),
        changed: annotation(pod, TEMPLATE) != Some(template),
        guarded: annotation(pod, INITIAL_CLUSTER) == Some(GUARD),
        introduced: annotation(pod, INITIAL_CLUSTER) == Some(initial_cluster),
        admitted: is_voter,
        version: answer.and_then(|status| status.version.parse().ok()),
        database: answer.map_or((0, 0), |status| (status.size, status.size_in_use)),
    }
}

/// The version for which a Pod was made.
fn asked(pod: &Pod) -> Version {
    let version = annotation(pod, VERSION).and_then(|text| text.parse().ok());
    version.unwrap_or_default()
}

fn restorer(pod: &Pod, template: &str, version: Version) -> Restorer {
    let is_outdated = annotation(pod, TEMPLATE) != Some(template) || asked(pod) != version;
    let text = |key| annotation(pod, key).unwrap_or_default().to_owned();
    Restorer {
        state: match phase(pod) {
            _ if is_terminating(pod) => RestorerState::Terminating,
            "Succeeded" => RestorerState::Succeeded,
            "Failed" => RestorerState::Failed,
            _ if is_outdated => RestorerState::Failed,
            _ => RestorerState::Running,
        },
        incarnation: incarnation(pod),
        restore: text(RESTORE),
        member: text(MEMBER),
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

/// What the containers of a Pod said when they ended.
pub fn last_words(pod: &Pod) -> Vec<&str> {
    let init = pod.status.iter();
    let init = init.flat_map(|it| it.init_container_statuses.iter().flatten());
    let ends = init.chain(container_statuses(pod)).filter_map(|status| {
        let end = status.state.as_ref()?.terminated.as_ref()?;
        end.message.as_deref()
    });
    ends.collect()
}

fn container_statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let statuses = pod.status.iter();
    statuses.flat_map(|it| it.container_statuses.iter().flatten())
}

fn is_running(status: &ContainerStatus) -> bool {
    status.state.as_ref().is_some_and(|it| it.running.is_some())
}

/// Whether the container found an empty disk when it last ran, and has not passed its startup probe since.
fn has_empty_disk(pod: &Pod) -> bool {
    container_statuses(pod).any(|status| {
        let ends = [&status.state, &status.last_state].into_iter().flatten();
        let mut ends = ends.filter_map(|state| state.terminated.as_ref());
        let message = ends.next().and_then(|end| end.message.as_deref());
        status.started != Some(true) && message.is_some_and(|it| it.contains(EMPTY_DISK))
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use serde_json::{Value, json};

    use super::super::objects::object;
    use super::*;

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
    fn a_restore_is_asked_for_once_and_never_after_a_newer_one() {
        let cluster = |status: Value| -> EtcdCluster {
            object(json!({
                "metadata": { "name": "c", "namespace": "ns" },
                "spec": { "version": "3.6.16", "storage": {} },
                "status": status,
            }))
        };
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
        let backup = Arc::new(object::<EtcdBackup>(json!({
            "metadata": { "name": "b", "namespace": "ns" },
            "spec": { "cluster": "c", "destination": { "claim": "snapshots" } },
            "status": { "snapshots": [{
                "name": "s.db", "clusterId": "c", "time": "2030-01-01T00:00:00Z", "revision": 1, "size": 1, "sha256": "",
            }] },
        })));
        let backups = std::slice::from_ref(&backup);
        let (a, b) = (
            restore("a", "c", Some("s.db")),
            restore("b", "c", Some("s.db")),
        );
        let new = cluster(json!({}));
        let restored = |uid: &str| {
            cluster(
                json!({ "restore": uid, "restoreTime": "2030-01-01T00:00:00Z", "incarnation": 1 }),
            )
        };
        let both = [a.clone(), b.clone()];
        let none = [
            restore("d", "c", None),
            restore("d", "other", Some("s.db")),
            restore("d", "c", Some("pruned.db")),
        ];
        // A cluster may have the name of an earlier one.
        let mut complete = EtcdRestore::clone(&a);
        complete.status.as_mut().unwrap().completion_time = Some(Time(Timestamp::UNIX_EPOCH));
        for (cluster, restores, expected) in [
            (&new, none.as_slice(), [].as_slice()),
            (&new, &[Arc::new(complete)], &[]),
            (&new, std::slice::from_ref(&a), &["a"]),
            (&new, &both, &["b", "a"]),
            (&restored("a"), &both, &["b"]),
            (&restored("b"), &both, &[]),
        ] {
            let found = requested(cluster, restores, backups).into_iter();
            assert_eq!(found.map(|it| it.uid).collect::<Vec<_>>(), expected);
        }
        let source = snapshot("a", &[a], backups).unwrap();
        assert_eq!(source.name, "s.db");
        assert_eq!(source.location.argument(), "--archive=file:///archive/b");
    }
}
