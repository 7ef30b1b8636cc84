//! The decision: one step from what the cluster is toward what it should be. Pure, so that every case is a
//! test.
//!
//! One rule stands above the others: no step takes data away from a majority that lives. A member leaves
//! only if the others are a majority without it, and a cluster that has lost its majority is left as it is
//! until a restore is asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::etcd::Id;

/// Everything the decision depends on.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The name of the cluster.
    pub cluster: String,
    /// How many members should vote.
    pub size: usize,
    /// The version that they should run.
    pub version: Version,
    /// The oldest version that a member ran when the status was last written.
    pub recorded: Option<Version>,
    /// Whether etcd has given the cluster an ID.
    pub founded: bool,
    /// How often the cluster was restored.
    pub incarnation: i32,
    /// A restore that is asked for, and has not begun.
    pub requested: Option<Requested>,
    /// Pods and disks by the name of their member, founded or not.
    pub instances: BTreeMap<String, Instance>,
    /// The Pod that writes the snapshot to the first disk.
    pub restorer: Option<Restorer>,
    /// The members: as a majority lists them, or as they were last recorded.
    pub members: Vec<Member>,
    /// Whether a majority listed the members.
    pub quorum: bool,
    /// The leader, if a majority agrees on one.
    pub leader: Option<Id>,
    /// The revision of the data, if a member told it. It is 1 if nothing was ever written.
    pub revision: Option<i64>,
    /// When a member is defragmented.
    pub defragmentation: Option<Threshold>,
}

#[derive(Clone, Debug, Default)]
pub struct Requested {
    /// The uid of the EtcdRestore.
    pub uid: String,
    /// Whether it may replace data that lives.
    pub overwrite: bool,
}

/// The Pod and the disk of one member.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub pod: Option<Pod>,
    pub disk: Option<Disk>,
}

#[derive(Clone, Debug, Default)]
pub struct Pod {
    pub incarnation: i32,
    pub terminating: bool,
    /// The readiness probe passes, and etcd answers.
    pub ready: bool,
    /// etcd found an empty disk where its data should be.
    pub disk_lost: bool,
    /// The Pod is not as the spec asks.
    pub outdated: bool,
    /// The Pod does not start again with an empty disk.
    pub guarded: bool,
    /// The Service leads to the Pod.
    pub admitted: bool,
    /// The version that it runs, if it answers.
    pub version: Option<Version>,
    /// The size of the database in bytes, and how much of it is in use.
    pub database: (u64, u64),
}

#[derive(Clone, Debug, Default)]
pub struct Disk {
    pub incarnation: i32,
    pub terminating: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restorer {
    Running,
    Succeeded,
    Failed,
    /// It is of an earlier incarnation, or being deleted.
    Leaving,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    pub name: String,
    pub id: Id,
    pub learner: bool,
    /// Whether it has ever been part of the cluster with a disk.
    pub started: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Threshold {
    pub percent: u64,
    pub minimum: u64,
}

/// A version of etcd 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub minor: u32,
    pub patch: u32,
}

/// One step. After each, the cluster is observed again.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Start the first member of a new cluster.
    Bootstrap {
        name: String,
    },
    /// Write the snapshot to the disk of the first member.
    Restore {
        name: String,
    },
    /// Remove the Pod that failed to write the snapshot, and the disk that it wrote to.
    RetryRestore {
        name: String,
    },
    /// Remove the Pod that wrote the snapshot.
    EndRestore,
    /// Begin a new incarnation from a snapshot.
    BeginRestore {
        uid: String,
    },
    /// Record the ID of the cluster: from now on, it is never created anew.
    Found,
    /// Delete Pod and disk of a member that is no more.
    Clean {
        name: String,
    },
    /// Start the Pod of a member.
    Start {
        name: String,
        version: Version,
    },
    /// Delete the Pod of a member, which starts again as the spec asks.
    Restart {
        name: String,
    },
    AddLearner {
        name: String,
    },
    Promote {
        name: String,
        id: Id,
    },
    /// Keep a member from starting again with an empty disk. It has data now.
    Guard {
        name: String,
    },
    /// Lead clients to a member that votes.
    Admit {
        name: String,
    },
    Remove {
        name: String,
        id: Id,
    },
    MoveLeader {
        from: String,
        to: Id,
    },
    Defragment {
        name: String,
    },
    Wait(Waiting),
    /// The cluster is as the spec asks.
    Done,
}

/// Why nothing can be done now.
#[derive(Clone, Debug, PartialEq)]
pub enum Waiting {
    /// Something is on its way.
    For(String),
    NoQuorum,
    /// So many disks are lost that the others are no majority.
    MajorityLost {
        lost: usize,
        of: usize,
    },
    /// The spec asks for an upgrade that skips a minor version.
    UpgradeSkips {
        from: Version,
        to: Version,
    },
}

use Step::*;

/// The next step.
pub fn next(observed: &Observed) -> Step {
    if let Some(requested) = &observed.requested
        && observed.may_restore(requested)
    {
        let uid = requested.uid.clone();
        return BeginRestore { uid };
    }
    if let Some(step) = leave_behind(observed) {
        return step;
    }
    match (observed.founded, observed.quorum) {
        (false, _) => found(observed),
        (true, false) => without_quorum(observed),
        (true, true) => maintain(observed),
    }
}

fn wait(reason: impl Into<String>) -> Step {
    Wait(Waiting::For(reason.into()))
}

/// Removes everything of an earlier incarnation, all at once, before the new one begins.
fn leave_behind(observed: &Observed) -> Option<Step> {
    let mut waits_for = None;
    for (name, instance) in &observed.instances {
        let pod = instance
            .pod
            .as_ref()
            .map(|it| (it.incarnation, it.terminating));
        let disk = instance
            .disk
            .as_ref()
            .map(|it| (it.incarnation, it.terminating));
        for (incarnation, terminating) in [pod, disk].into_iter().flatten() {
            if incarnation < observed.incarnation && !terminating {
                return Some(Clean { name: name.clone() });
            }
            if incarnation < observed.incarnation {
                waits_for = Some(name);
            }
        }
    }
    waits_for.map(|name| {
        wait(format!(
            "{name} of the earlier incarnation is being deleted"
        ))
    })
}

/// The way from nothing, or from a snapshot, to a cluster of one member.
fn found(observed: &Observed) -> Step {
    let name = observed.member_name(0);
    let instance = observed.instances.get(&name);
    let pod = instance.and_then(|instance| instance.pod.as_ref());
    if observed.quorum {
        return Found;
    }
    if pod.is_some_and(|pod| pod.disk_lost) && observed.incarnation > 0 {
        return RetryRestore { name };
    }
    match pod {
        Some(pod) if pod.terminating => return wait(format!("{name} is being deleted")),
        // Its image may not exist, and the spec has been corrected since.
        Some(pod) if pod.outdated => return Restart { name },
        Some(_) => return wait(format!("{name} starts")),
        None => {}
    }
    if observed.incarnation == 0 {
        return Bootstrap { name };
    }
    match observed.restorer {
        None => Restore { name },
        Some(Restorer::Running) => wait("the snapshot is being written to the first disk"),
        Some(Restorer::Leaving) => wait("the Pod of an earlier restore is being deleted"),
        Some(Restorer::Failed) => RetryRestore { name },
        Some(Restorer::Succeeded) => Bootstrap { name },
    }
}

/// What is left to do when no majority answers: start what has a disk, and tell whether that can be enough.
fn without_quorum(observed: &Observed) -> Step {
    for member in &observed.members {
        let Some(instance) = observed.instances.get(&member.name) else {
            continue;
        };
        let has_disk = instance.disk.as_ref().is_some_and(|disk| !disk.terminating);
        if has_disk && instance.pod.is_none() {
            return start(observed, &member.name);
        }
    }
    let voters = observed.voters().count();
    let lost = observed.lost_voters();
    match voters - lost < majority(voters) {
        true => Wait(Waiting::MajorityLost { lost, of: voters }),
        false => Wait(Waiting::NoQuorum),
    }
}

/// The steps of a cluster whose majority answers.
fn maintain(observed: &Observed) -> Step {
    let members = &observed.members;
    // A member without its data must not vote again under its ID, because it may have promised its vote.
    if let Some(lost) = members.iter().find(|member| observed.is_lost(member)) {
        let (name, id) = (lost.name.clone(), lost.id);
        return match lost.learner || observed.can_do_without(lost) {
            true => Remove { name, id },
            false => Wait(Waiting::NoQuorum),
        };
    }
    let is_member = |name: &String| members.iter().any(|member| member.name == *name);
    for (name, instance) in &observed.instances {
        let pod = instance.pod.as_ref().is_some_and(|pod| !pod.terminating);
        let disk = instance.disk.as_ref();
        let disk = disk.is_some_and(|disk| !disk.terminating);
        if !is_member(name) && (pod || disk) {
            return Clean { name: name.clone() };
        }
    }
    if observed
        .restorer
        .is_some_and(|pod| pod != Restorer::Leaving)
    {
        return EndRestore;
    }
    for member in members {
        match observed.pod(&member.name) {
            None => return start(observed, &member.name),
            Some(pod) if pod.terminating => {
                return wait(format!("{} is being deleted", member.name));
            }
            Some(_) => {}
        }
    }
    let is_bare = |member: &&Member| {
        member.started && observed.pod(&member.name).is_some_and(|pod| !pod.guarded)
    };
    // Before it votes, and before clients write to it.
    if let Some(member) = members.iter().find(is_bare) {
        let name = member.name.clone();
        return Guard { name };
    }
    if let Some(learner) = members.iter().find(|member| member.learner) {
        let (name, id) = (learner.name.clone(), learner.id);
        return match learner.started {
            true => Promote { name, id },
            false => wait(format!("{name} starts")),
        };
    }
    let pods = || {
        members
            .iter()
            .filter_map(|member| Some((member, observed.pod(&member.name)?)))
    };
    if let Some((member, _)) = pods().find(|(_, pod)| !pod.admitted) {
        let name = member.name.clone();
        return Admit { name };
    }
    if let Some((member, pod)) = pods().find(|(_, pod)| !pod.ready) {
        let name = member.name.clone();
        // Its image may not exist, and the spec has been corrected since.
        return match pod.outdated && !observed.upgrade_skips() {
            true => Restart { name },
            false => wait(format!("{name} is not ready")),
        };
    }
    if members.len() < observed.size {
        let name = observed.member_name(observed.next_ordinal());
        return AddLearner { name };
    }
    if let Some(step) = upgrade(observed) {
        return step;
    }
    if members.len() > observed.size
        && let Some(last) = observed.followers().last()
    {
        let (name, id) = (last.name.clone(), last.id);
        return Remove { name, id };
    }
    if let Some(threshold) = observed.defragmentation
        && let Some(member) = observed
            .leader_last()
            .find(|member| observed.is_fragmented(member, threshold))
    {
        let name = member.name.clone();
        return Defragment { name };
    }
    Done
}

/// One member at a time, the leader last: each change of the leader costs an election.
fn upgrade(observed: &Observed) -> Option<Step> {
    let is_outdated = |member: &&Member| observed.pod(&member.name).is_some_and(|pod| pod.outdated);
    let outdated = observed.leader_last().find(is_outdated)?;
    if observed.upgrade_skips() {
        let (from, to) = (observed.oldest_version()?, observed.version);
        return Some(Wait(Waiting::UpgradeSkips { from, to }));
    }
    let name = outdated.name.clone();
    let mut followers = observed.followers();
    Some(match observed.leader == Some(outdated.id) {
        true => match followers.next() {
            Some(to) => MoveLeader {
                from: name,
                to: to.id,
            },
            None => Restart { name },
        },
        false => Restart { name },
    })
}

/// Starts a member. A new one joins with the version of the others, so that only an upgrade raises it.
fn start(observed: &Observed, name: &str) -> Step {
    let joins = |member: &Member| member.name == name && (member.learner || !member.started);
    let oldest = observed.oldest_version().unwrap_or(observed.version);
    let version = match observed.members.iter().any(joins) || observed.upgrade_skips() {
        true => oldest,
        false => observed.version,
    };
    let name = name.to_owned();
    Start { name, version }
}

const fn majority(voters: usize) -> usize {
    voters / 2 + 1
}

impl Observed {
    /// The name of the member with this ordinal.
    pub fn member_name(&self, ordinal: u32) -> String {
        format!("{}-{ordinal}", self.cluster)
    }

    fn pod(&self, name: &str) -> Option<&Pod> {
        self.instances.get(name)?.pod.as_ref()
    }

    fn voters(&self) -> impl Iterator<Item = &Member> + Clone {
        self.members.iter().filter(|member| !member.learner)
    }

    fn followers(&self) -> impl Iterator<Item = &Member> {
        self.voters()
            .filter(|member| self.leader != Some(member.id))
    }

    fn leader_last(&self) -> impl Iterator<Item = &Member> {
        let leader = self
            .voters()
            .filter(|member| self.leader == Some(member.id));
        self.followers().chain(leader)
    }

    /// An ordinal that nothing has: a name is not used again while anything of it is left.
    fn next_ordinal(&self) -> u32 {
        let members = self.members.iter().map(|member| &member.name);
        let ordinals = members
            .chain(self.instances.keys())
            .filter_map(|name| ordinal(name));
        ordinals.max().map_or(0, |last| last + 1)
    }

    /// Whether the data of a member is gone.
    fn is_lost(&self, member: &Member) -> bool {
        let instance = self.instances.get(&member.name);
        let disk = instance.and_then(|instance| instance.disk.as_ref());
        let empty = self.pod(&member.name).is_some_and(|pod| pod.disk_lost);
        member.started && (empty || disk.is_none_or(|disk| disk.terminating))
    }

    fn lost_voters(&self) -> usize {
        self.voters().filter(|member| self.is_lost(member)).count()
    }

    /// Whether the members that are ready are a majority without this one.
    fn can_do_without(&self, leaving: &Member) -> bool {
        let others = self.voters().filter(|member| member.id != leaving.id);
        let ready = |member: &&Member| self.pod(&member.name).is_some_and(|pod| pod.ready);
        let left = others.clone().count();
        left > 0 && others.filter(ready).count() >= majority(left)
    }

    /// Whether a restore may begin: never over data that lives, unless that is asked for.
    fn may_restore(&self, requested: &Requested) -> bool {
        let voters = self.voters().count();
        let majority_lost = !self.quorum && voters - self.lost_voters() < majority(voters);
        let never_written = self.quorum && self.revision == Some(1);
        !self.founded || requested.overwrite || majority_lost || never_written
    }

    /// The oldest version that a member runs, or ran when it last answered. `None` before the first answer.
    pub fn oldest_version(&self) -> Option<Version> {
        let version = |member: &Member| self.pod(&member.name)?.version;
        let running = self.members.iter().filter_map(version).min();
        match self.members.iter().all(|member| version(member).is_some()) {
            true => running.or(self.recorded),
            false => running.into_iter().chain(self.recorded).min(),
        }
    }

    /// Whether etcd would refuse the way from the oldest version to the wanted one.
    fn upgrade_skips(&self) -> bool {
        let oldest = self.oldest_version();
        oldest.is_some_and(|it| self.version.minor > it.minor + 1 || self.version < it)
    }

    fn is_fragmented(&self, member: &Member, threshold: Threshold) -> bool {
        self.pod(&member.name).is_some_and(|pod| {
            let (size, used) = pod.database;
            size > threshold.minimum && size.saturating_sub(used) * 100 >= size * threshold.percent
        })
    }
}

pub fn ordinal(name: &str) -> Option<u32> {
    name.rsplit('-').next()?.parse().ok()
}

impl FromStr for Version {
    type Err = std::num::ParseIntError;

    /// Reads `3.6.16`, also with a `v` before it or `-rc.0` behind it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim_start_matches('v');
        let text = text.split('-').next().unwrap_or(text);
        let mut numbers = text.split('.').skip(1);
        let mut next = || numbers.next().unwrap_or("0").parse();
        Ok(Self {
            minor: next()?,
            patch: next()?,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "3.{}.{}", self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Version = Version {
        minor: 6,
        patch: 16,
    };
    const NEW: Version = Version { minor: 7, patch: 1 };

    fn instance() -> Instance {
        Instance {
            pod: Some(Pod {
                ready: true,
                guarded: true,
                admitted: true,
                version: Some(OLD),
                ..Pod::default()
            }),
            disk: Some(Disk::default()),
        }
    }

    /// A cluster of `size` members that is as it should be. The first one leads.
    fn healthy(size: u32) -> Observed {
        let mut observed = Observed {
            cluster: "c".to_owned(),
            size: size.try_into().unwrap(),
            version: OLD,
            recorded: Some(OLD),
            founded: true,
            quorum: true,
            leader: Some(Id(1)),
            revision: Some(100),
            ..Observed::default()
        };
        for ordinal in 0..size {
            let name = observed.member_name(ordinal);
            observed.instances.insert(name.clone(), instance());
            observed.members.push(Member {
                name,
                id: Id(u64::from(ordinal) + 1),
                learner: false,
                started: true,
            });
        }
        observed
    }

    fn pod(observed: &mut Observed, name: &str, change: impl Fn(&mut Pod)) {
        change(
            observed
                .instances
                .get_mut(name)
                .unwrap()
                .pod
                .as_mut()
                .unwrap(),
        );
    }

    fn lose_disk(observed: &mut Observed, name: &str) {
        pod(observed, name, |pod| {
            pod.ready = false;
            pod.disk_lost = true;
        });
    }

    fn remove(name: &str, id: u64) -> Step {
        let (name, id) = (name.to_owned(), Id(id));
        Remove { name, id }
    }

    fn restart(name: &str) -> Step {
        let name = name.to_owned();
        Restart { name }
    }

    #[test]
    fn a_cluster_grows_from_nothing_by_learners() {
        let mut observed = healthy(0);
        (observed.size, observed.founded, observed.quorum) = (3, false, false);
        let name = "c-0".to_owned();
        assert_eq!(next(&observed), Bootstrap { name: name.clone() });
        observed.instances.insert(name.clone(), instance());
        pod(&mut observed, "c-0", |pod| {
            (pod.guarded, pod.admitted) = (false, false);
        });
        assert_eq!(next(&observed), wait("c-0 starts"));
        observed.members = healthy(1).members;
        observed.quorum = true;
        assert_eq!(next(&observed), Found);
        observed.founded = true;
        assert_eq!(next(&observed), Guard { name: name.clone() });
        pod(&mut observed, "c-0", |pod| pod.guarded = true);
        assert_eq!(next(&observed), Admit { name });
        pod(&mut observed, "c-0", |pod| pod.admitted = true);

        let name = "c-1".to_owned();
        assert_eq!(next(&observed), AddLearner { name: name.clone() });
        observed.members.push(Member {
            name: name.clone(),
            id: Id(2),
            learner: true,
            started: false,
        });
        let version = OLD;
        assert_eq!(
            next(&observed),
            Start {
                name: name.clone(),
                version
            }
        );
        observed.instances.insert(name.clone(), instance());
        assert_eq!(next(&observed), wait("c-1 starts"));
        observed.members[1].started = true;
        pod(&mut observed, "c-1", |pod| pod.guarded = false);
        assert_eq!(next(&observed), Guard { name: name.clone() });
        pod(&mut observed, "c-1", |pod| pod.guarded = true);
        assert_eq!(next(&observed), Promote { name, id: Id(2) });
        observed.members[1].learner = false;
        let name = "c-2".to_owned();
        assert_eq!(next(&observed), AddLearner { name });
    }

    #[test]
    fn a_cluster_shrinks_by_followers() {
        let mut observed = healthy(5);
        observed.size = 3;
        assert_eq!(next(&observed), remove("c-4", 5));
        observed.leader = Some(Id(5));
        assert_eq!(next(&observed), remove("c-3", 4));
        observed.members.remove(3);
        assert_eq!(
            next(&observed),
            Clean {
                name: "c-3".to_owned()
            }
        );
        // No member leaves while another one is down.
        observed.instances.remove("c-3");
        pod(&mut observed, "c-1", |pod| pod.ready = false);
        assert_eq!(next(&observed), wait("c-1 is not ready"));
    }

    #[test]
    fn upgrades_go_one_by_one_and_the_leader_is_last() {
        let mut observed = healthy(3);
        observed.version = NEW;
        for name in ["c-0", "c-1", "c-2"] {
            pod(&mut observed, name, |pod| pod.outdated = true);
        }
        for name in ["c-1", "c-2"] {
            assert_eq!(next(&observed), restart(name));
            let pod_before = observed.instances.get_mut(name).unwrap().pod.take();
            let name = name.to_owned();
            assert_eq!(
                next(&observed),
                Start {
                    name: name.clone(),
                    version: NEW
                }
            );
            observed.instances.get_mut(&name).unwrap().pod = pod_before;
            pod(&mut observed, &name, |pod| {
                (pod.version, pod.outdated) = (Some(NEW), false);
            });
        }
        let from = "c-0".to_owned();
        assert_eq!(next(&observed), MoveLeader { from, to: Id(2) });
        observed.leader = Some(Id(2));
        assert_eq!(next(&observed), restart("c-0"));

        let mut single = healthy(1);
        single.version = NEW;
        pod(&mut single, "c-0", |pod| pod.outdated = true);
        assert_eq!(next(&single), restart("c-0"));
    }

    #[test]
    fn a_member_that_cannot_start_is_restarted_when_the_spec_changes() {
        let mut observed = healthy(3);
        observed.version = NEW;
        pod(&mut observed, "c-2", |pod| pod.ready = false);
        assert_eq!(next(&observed), wait("c-2 is not ready"));
        pod(&mut observed, "c-2", |pod| pod.outdated = true);
        assert_eq!(next(&observed), restart("c-2"));
    }

    #[test]
    fn an_upgrade_is_taken_back_until_all_members_run_it() {
        let mut observed = healthy(3);
        pod(&mut observed, "c-2", |pod| {
            (pod.version, pod.outdated) = (Some(NEW), true);
        });
        assert_eq!(next(&observed), restart("c-2"));
        // The image of the version does not exist, so the member never ran it.
        pod(&mut observed, "c-2", |pod| {
            (pod.version, pod.ready) = (None, false);
        });
        assert_eq!(next(&observed), restart("c-2"));
        let mut observed = healthy(1);
        pod(&mut observed, "c-0", |pod| {
            (pod.version, pod.ready, pod.outdated) = (None, false, true);
        });
        assert_eq!(observed.oldest_version(), Some(OLD));
        assert_eq!(next(&observed), restart("c-0"));

        let mut observed = healthy(3);
        for name in ["c-0", "c-1", "c-2"] {
            pod(&mut observed, name, |pod| {
                (pod.version, pod.outdated) = (Some(NEW), true);
            });
        }
        let (from, to) = (NEW, OLD);
        assert_eq!(next(&observed), Wait(Waiting::UpgradeSkips { from, to }));
    }

    #[test]
    fn a_first_member_that_cannot_start_is_restarted_when_the_spec_changes() {
        let mut observed = healthy(1);
        (observed.founded, observed.quorum, observed.recorded) = (false, false, None);
        observed.members.clear();
        pod(&mut observed, "c-0", |pod| {
            (pod.version, pod.ready) = (None, false);
        });
        assert_eq!(observed.oldest_version(), None);
        assert_eq!(next(&observed), wait("c-0 starts"));
        pod(&mut observed, "c-0", |pod| pod.outdated = true);
        assert_eq!(next(&observed), restart("c-0"));
    }

    #[test]
    fn an_upgrade_that_skips_a_version_is_refused() {
        let mut observed = healthy(1);
        observed.version = Version { minor: 8, patch: 0 };
        pod(&mut observed, "c-0", |pod| pod.outdated = true);
        let (from, to) = (OLD, observed.version);
        assert_eq!(next(&observed), Wait(Waiting::UpgradeSkips { from, to }));
        // Neither does a Pod that somebody deleted.
        observed.instances.get_mut("c-0").unwrap().pod = None;
        let name = "c-0".to_owned();
        assert_eq!(next(&observed), Start { name, version: OLD });
    }

    #[test]
    fn a_member_without_its_disk_is_replaced() {
        let mut observed = healthy(3);
        lose_disk(&mut observed, "c-1");
        assert_eq!(next(&observed), remove("c-1", 2));
        observed.members.remove(1);
        assert_eq!(
            next(&observed),
            Clean {
                name: "c-1".to_owned()
            }
        );
        let gone = observed.instances.get_mut("c-1").unwrap();
        gone.pod = None;
        gone.disk.as_mut().unwrap().terminating = true;
        // The name is not used again while the disk is still there.
        assert_eq!(
            next(&observed),
            AddLearner {
                name: "c-3".to_owned()
            }
        );

        // The other one is down: without the lost member, one of two is no majority.
        let mut observed = healthy(3);
        lose_disk(&mut observed, "c-1");
        pod(&mut observed, "c-2", |pod| pod.ready = false);
        assert_eq!(next(&observed), Wait(Waiting::NoQuorum));
        // A claim that somebody deletes is a lost disk.
        let mut observed = healthy(3);
        let instance = observed.instances.get_mut("c-2").unwrap();
        instance.disk.as_mut().unwrap().terminating = true;
        assert_eq!(next(&observed), remove("c-2", 3));
    }

    #[test]
    fn nothing_is_restored_unasked_over_data_that_lives() {
        let mut observed = healthy(3);
        observed.requested = Some(Requested {
            uid: "r".to_owned(),
            overwrite: false,
        });
        let begin = BeginRestore {
            uid: "r".to_owned(),
        };
        assert_eq!(next(&observed), Done);
        // One disk of three is lost, and the members cannot agree for other reasons.
        observed.quorum = false;
        lose_disk(&mut observed, "c-0");
        assert_eq!(next(&observed), Wait(Waiting::NoQuorum));
        lose_disk(&mut observed, "c-1");
        assert_eq!(next(&observed), begin);
        observed.requested = None;
        let lost = Waiting::MajorityLost { lost: 2, of: 3 };
        assert_eq!(next(&observed), Wait(lost));

        let mut observed = healthy(3);
        observed.requested = Some(Requested {
            uid: "r".to_owned(),
            overwrite: true,
        });
        assert_eq!(next(&observed), begin);
        observed.requested.as_mut().unwrap().overwrite = false;
        observed.revision = Some(1);
        assert_eq!(next(&observed), begin);
    }

    #[test]
    fn a_restore_removes_everything_before_it_starts() {
        let mut observed = healthy(3);
        (observed.incarnation, observed.founded, observed.quorum) = (1, false, false);
        observed.members.clear();
        for name in ["c-0", "c-1", "c-2"] {
            let name = name.to_owned();
            assert_eq!(next(&observed), Clean { name: name.clone() });
            let instance = observed.instances.get_mut(&name).unwrap();
            instance.pod.as_mut().unwrap().terminating = true;
            instance.disk.as_mut().unwrap().terminating = true;
        }
        for name in ["c-0", "c-1", "c-2"] {
            assert!(matches!(next(&observed), Wait(_)));
            observed.instances.remove(name);
        }
        let name = "c-0".to_owned();
        assert_eq!(next(&observed), Restore { name: name.clone() });
        observed.restorer = Some(Restorer::Running);
        assert!(matches!(next(&observed), Wait(_)));
        observed.restorer = Some(Restorer::Failed);
        assert_eq!(next(&observed), RetryRestore { name: name.clone() });
        observed.restorer = Some(Restorer::Succeeded);
        assert_eq!(next(&observed), Bootstrap { name });

        let mut founded = healthy(1);
        founded.restorer = Some(Restorer::Succeeded);
        assert_eq!(next(&founded), EndRestore);
    }

    #[test]
    fn without_a_majority_only_what_has_a_disk_is_started() {
        let mut observed = healthy(3);
        observed.quorum = false;
        for name in ["c-0", "c-1", "c-2"] {
            observed.instances.get_mut(name).unwrap().pod = None;
        }
        observed.instances.remove("c-0");
        let name = "c-1".to_owned();
        assert_eq!(next(&observed), Start { name, version: OLD });
    }

    #[test]
    fn members_are_defragmented_one_by_one_and_the_leader_is_last() {
        let mut observed = healthy(3);
        observed.defragmentation = Some(Threshold {
            percent: 50,
            minimum: 100,
        });
        for name in ["c-0", "c-2"] {
            pod(&mut observed, name, |pod| pod.database = (200, 100));
        }
        pod(&mut observed, "c-1", |pod| pod.database = (100, 0));
        assert_eq!(
            next(&observed),
            Defragment {
                name: "c-2".to_owned()
            }
        );
        pod(&mut observed, "c-2", |pod| pod.database = (200, 101));
        assert_eq!(
            next(&observed),
            Defragment {
                name: "c-0".to_owned()
            }
        );
    }

    #[test]
    fn versions_are_read_and_written() {
        for (text, version) in [("3.6.16", OLD), ("v3.6.16", OLD), ("3.7.1-rc.0", NEW)] {
            assert_eq!(text.parse(), Ok(version), "{text}");
        }
        assert_eq!(OLD.to_string(), "3.6.16");
        assert!("3.x.1".parse::<Version>().is_err());
    }
}
