//! A member as a state machine without clock and network.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    assignment::{Assignment, Phase},
    identity::Identity,
    notes::{Acted, Notes},
};
use crate::slots::{Slot, Slots};

/// What a process knows of the assignment, and what it does about it.
///
/// The caller shows it each assignment, and tells when a slot has stopped or when its cache is full. All of
/// that ends with the permit of the process, of which this type knows nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    identity: Identity,
    current: Option<Seen>,
    /// The UIDs of the objects that came before.
    before: BTreeSet<String>,
    /// The slots that it serves, and their epochs.
    held: BTreeMap<Slot, u64>,
    /// The slots that it stops to serve: their fences are still open.
    draining: BTreeMap<Slot, u64>,
    /// The slots that come to it, and whose cache is full already.
    filled: Slots,
    leaving: bool,
    given_up: bool,
}

/// The assignment on which a member acts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    object: String,
    assignment: Assignment,
}

/// What the caller has to do now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Serve these slots, with a new fence for this epoch, as soon as their cache is full.
    pub(crate) start: Vec<(Slot, u64)>,
    /// Start no reconcile of these slots any more. When the last one has ended, or has been given up, close
    /// the fence of this epoch for ever, and call [`Member::drained`].
    pub(crate) drain: Vec<(Slot, u64)>,
}

/// A member was shown an object after a later one. It cannot tell which of them still exists: the process
/// must end, as if its permit were over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the API server went back to an assignment that it had already replaced")]
pub(crate) struct Backwards;

impl Member {
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            identity,
            current: None,
            before: BTreeSet::new(),
            held: BTreeMap::new(),
            draining: BTreeMap::new(),
            filled: Slots::NONE,
            leaving: false,
            given_up: false,
        }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Acts on the assignment of the object with this UID, unless it is older than what was seen before.
    /// What [`notes`](Self::notes) says afterwards may be written once no slot of `drain` starts a reconcile.
    pub(crate) fn see(
        &mut self,
        object: &str,
        assignment: &Assignment,
    ) -> Result<Changes, Backwards> {
        if self.before.contains(object) {
            return Err(Backwards);
        }
        let mut changes = Changes::default();
        match &self.current {
            Some(seen) if seen.object != object => {
                self.before.insert(seen.object.clone());
                // What it holds, it holds under the object before.
                changes = self.stop_all();
            }
            Some(seen) if assignment.number() <= seen.assignment.number() => return Ok(changes),
            _ => {}
        }
        self.current = Some(Seen {
            object: object.to_owned(),
            assignment: assignment.clone(),
        });
        let Changes { start, drain } = self.act();
        changes.start.extend(start);
        changes.drain.extend(drain);
        Ok(changes)
    }

    /// The cache of a slot that comes to this member is full.
    pub(crate) fn filled(&mut self, slot: Slot) {
        if self.coming().contains(slot) {
            self.filled.insert(slot);
        }
    }

    /// A slot has stopped: its fence is closed for ever.
    pub(crate) fn drained(&mut self, slot: Slot) -> Changes {
        self.draining.remove(&slot);
        self.act()
    }

    /// The process wants to end: the leader passes its slots to others. It serves them until then.
    pub(crate) fn leave(&mut self) {
        self.leaving = true;
    }

    /// The process ends without waiting for others: all slots stop, and none starts again.
    pub(crate) fn give_up(&mut self) -> Changes {
        self.leaving = true;
        self.given_up = true;
        self.stop_all()
    }

    /// Whether a leaving member has nothing left to do: it sees no assignment any more, and releases its Lease.
    pub(crate) fn is_done(&self) -> bool {
        let owned = || {
            let current = self.current.as_ref();
            current.map_or(Slots::NONE, |seen| seen.assignment.owned_by(&self.identity))
        };
        let stopped = self.held.is_empty() && self.draining.is_empty();
        self.leaving && stopped && (self.given_up || owned().is_empty())
    }

    /// What to write on the Lease.
    pub(crate) fn notes(&self) -> Notes {
        let acted = self.current.as_ref().map(|seen| Acted {
            object: seen.object.clone(),
            number: seen.assignment.number(),
        });
        Notes {
            acted,
            draining: self.draining.keys().copied().collect(),
            filling: self.filling(),
            leaving: self.leaving,
        }
    }

    /// The epoch under which this member serves a slot, if it does.
    #[cfg(test)]
    pub(crate) fn holds(&self, slot: Slot) -> Option<u64> {
        self.held.get(&slot).copied()
    }

    /// The slots that it serves, and their epochs.
    pub(crate) fn held(&self) -> impl Iterator<Item = (Slot, u64)> {
        self.held.iter().map(|(slot, epoch)| (*slot, *epoch))
    }

    /// The slots that it stops to serve, and their epochs: their fences are still open.
    pub(crate) fn draining(&self) -> impl Iterator<Item = (Slot, u64)> {
        self.draining.iter().map(|(slot, epoch)| (*slot, *epoch))
    }

    /// The slots that come to this member, and whose objects are not all in memory yet. When those of a slot are,
    /// the caller calls [`filled`](Self::filled).
    pub(crate) fn filling(&self) -> Slots {
        if self.given_up {
            return Slots::NONE;
        }
        let served: Slots = self.held.keys().copied().collect();
        self.coming().without(self.filled).without(served)
    }

    /// The slots whose objects must be in memory.
    pub(crate) fn cached(&self) -> Slots {
        let served = self.held.keys().chain(self.draining.keys());
        let served: Slots = served.copied().collect();
        if self.given_up {
            return served;
        }
        served.and(self.coming())
    }

    /// The slots of which this member is to be the next owner.
    pub(crate) fn coming(&self) -> Slots {
        self.assigned(|phase| phase.to() == Some(&self.identity))
    }

    /// Those of them that the owner before has to stop.
    pub(crate) fn resting(&self) -> Slots {
        self.assigned(|phase| phase.to() == Some(&self.identity) && !phase.serves())
    }

    fn assigned(&self, is: impl Fn(&Phase) -> bool) -> Slots {
        let current = self.current.as_ref();
        current.map_or(Slots::NONE, |seen| seen.assignment.slots(is))
    }

    fn stop_all(&mut self) -> Changes {
        let held = std::mem::take(&mut self.held);
        self.draining.extend(&held);
        Changes {
            start: Vec::new(),
            drain: held.into_iter().collect(),
        }
    }

    /// Brings what this member does in line with the assignment that it saw last.
    fn act(&mut self) -> Changes {
        let mut changes = Changes::default();
        let Some(Seen { assignment, .. }) = &self.current else {
            return changes;
        };
        for (slot, share) in assignment.shares() {
            let mine = share.phase.serves() && share.phase.owner() == Some(&self.identity);
            let epoch = mine.then_some(share.epoch);
            if let Some(old) = self.held.get(&slot).copied()
                && epoch != Some(old)
            {
                self.held.remove(&slot);
                self.draining.insert(slot, old);
                changes.drain.push((slot, old));
            }
            // A slot that comes back waits until it has stopped.
            if let Some(epoch) = epoch
                && !self.given_up
                && !self.draining.contains_key(&slot)
                && self.held.insert(slot, epoch).is_none()
            {
                changes.start.push((slot, epoch));
            }
        }
        self.filled = self.filled.within(self.coming());
        changes
    }
}
