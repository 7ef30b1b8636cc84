//! What is reported: the status, and events. Pure.

use operator_runtime::conditions;

use super::observe::{self, Answers};
use super::plan::{Observed, Step, Waiting};
use crate::api::etcd::etcd_cluster::{EtcdCluster, EtcdClusterStatus, Member};
use crate::controllers::etcd::etcd_cluster::READY;

/// The condition that is true while clients can read and write through the Service.
pub const AVAILABLE: &str = "Available";

/// The condition that is true while etcd accepts no writes, because a member's database is full.
pub const STORAGE_FULL: &str = "StorageFull";

/// The status with what was observed. It is written before a step is taken: whether a majority is lost is told by the
/// members that were recorded last.
pub fn facts(cluster: &EtcdCluster, observed: &Observed, answers: &Answers) -> EtcdClusterStatus {
    let mut status = cluster.status.clone().unwrap_or_default();
    status.version = observed.oldest_version().map(|it| it.to_string());
    if answers.list.is_some() {
        let started = observed.members.iter().filter(|member| member.started);
        status.members = started
            .map(|member| Member {
                name: member.name.clone(),
                id: member.id.to_string(),
                learner: member.learner,
            })
            .collect();
    }
    status
}

/// The status that the cluster should have after `step`. If the reconcile failed, the runtime says so in `Ready`.
pub fn wanted(
    cluster: &EtcdCluster,
    observed: &Observed,
    answers: &Answers,
    step: &Step,
    failed: bool,
) -> EtcdClusterStatus {
    let mut status = facts(cluster, observed, answers);
    status.observed_generation = cluster.metadata.generation;
    if let Some(list) = &answers.list
        && *step == Step::RecordId
    {
        status.cluster_id = Some(list.header.cluster_id.to_string());
    }
    let ready = observed.instances.values().filter_map(|it| it.pod.as_ref());
    let ready = ready.filter(|pod| pod.ready && pod.admitted).count();
    status.ready_members = i32::try_from(ready).ok();
    if let Step::BeginRestore { uid, first, .. } = step {
        // In one write: from now on, nothing of the earlier incarnation counts.
        status.incarnation = Some(observed.incarnation + 1);
        status.restore = Some(uid.clone());
        let mut requested = observed.requested.iter();
        let requested = requested.find(|it| it.uid == *uid);
        status.restore_time = requested.and_then(|it| it.created.clone());
        status.first_member = Some(first.clone());
        status.cluster_id = None;
        status.members.clear();
    }
    let full = observe::alarmed(&observed.members, answers, "NOSPACE").join(", ");
    let is_full = !full.is_empty();
    let (reason, space) = if is_full {
        let message =
            "is full: remove keys, compact, defragment, and disarm the alarm with etcdctl";
        ("NoSpace", format!("the database of {full} {message}"))
    } else {
        ("EnoughSpace", String::new())
    };
    let full = conditions::new(cluster, STORAGE_FULL, is_full, reason, space.clone());
    let serves = answers.available && !is_full;
    let reason = if serves { "Serving" } else { "NotServing" };
    let available = conditions::new(cluster, AVAILABLE, serves, reason, "");
    let (reason, message) = match step {
        Step::Done if is_full => ("NoSpace", space),
        Step::Done if !serves => ("NotServing", "the Service leads to no member".to_owned()),
        step => describe(step),
    };
    // Defragmenting is routine, and the other members serve meanwhile.
    let is_as_specified = matches!(step, Step::Done | Step::Defragment { .. });
    let ready = READY.of(cluster, is_as_specified && serves, reason, message);
    for condition in [full, available] {
        conditions::set(&mut status.conditions, condition);
    }
    if !failed {
        conditions::set(&mut status.conditions, ready);
    }
    status
}

/// Whether somebody on call should look at it.
pub fn is_warning(step: &Step) -> bool {
    matches!(
        step,
        Step::Wait(_) | Step::RemoveLost { .. } | Step::RetryRestore { .. }
    )
}

/// The event of a step, if it is worth one.
pub fn event(cluster: &EtcdCluster, step: &Step) -> Option<(&'static str, String)> {
    let (reason, message) = describe(step);
    match step {
        Step::Wait(Waiting::For(_)) | Step::Done => None,
        Step::Guard { .. } | Step::Introduce { .. } => None,
        // While it lasts, it is reported once.
        Step::Wait(_) => {
            let status = cluster.status.iter();
            let mut conditions = status.flat_map(|status| &status.conditions);
            let is_known = conditions.any(|it| it.type_ == READY.type_() && it.reason == reason);
            (!is_known).then_some((reason, message))
        }
        _ => Some((reason, message)),
    }
}

fn describe(step: &Step) -> (&'static str, String) {
    match step {
        Step::Bootstrap { name } => (
            "Bootstrapping",
            format!("{name} starts as the first member"),
        ),
        Step::Restore { name, .. } => (
            "Restoring",
            format!("the snapshot is written to the disk of {name}"),
        ),
        Step::RetryRestore { name } => (
            "RestoreFailed",
            format!("the snapshot could not be written to the disk of {name}; it is tried again"),
        ),
        Step::EndRestore => (
            "RestoreEnds",
            "the Pod that wrote the snapshot is deleted".to_owned(),
        ),
        Step::BeginRestore { name, .. } => (
            "RestoreBegins",
            format!("the EtcdRestore {name} replaces the members and their disks by its snapshot"),
        ),
        Step::RecordId => ("Founded", "the first member answers".to_owned()),
        Step::Clean { name } => (
            "Cleaning",
            format!("the Pod and the disk of {name} are deleted"),
        ),
        Step::Start { name, version } => (
            "MemberStarts",
            format!("{name} starts with version {version}"),
        ),
        Step::Restart { name } => (
            "MemberRestarts",
            format!("{name} restarts as the spec asks"),
        ),
        Step::AddLearner { name } => ("LearnerAdded", format!("{name} joins, without a vote yet")),
        Step::Promote { name, .. } => {
            ("MemberPromoted", format!("{name} has caught up, and votes"))
        }
        Step::Introduce { name } => (
            "MembersChanged",
            format!("{name} has not started, and the members have changed"),
        ),
        Step::Guard { name } => (
            "MemberGuarded",
            format!("{name} will not start again with an empty disk"),
        ),
        Step::Admit { name } => ("MemberAdmitted", format!("{name} serves clients")),
        Step::Remove { name, .. } => ("MemberRemoved", format!("{name} leaves the cluster")),
        Step::RemoveLost { name, .. } => (
            "DiskLost",
            format!("{name} has lost its disk and leaves the cluster; a new member takes its place"),
        ),
        Step::MoveLeader { from, .. } => ("LeaderMoved", format!("{from} hands over leadership")),
        Step::Defragment { name } => ("Defragmenting", format!("{name} gives free space back")),
        Step::Wait(Waiting::For(what)) => ("Waiting", what.clone()),
        Step::Wait(Waiting::NoQuorum) => (
            "NoQuorum",
            "no majority of the members answers, but a majority of their disks is there: look at the Pods".to_owned(),
        ),
        Step::Wait(Waiting::CannotReplace(name)) => (
            "CannotReplace",
            format!("{name} has lost its disk, and too few of the other members are ready to go on without it"),
        ),
        Step::Wait(Waiting::Corrupt(names)) => (
            "DataCorrupt",
            format!(
                "etcd says that the data of {} differs from the others': compare the members, and restore if need be",
                names.join(", ")
            ),
        ),
        Step::Wait(Waiting::MajorityLost { lost, of }) => (
            "MajorityLost",
            format!(
                "the disks of {lost} of {of} members are lost: create an EtcdRestore to start again from a snapshot. \
                 It deletes the disks that are left, too"
            ),
        ),
        Step::Wait(Waiting::UpgradeSkips { from, to }) => (
            "UpgradeRefused",
            if to < from {
                format!("every member runs {from}, and etcd cannot go back to {to}")
            } else {
                format!("etcd cannot go from {from} to {to}: ask for each minor version in turn")
            },
        ),
        Step::Done => ("AsSpecified", String::new()),
    }
}
