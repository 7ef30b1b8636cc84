//! A state of the whole world.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    ops::Deref,
    rc::Rc,
};

use crate::shards::{
    assignment::{Assignment, Phase},
    deal::{MemberView, Standing},
    identity::Identity,
    member::Member,
    notes::Notes,
};
use crate::slots::{Slot, Slots};

/// A shared value, whose hash is computed once. Values with the same hash count as the same.
#[derive(Debug)]
pub(super) struct Shared<T>(Rc<T>, u64);

impl<T: Hash> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        let hash = hash(&value);
        Self(Rc::new(value), hash)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), self.1)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.1.hash(state);
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.1 == other.1
    }
}

pub(super) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What was written once: the number of the object, and its content.
#[derive(Debug, Hash)]
pub(super) struct Written {
    pub(super) object: u8,
    pub(super) assignment: Assignment,
}

#[derive(Clone, Debug, Hash)]
pub(super) enum Process {
    /// It may join.
    Unborn,
    Runs(Shared<Member>),
    /// Its permit is over. Its Lease exists, and says what the member said last.
    Over(Shared<Notes>),
    Gone,
}

/// What some dealer may know of a member: perhaps not even that it exists.
pub(super) type Known = Option<Shared<MemberView>>;

#[derive(Clone, Debug, Hash)]
pub(super) struct State {
    /// What was written, as far as it matters. The last one is what the server has, if it has the object.
    pub(super) written: Vec<Shared<Written>>,
    pub(super) exists: bool,
    pub(super) processes: Vec<Process>,
    /// For each member, all that was ever true of it since the object was made. What a dealer knows is one of
    /// these, for each member.
    pub(super) known: Vec<Vec<Known>>,
    /// How much may still happen.
    pub(super) left: Left,
}

/// How much may still happen.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Left {
    /// Permits that end, members that leave or give up, deletions of the object.
    pub(super) faults: u8,
    /// Writes by a dealer to whom something is not known that is true.
    pub(super) stale: u8,
}

impl Left {
    /// As much as it may be.
    pub(super) const ANY: u8 = u8::MAX;
}

impl State {
    /// A new object, which nobody has seen, `running` members that run, and `unborn` ones that may join.
    pub(super) fn new(slots: u8, running: usize, unborn: usize, left: Left) -> Self {
        let first = Written {
            object: 0,
            assignment: Assignment::new(slots),
        };
        let process = |index| match index < running {
            true => Process::Runs(Shared::new(Member::new(identity(index)))),
            false => Process::Unborn,
        };
        let count = running + unborn;
        let mut state = Self {
            written: vec![Shared::new(first)],
            exists: true,
            processes: (0..count).map(process).collect(),
            known: vec![Vec::new(); count],
            left,
        };
        state.normalize();
        state
    }

    pub(super) fn current(&self) -> &Shared<Written> {
        self.written.last().expect("the first object")
    }

    pub(super) fn running(&self) -> impl Iterator<Item = (usize, &Shared<Member>)> {
        let processes = self.processes.iter().enumerate();
        processes.filter_map(|(index, process)| match process {
            Process::Runs(member) => Some((index, member)),
            _ => None,
        })
    }

    /// What is true of a member now.
    pub(super) fn truth(&self, index: usize) -> Known {
        let view = |notes: &Notes| {
            self.essence(MemberView {
                identity: identity(index),
                standing: match notes.leaving {
                    true => Standing::Leaving,
                    false => Standing::Live,
                },
                acted: notes.acted_on(object(self.current().object)),
                draining: notes.draining,
                filling: notes.filling,
            })
        };
        Some(Shared::new(match &self.processes[index] {
            Process::Unborn => return None,
            Process::Runs(member) => view(&member.notes()),
            Process::Over(notes) => view(notes),
            Process::Gone => gone(index),
        }))
    }

    /// The view that means the same for the current assignment, and for all that follow it, as this one: a
    /// member that has acted on it, and still drains or fills what the given one has not finished. What was true
    /// before an assignment cannot finish a phase that begins with it.
    fn essence(&self, view: MemberView) -> MemberView {
        let Some(acted) = view.acted else {
            return MemberView {
                draining: Slots::NONE,
                filling: Slots::NONE,
                ..view
            };
        };
        let assignment = &self.current().assignment;
        let (mut draining, mut filling) = (Slots::NONE, Slots::NONE);
        for (slot, share) in assignment.shares() {
            match &share.phase {
                Phase::Held { .. } => {}
                Phase::Free if view.draining.contains(slot) => {
                    draining.insert(slot);
                }
                Phase::Free => {}
                Phase::Filling { to, since, .. } => {
                    if *to == view.identity && (acted < *since || view.filling.contains(slot)) {
                        filling.insert(slot);
                    }
                }
                Phase::Moving { owner, since, .. } => {
                    if *owner == view.identity && (acted < *since || view.draining.contains(slot)) {
                        draining.insert(slot);
                    }
                }
            }
        }
        MemberView {
            acted: Some(assignment.number()),
            draining,
            filling,
            ..view
        }
    }

    /// Remembers what is true, and forgets what cannot have any effect any more.
    pub(super) fn normalize(&mut self) {
        for index in 0..self.processes.len() {
            let mut known: Vec<_> = std::mem::take(&mut self.known[index])
                .into_iter()
                .map(|known| known.map(|view| Shared::new(self.essence(MemberView::clone(&view)))))
                .filter(|_| self.left.stale > 0)
                .chain([self.truth(index)])
                .collect();
            known.sort_by_key(hash);
            known.dedup();
            self.known[index] = known;
        }
        let joins = |process: &Process| matches!(process, Process::Unborn);
        if !self.processes.iter().any(joins) {
            let acted: Vec<_> = self.running().map(|(_, member)| member.notes()).collect();
            let last = self.current().clone();
            self.written.retain(|written| {
                let number = written.assignment.number();
                let matters = |notes: &Notes| {
                    let acted = notes.acted_on(object(written.object));
                    acted.is_none_or(|acted| acted <= number)
                };
                *written == last || acted.iter().any(matters)
            });
        }
    }

    /// Starts to remember anew: whoever deals a new object has listed the members since.
    pub(super) fn forget(&mut self) {
        for known in &mut self.known {
            known.clear();
        }
    }

    /// What the acting of all members on the object at first sight means for a dealer that does not look: the
    /// views of the object before.
    pub(super) fn misunderstand(&mut self) {
        for known in self.known.iter_mut().flatten() {
            if let Some(view) = known
                && view.standing != Standing::Gone
            {
                let view = MemberView {
                    acted: None,
                    ..MemberView::clone(view)
                };
                *known = Some(Shared::new(view));
            }
        }
    }

    /// Checks the invariants of [`shards`](crate::shards).
    pub(super) fn check(&self) -> Result<(), String> {
        let mut open: Vec<(Slot, usize)> = Vec::new();
        for (index, member) in self.running() {
            for (slot, _) in member.held().chain(member.draining()) {
                if let Some((_, other)) = open.iter().find(|(other, _)| *other == slot) {
                    let (one, another) = (identity(*other), identity(index));
                    return Err(format!("both {one} and {another} serve slot {slot}"));
                }
                open.push((slot, index));
            }
            let Some(acted) = member.notes().acted else {
                continue;
            };
            let is_it = |written: &&Shared<Written>| {
                object(written.object) == acted.object
                    && written.assignment.number() == acted.number
            };
            let written: Vec<_> = self.written.iter().filter(is_it).collect();
            for (slot, epoch) in member.held() {
                let says = |written: &&Shared<Written>| {
                    let share = written.assignment.share(slot);
                    share.is_some_and(|share| {
                        share.epoch == epoch && share.phase.owner() == Some(member.identity())
                    })
                };
                if !written.iter().any(says) {
                    let who = member.identity();
                    return Err(format!("{who} serves slot {slot}, unlike {acted:?} says"));
                }
            }
        }
        Ok(())
    }
}

/// A member that never writes again.
pub(super) fn gone(index: usize) -> MemberView {
    MemberView {
        identity: identity(index),
        standing: Standing::Gone,
        acted: None,
        draining: Slots::NONE,
        filling: Slots::NONE,
    }
}

/// The identity of a process.
pub(super) fn identity(index: usize) -> Identity {
    ["a", "b", "c", "d"][index].parse().expect("a name")
}

/// The UID of an object.
pub(super) fn object(number: u8) -> &'static str {
    ["u0", "u1", "u2", "u3"][usize::from(number)]
}
