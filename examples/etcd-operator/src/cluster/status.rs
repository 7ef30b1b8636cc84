//! What is reported: the status, and events. Pure.

use operator_runtime::conditions;

use super::observe::Answers;
use super::plan::{Observed, Step, Waiting};
use crate::api::etcd::v1alpha1::etcd_cluster::{EtcdCluster, EtcdClusterStatus, Member};
use crate::controllers::etcd::etcd_cluster::READY;

/// The condition that is true while clients can read and write through the Service.
pub const AVAILABLE: &str = "Available";

/// The condition that is true while etcd accepts no writes, because a member's database is full.
pub const STORAGE_FULL: &str = "StorageFull";

/// The status that the cluster should have after `step`.
pub fn wanted(
    cluster: &EtcdCluster,
    observed: &Observed,
    answers: &Answers,
    step: &Step,
) -> EtcdClusterStatus {
    let mut status = cluster.status.clone().unwrap_or_default();
    status.observed_generation = cluster.metadata.generation;
    if let Some(list) = &answers.list {
        let started = observed.members.iter().filter(|member| member.started);
        status.members = started
            .map(|member| Member {
                name: member.name.clone(),
                id: member.id.to_string(),
                learner: member.learner,
            })
            .collect();
        if *step == Step::Found {
            status.cluster_id = Some(list.header.cluster_id.to_string());
        }
    }
    status.version = observed.oldest_version().map(|it| it.to_string());
    let ready = observed.instances.values().filter_map(|it| it.pod.as_ref());
    let ready = ready.filter(|pod| pod.ready && pod.admitted).count();
    status.ready_members = i32::try_from(ready).ok();
    if let Step::BeginRestore { uid } = step {
        // In one write: from now on, nothing of the earlier incarnation counts.
        status.incarnation = Some(observed.incarnation + 1);
        status.restore = Some(uid.clone());
        status.cluster_id = None;
        status.members.clear();
    }
    let full = answers.alarms.iter().filter(|it| it.alarm == "NOSPACE");
    let full = full.filter_map(|alarm| observed.members.iter().find(|it| it.id == alarm.member));
    let full: Vec<_> = full.map(|member| member.name.as_str()).collect();
    let is_full = !full.is_empty();
    let (reason, message) = match is_full {
        true => {
            let of = full.join(", ");
            let message = "is full: remove keys, compact, defragment, and disarm the alarm";
            ("NoSpace", format!("the database of {of} {message}"))
        }
        false => ("EnoughSpace", String::new()),
    };
    let full = conditions::new(cluster, STORAGE_FULL, is_full, reason, message);
    let serves = answers.available && !is_full;
    let reason = if serves { "Serving" } else { "NotServing" };
    let available = conditions::new(cluster, AVAILABLE, serves, reason, "");
    let (reason, message) = match step {
        Step::Done if !serves => ("NotServing", "the Service leads to no member".to_owned()),
        step => describe(step),
    };
    let ready = READY.of(cluster, *step == Step::Done && serves, reason, message);
    for condition in [full, available, ready] {
        conditions::set(&mut status.conditions, condition);
    }
    status
}

/// The event of a step, if it is worth one.
pub fn event(cluster: &EtcdCluster, step: &Step) -> Option<(&'static str, String)> {
    let (reason, message) = describe(step);
    match step {
        Step::Wait(Waiting::For(_)) | Step::Done | Step::Clean { .. } | Step::Guard { .. } => None,
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
        Step::Restore { name } => (
            "Restoring",
            format!("the snapshot is written to the disk of {name}"),
        ),
        Step::RetryRestore { name } => (
            "RestoreFailed",
            format!("the snapshot could not be written to the disk of {name}; it is tried again"),
        ),
        Step::EndRestore => ("Restored", "the cluster runs from the snapshot".to_owned()),
        Step::BeginRestore { .. } => (
            "RestoreBegins",
            "the members and their disks are replaced by the snapshot".to_owned(),
        ),
        Step::Found => ("Founded", "the first member answers".to_owned()),
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
        Step::Guard { name } => (
            "MemberGuarded",
            format!("{name} has data, and needs it to start"),
        ),
        Step::Admit { name } => ("MemberAdmitted", format!("{name} serves clients")),
        Step::Remove { name, .. } => ("MemberRemoved", format!("{name} leaves the cluster")),
        Step::MoveLeader { from, .. } => ("LeaderMoved", format!("{from} hands over leadership")),
        Step::Defragment { name } => ("Defragmenting", format!("{name} gives free space back")),
        Step::Wait(Waiting::For(what)) => ("Waiting", what.clone()),
        Step::Wait(Waiting::NoQuorum) => (
            "NoQuorum",
            "too few members answer for a majority; their disks are there".to_owned(),
        ),
        Step::Wait(Waiting::MajorityLost { lost, of }) => (
            "MajorityLost",
            format!(
                "the disks of {lost} of {of} members are lost: create an EtcdRestore to start again from a snapshot"
            ),
        ),
        Step::Wait(Waiting::UpgradeSkips { from, to }) => (
            "UpgradeRefused",
            match to < from {
                true => format!("every member runs {from}, and etcd cannot go back to {to}"),
                false => format!(
                    "etcd cannot go from {from} to {to}: ask for each minor version in turn"
                ),
            },
        ),
        Step::Done => ("AsSpecified", String::new()),
    }
}
