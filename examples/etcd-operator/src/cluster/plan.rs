//! The decision: one step from what the cluster is toward what it should be. Pure, so that every case is a
//! test.
//!
//! One rule stands above the others: unless a restore says `overwrite`, no step takes data away from a majority
//! that lives. A member leaves only if the others are a majority without it, and a cluster that has lost its
//! majority is left as it is until a restore is asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

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
    /// The uid of the EtcdRestore that made this incarnation.
    pub restore: Option<String>,
    /// The name of the first member of this incarnation.
    pub first: String,
    /// The restores that are asked for and have not begun, newest first.
    pub requested: Vec<Requested>,
    /// Pods and disks by the name of their member, founded or not.
    pub instances: BTreeMap<String, Instance>,
    /// The Pod that writes a snapshot to the first disk of an incarnation.
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
    /// The members whose data differs from the others', as etcd says.
    pub corrupt: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Requested {
    /// The name of the EtcdRestore.
    pub name: String,
    pub uid: String,
    /// When the EtcdRestore was created.
    pub created: Option<Time>,
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
    /// The kubelet has ended it for good, such as when the node ran out of memory.
    pub ended: bool,
    /// Its container runs.
    pub running: bool,
    /// The readiness probe passes, and etcd answers.
    pub ready: bool,
    /// etcd found an empty disk where its data should be.
    pub disk_lost: bool,
    /// The version that it was made for.
    pub asked: Version,
    /// The spec has changed since in something else than the version.
    pub changed: bool,
    /// The Pod does not start again with an empty disk.
    pub guarded: bool,
    /// With an empty disk, the Pod joins the members that there are now.
    pub introduced: bool,
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

#[derive(Clone, Debug, PartialEq)]
pub struct Restorer {
    pub state: RestorerState,
    /// The incarnation that it makes.
    pub incarnation: i32,
    /// The uid of the EtcdRestore.
    pub restore: String,
    /// The member whose disk it writes.
    pub member: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestorerState {
    Running,
    Succeeded,
    /// It failed, or the spec has changed since.
    Failed,
    Terminating,
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
    /// Write the snapshot of an EtcdRestore to the first disk of an incarnation.
    Restore {
        name: String,
        uid: String,
        incarnation: i32,
    },
    /// Remove the Pod that failed to write the snapshot, and the disk that it wrote to.
    RetryRestore {
        name: String,
    },
    /// Remove the Pod that writes or wrote the snapshot.
    EndRestore,
    /// Begin a new incarnation from the snapshot of an EtcdRestore.
    BeginRestore {
        name: String,
        uid: String,
        first: String,
    },
    /// Record the ID of the cluster: from now on, it is never created anew.
    RecordId,
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
    /// Tell a member that has not started yet who the members are.
    Introduce {
        name: String,
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
    /// Remove a member that has lost its disk.
    RemoveLost {
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
    /// A member has lost its disk, and the others are no majority without it.
    CannotReplace(String),
    /// The data of these members differs from the others'.
    Corrupt(Vec<String>),
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
    let mut requested = observed.requested.iter();
    if let Some(requested) = requested.find(|it| observed.may_restore(it)) {
        return prepare(observed, requested);
    }
    if let Some(step) = leave_behind(observed) {
        return step;
    }
    match (observed.founded, observed.quorum) {
        (false, _) => bootstrap(observed),
        (true, false) => without_quorum(observed),
        (true, true) => maintain(observed),
    }
}

fn wait(reason: impl Into<String>) -> Step {
    Wait(Waiting::For(reason.into()))
}

/// Writes the snapshot to the first disk of the next incarnation. The cluster stays as it is until that has succeeded.
fn prepare(observed: &Observed, requested: &Requested) -> Step {
    let incarnation = observed.incarnation + 1;
    let restore = |name: &str| Restore {
        name: name.to_owned(),
        uid: requested.uid.clone(),
        incarnation,
    };
    let Some(restorer) = &observed.restorer else {
        return restore(&observed.member_name(observed.next_ordinal()));
    };
    let is_ours = restorer.restore == requested.uid && restorer.incarnation == incarnation;
    let name = restorer.member.clone();
    match restorer.state {
        RestorerState::Terminating => wait("the Pod of an earlier restore is being deleted"),
        _ if !is_ours => EndRestore,
        RestorerState::Failed => RetryRestore { name },
        RestorerState::Running if observed.disk(&name).is_none() => restore(&name),
        RestorerState::Running => wait(format!(
            "the snapshot is being written to the disk of {name}"
        )),
        RestorerState::Succeeded => BeginRestore {
            name: requested.name.clone(),
            uid: requested.uid.clone(),
            first: name,
        },
    }
}

/// Removes everything of an earlier incarnation, all at once, before the new one begins, and a restore that was given
/// up.
fn leave_behind(observed: &Observed) -> Option<Step> {
    if let Some(restorer) = &observed.restorer
        && restorer.incarnation != observed.incarnation
        && restorer.state != RestorerState::Terminating
    {
        return Some(EndRestore);
    }
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
fn bootstrap(observed: &Observed) -> Step {
    if observed.quorum {
        return RecordId;
    }
    let name = observed.first.clone();
    let instance = observed.instances.get(&name);
    let disk = instance.and_then(|it| it.disk.as_ref());
    match instance.and_then(|it| it.pod.as_ref()) {
        Some(pod) if pod.disk_lost && observed.incarnation > 0 => return RetryRestore { name },
        Some(pod) if pod.terminating => return wait(format!("{name} is being deleted")),
        // It has nothing to lose yet, and nobody else to wait for.
        Some(pod) if pod.ended || observed.is_outdated(pod) => return Restart { name },
        Some(_) if disk.is_some() => return wait(format!("{name} starts")),
        _ => {}
    }
    let is_deleted = disk.is_some_and(|disk| disk.terminating);
    let Some(restore) = &observed.restore else {
        return if is_deleted {
            wait(format!("the disk of {name} is being deleted"))
        } else {
            Bootstrap { name }
        };
    };
    match observed.restorer.as_ref().map(|it| it.state) {
        Some(RestorerState::Terminating) => wait("the Pod of an earlier restore is being deleted"),
        // The Pod keeps the disk.
        Some(RestorerState::Failed) => RetryRestore { name },
        Some(_) if is_deleted => RetryRestore { name },
        Some(RestorerState::Succeeded) => Bootstrap { name },
        Some(RestorerState::Running) if disk.is_some() => wait(format!(
            "the snapshot is being written to the disk of {name}"
        )),
        None if is_deleted => wait(format!("the disk of {name} is being deleted")),
        Some(RestorerState::Running) | None => Restore {
            name,
            uid: restore.clone(),
            incarnation: observed.incarnation,
        },
    }
}

/// What is left to do when no majority answers: start what has a disk, and tell whether that can be enough.
fn without_quorum(observed: &Observed) -> Step {
    for member in &observed.members {
        let Some(instance) = observed.instances.get(&member.name) else {
            continue;
        };
        let has_disk = instance.disk.as_ref().is_some_and(|disk| !disk.terminating);
        match &instance.pod {
            None if has_disk => return start(observed, &member.name),
            Some(pod) if observed.is_stuck(&member.name, pod) => {
                let name = member.name.clone();
                return Restart { name };
            }
            _ => {}
        }
    }
    let voters = observed.voters().count();
    let lost = observed.lost_voters();
    Wait(if voters - lost < majority(voters) {
        Waiting::MajorityLost { lost, of: voters }
    } else {
        Waiting::NoQuorum
    })
}

/// The steps of a cluster whose majority answers.
fn maintain(observed: &Observed) -> Step {
    let members = &observed.members;
    if !observed.corrupt.is_empty() {
        return Wait(Waiting::Corrupt(observed.corrupt.clone()));
    }
    // A member that has lost its data has forgotten what it acknowledged, and for whom it voted. Under its old ID,
    // it could elect a leader that lacks acknowledged writes.
    if let Some(lost) = members.iter().find(|member| observed.is_lost(member)) {
        let (name, id) = (lost.name.clone(), lost.id);
        return if lost.learner || observed.can_do_without(lost) {
            RemoveLost { name, id }
        } else {
            Wait(Waiting::CannotReplace(name))
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
    let restorer = observed.restorer.as_ref();
    if restorer.is_some_and(|it| it.state != RestorerState::Terminating) {
        return EndRestore;
    }
    for member in members {
        let name = member.name.clone();
        match observed.pod(&name) {
            None => return start(observed, &name),
            Some(pod) if pod.terminating => return wait(format!("{name} is being deleted")),
            Some(pod) if observed.is_stuck(&name, pod) => return Restart { name },
            Some(_) if !member.started && observed.disk(&name).is_none() => {
                return start(observed, &name);
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
        let introduced = observed.pod(&name).is_some_and(|pod| pod.introduced);
        return if observed.staying().count() >= observed.size {
            // The spec has changed since it joined.
            Remove { name, id }
        } else if learner.started {
            Promote { name, id }
        } else if !introduced {
            Introduce { name }
        } else {
            wait(format!("{name} starts"))
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
    let is_correctable =
        |(member, pod): &(&Member, &Pod)| !pod.ready && observed.is_corrected(&member.name, pod);
    if let Some((member, _)) = pods().find(is_correctable) {
        let name = member.name.clone();
        return Restart { name };
    }
    if let Some((member, _)) = pods().find(|(_, pod)| !pod.ready) {
        return wait(format!("{} is not ready", member.name));
    }
    if members.len() > observed.size
        && let Some(leaving) = members.iter().find(|member| observed.is_leaving(member))
    {
        return leave(observed, leaving);
    }
    if observed.staying().count() < observed.size {
        let name = observed.member_name(observed.next_ordinal());
        return AddLearner { name };
    }
    if let Some(step) = upgrade(observed) {
        return step;
    }
    if members.len() > observed.size
        && let Some(last) = observed.followers().last()
    {
        return leave(observed, last);
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

/// Lets a member go, after it has handed over leadership.
fn leave(observed: &Observed, member: &Member) -> Step {
    let name = member.name.clone();
    let is_leader = observed.leader == Some(member.id);
    let mut followers = observed.followers();
    let staying = followers.find(|it| !observed.is_leaving(it));
    match staying.or_else(|| observed.followers().next()) {
        Some(to) if is_leader => MoveLeader {
            from: name,
            to: to.id,
        },
        _ => Remove {
            name,
            id: member.id,
        },
    }
}

/// One member at a time, the leader last: each change of the leader costs an election.
fn upgrade(observed: &Observed) -> Option<Step> {
    let is_outdated = |member: &&Member| {
        let pod = observed.pod(&member.name);
        pod.is_some_and(|pod| observed.is_outdated(pod))
    };
    let outdated = observed.leader_last().find(is_outdated)?;
    if observed.upgrade_skips() {
        let (from, to) = (observed.oldest_version()?, observed.version);
        return Some(Wait(Waiting::UpgradeSkips { from, to }));
    }
    let name = outdated.name.clone();
    let is_leader = observed.leader == Some(outdated.id);
    Some(match observed.followers().next() {
        Some(to) if is_leader => MoveLeader {
            from: name,
            to: to.id,
        },
        _ => Restart { name },
    })
}

fn start(observed: &Observed, name: &str) -> Step {
    Start {
        name: name.to_owned(),
        version: observed.version_for(name),
    }
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

    fn disk(&self, name: &str) -> Option<&Disk> {
        self.instances.get(name)?.disk.as_ref()
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

    /// The version with which a member starts: the oldest that runs, unless it may be upgraded, because it has data, and
    /// all others are ready.
    fn version_for(&self, name: &str) -> Version {
        let is_ready = |name: &str| self.pod(name).is_some_and(|pod| pod.ready);
        let mut members = self.members.iter();
        let may_upgrade = members.all(|member| {
            let has_data = member.started && !member.learner;
            has_data && (member.name == name || is_ready(&member.name))
        });
        match self.oldest_version() {
            Some(oldest) if self.upgrade_skips() || !may_upgrade => oldest,
            _ => self.version,
        }
    }

    /// Whether the Pod is not as the spec asks.
    fn is_outdated(&self, pod: &Pod) -> bool {
        pod.changed || pod.asked != self.version
    }

    /// Whether the Pod would be another one if it were made now. Never while another member hangs on what the spec asks:
    /// that would spread.
    fn is_corrected(&self, name: &str, pod: &Pod) -> bool {
        let others = self.instances.iter().filter(|(it, _)| *it != name);
        let mut others = others.filter_map(|(_, instance)| instance.pod.as_ref());
        let hangs = others.any(|it| !it.running && !it.terminating && !self.is_outdated(it));
        (pod.changed || pod.asked != self.version_for(name)) && !hangs
    }

    /// Whether the Pod has to be made anew to run: it has ended for good, or the spec has been corrected.
    fn is_stuck(&self, name: &str, pod: &Pod) -> bool {
        !pod.terminating && (pod.ended || (!pod.running && self.is_corrected(name, pod)))
    }

    /// Whether the data of a member is gone, or out of reach while the others have it.
    fn is_lost(&self, member: &Member) -> bool {
        let pod = self.pod(&member.name);
        let ready = pod.is_some_and(|pod| pod.ready);
        let empty = pod.is_some_and(|pod| pod.disk_lost);
        let gone = match self.disk(&member.name) {
            None => !ready,
            // Kubernetes keeps a disk that is being deleted as long as a Pod uses it.
            Some(disk) if disk.terminating => pod.is_none() || (self.quorum && !ready),
            Some(_) => false,
        };
        member.started && (empty || gone)
    }

    /// Whether a member serves, and its disk goes as soon as its Pod does.
    fn is_leaving(&self, member: &Member) -> bool {
        let disk = self.disk(&member.name);
        member.started && disk.is_none_or(|disk| disk.terminating)
    }

    /// The voters that stay.
    fn staying(&self) -> impl Iterator<Item = &Member> {
        self.voters().filter(|member| !self.is_leaving(member))
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
        if self.members.iter().all(|member| version(member).is_some()) {
            running.or(self.recorded)
        } else {
            running.into_iter().chain(self.recorded).min()
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
                running: true,
                ready: true,
                introduced: true,
                guarded: true,
                admitted: true,
                asked: OLD,
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
            first: "c-0".to_owned(),
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

    fn remove_lost(name: &str, id: u64) -> Step {
        let (name, id) = (name.to_owned(), Id(id));
        RemoveLost { name, id }
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
        assert_eq!(next(&observed), RecordId);
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
                (pod.version, pod.asked) = (Some(NEW), NEW);
            });
        }
        let from = "c-0".to_owned();
        assert_eq!(next(&observed), MoveLeader { from, to: Id(2) });
        observed.leader = Some(Id(2));
        assert_eq!(next(&observed), restart("c-0"));

        let mut single = healthy(1);
        single.version = NEW;
        assert_eq!(next(&single), restart("c-0"));
    }

    #[test]
    fn a_member_that_cannot_start_is_restarted_when_the_spec_changes() {
        let mut observed = healthy(3);
        pod(&mut observed, "c-2", |pod| pod.ready = false);
        assert_eq!(next(&observed), wait("c-2 is not ready"));
        pod(&mut observed, "c-2", |pod| pod.changed = true);
        assert_eq!(next(&observed), restart("c-2"));
        // What the spec asks for now does not run. It must not spread.
        pod(&mut observed, "c-1", |pod| {
            (pod.ready, pod.running) = (false, false);
        });
        assert_eq!(next(&observed), wait("c-1 is not ready"));
    }

    #[test]
    fn an_upgrade_is_taken_back_until_all_members_run_it() {
        let mut observed = healthy(3);
        pod(&mut observed, "c-2", |pod| {
            (pod.version, pod.asked) = (Some(NEW), NEW);
        });
        assert_eq!(next(&observed), restart("c-2"));
        // The image of the version does not exist, so the member never ran it.
        pod(&mut observed, "c-2", |pod| {
            (pod.version, pod.ready) = (None, false);
        });
        assert_eq!(next(&observed), restart("c-2"));
        let mut observed = healthy(1);
        pod(&mut observed, "c-0", |pod| {
            (pod.version, pod.running, pod.ready) = (None, false, false);
            pod.asked = NEW;
        });
        observed.quorum = false;
        assert_eq!(observed.oldest_version(), Some(OLD));
        assert_eq!(next(&observed), restart("c-0"));

        let mut observed = healthy(3);
        for name in ["c-0", "c-1", "c-2"] {
            pod(&mut observed, name, |pod| {
                (pod.version, pod.asked) = (Some(NEW), NEW);
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
            (pod.version, pod.running, pod.ready) = (None, false, false);
        });
        assert_eq!(observed.oldest_version(), None);
        assert_eq!(next(&observed), wait("c-0 starts"));
        pod(&mut observed, "c-0", |pod| pod.changed = true);
        assert_eq!(next(&observed), restart("c-0"));
    }

    #[test]
    fn an_upgrade_that_skips_a_version_is_refused() {
        let mut observed = healthy(1);
        observed.version = Version { minor: 8, patch: 0 };
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
        assert_eq!(next(&observed), remove_lost("c-1", 2));
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
        let waiting = Waiting::CannotReplace("c-1".to_owned());
        assert_eq!(next(&observed), Wait(waiting));
    }

    fn delete_disk(observed: &mut Observed, name: &str) {
        let instance = observed.instances.get_mut(name).unwrap();
        instance.disk.as_mut().unwrap().terminating = true;
    }

    #[test]
    fn a_member_whose_disk_is_deleted_leaves_when_another_has_its_data() {
        let mut observed = healthy(3);
        for name in ["c-0", "c-1", "c-2"] {
            delete_disk(&mut observed, name);
        }
        let name = "c-3".to_owned();
        assert_eq!(next(&observed), AddLearner { name: name.clone() });
        observed.instances.insert(name.clone(), instance());
        observed.members.push(Member {
            name,
            id: Id(4),
            learner: false,
            started: true,
        });
        let from = "c-0".to_owned();
        assert_eq!(next(&observed), MoveLeader { from, to: Id(4) });
        observed.leader = Some(Id(4));
        assert_eq!(next(&observed), remove("c-0", 1));
        // One of three: the new one takes its place.
        for name in ["c-0", "c-1"] {
            let instance = observed.instances.get_mut(name).unwrap();
            instance.disk.as_mut().unwrap().terminating = false;
        }
        assert_eq!(next(&observed), remove("c-2", 3));

        // Its node is gone. The others can do without it.
        let mut observed = healthy(3);
        delete_disk(&mut observed, "c-2");
        pod(&mut observed, "c-2", |pod| pod.ready = false);
        assert_eq!(next(&observed), remove_lost("c-2", 3));
        // Without a majority, it may be the last copy: Kubernetes keeps the disk as long as the Pod.
        delete_disk(&mut observed, "c-1");
        observed.quorum = false;
        assert_eq!(next(&observed), Wait(Waiting::NoQuorum));
        for name in ["c-1", "c-2"] {
            observed.instances.get_mut(name).unwrap().pod = None;
        }
        let lost = Waiting::MajorityLost { lost: 2, of: 3 };
        assert_eq!(next(&observed), Wait(lost));
    }

    #[test]
    fn a_pod_that_cannot_run_is_made_anew() {
        let mut observed = healthy(3);
        pod(&mut observed, "c-1", |pod| {
            (pod.ended, pod.running, pod.ready) = (true, false, false);
        });
        assert_eq!(next(&observed), restart("c-1"));
        observed.quorum = false;
        assert_eq!(next(&observed), restart("c-1"));

        // Without a majority, only what does not run: the others may just elect a leader.
        let mut observed = healthy(3);
        observed.quorum = false;
        for name in ["c-0", "c-1", "c-2"] {
            pod(&mut observed, name, |pod| {
                (pod.changed, pod.ready) = (true, false)
            });
        }
        assert_eq!(next(&observed), Wait(Waiting::NoQuorum));
        pod(&mut observed, "c-2", |pod| pod.running = false);
        assert_eq!(next(&observed), restart("c-2"));
    }

    #[test]
    fn a_learner_follows_what_has_changed_since_it_joined() {
        let mut observed = healthy(3);
        observed.size = 5;
        let name = "c-3".to_owned();
        observed.instances.insert(name.clone(), instance());
        observed.members.push(Member {
            name: name.clone(),
            id: Id(4),
            learner: true,
            started: false,
        });
        assert_eq!(next(&observed), wait("c-3 starts"));
        pod(&mut observed, "c-3", |pod| pod.introduced = false);
        assert_eq!(next(&observed), Introduce { name: name.clone() });
        observed.instances.get_mut("c-3").unwrap().disk = None;
        assert_eq!(next(&observed), Start { name, version: OLD });
        observed.instances.get_mut("c-3").unwrap().disk = Some(Disk::default());
        observed.size = 3;
        assert_eq!(next(&observed), remove("c-3", 4));
    }

    fn request(overwrite: bool) -> Requested {
        Requested {
            name: "restore".to_owned(),
            uid: "r".to_owned(),
            created: None,
            overwrite,
        }
    }

    fn restorer(state: RestorerState, incarnation: i32, member: &str) -> Option<Restorer> {
        Some(Restorer {
            state,
            incarnation,
            restore: "r".to_owned(),
            member: member.to_owned(),
        })
    }

    fn restore(name: &str, incarnation: i32) -> Step {
        Restore {
            name: name.to_owned(),
            uid: "r".to_owned(),
            incarnation,
        }
    }

    #[test]
    fn nothing_is_restored_unasked_over_data_that_lives() {
        let mut observed = healthy(3);
        observed.requested.push(request(false));
        assert_eq!(next(&observed), Done);
        // One disk of three is lost, and the members cannot agree for other reasons.
        observed.quorum = false;
        lose_disk(&mut observed, "c-0");
        assert_eq!(next(&observed), Wait(Waiting::NoQuorum));
        lose_disk(&mut observed, "c-1");
        assert_eq!(next(&observed), restore("c-3", 1));
        observed.requested.clear();
        let lost = Waiting::MajorityLost { lost: 2, of: 3 };
        assert_eq!(next(&observed), Wait(lost));

        // A newer request that has to wait hides no older one.
        let mut observed = healthy(3);
        observed.requested = vec![request(false), request(true)];
        assert_eq!(next(&observed), restore("c-3", 1));
        observed.requested.pop();
        observed.revision = Some(1);
        assert_eq!(next(&observed), restore("c-3", 1));
    }

    #[test]
    fn a_restore_removes_nothing_before_the_snapshot_is_on_a_disk() {
        let mut observed = healthy(3);
        observed.requested.push(request(true));
        assert_eq!(next(&observed), restore("c-3", 1));
        observed.restorer = restorer(RestorerState::Running, 1, "c-3");
        // The Pod is made before its disk.
        assert_eq!(next(&observed), restore("c-3", 1));
        let disk = Some(Disk {
            incarnation: 1,
            terminating: false,
        });
        let written = Instance { pod: None, disk };
        observed.instances.insert("c-3".to_owned(), written);
        assert!(matches!(next(&observed), Wait(Waiting::For(_))));
        observed.restorer = restorer(RestorerState::Failed, 1, "c-3");
        let name = "c-3".to_owned();
        assert_eq!(next(&observed), RetryRestore { name: name.clone() });
        observed.restorer = restorer(RestorerState::Succeeded, 1, "c-3");
        let begin = BeginRestore {
            name: "restore".to_owned(),
            uid: "r".to_owned(),
            first: name.clone(),
        };
        assert_eq!(next(&observed), begin);

        // It has begun.
        observed.requested.clear();
        (observed.incarnation, observed.founded, observed.quorum) = (1, false, false);
        (observed.first, observed.restore) = (name.clone(), Some("r".to_owned()));
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
        assert_eq!(next(&observed), Bootstrap { name: name.clone() });

        // The disk is lost before the cluster is founded.
        delete_disk(&mut observed, "c-3");
        assert_eq!(next(&observed), RetryRestore { name });
        observed.restorer = None;
        assert_eq!(next(&observed), wait("the disk of c-3 is being deleted"));
        observed.instances.clear();
        assert_eq!(next(&observed), restore("c-3", 1));

        let mut founded = healthy(1);
        founded.restorer = restorer(RestorerState::Succeeded, 0, "c-0");
        assert_eq!(next(&founded), EndRestore);
        // Its EtcdRestore was deleted.
        founded.restorer = restorer(RestorerState::Running, 1, "c-3");
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
        // Not with a version that has not been tried yet.
        observed.version = NEW;
        let name = "c-1".to_owned();
        assert_eq!(next(&observed), Start { name, version: OLD });
    }

    #[test]
    fn a_cluster_whose_data_differs_is_left_alone() {
        let mut observed = healthy(3);
        lose_disk(&mut observed, "c-1");
        observed.corrupt = vec!["c-2".to_owned()];
        let corrupt = Waiting::Corrupt(observed.corrupt.clone());
        assert_eq!(next(&observed), Wait(corrupt));
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
