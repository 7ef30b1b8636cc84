//! Deals the slots. Pure: takes an assignment and what is known of the members, and returns the next assignment.

#[cfg(test)]
mod tests;

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    assignment::{Assignment, Phase, Share},
    identity::Identity,
};
use crate::slots::{Slot, Slots};

/// What a dealer knows of a member. It may be old: everything in it stays true.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemberView {
    pub(crate) identity: Identity,
    pub(crate) standing: Standing,
    /// The number of the last assignment of *this object* that the member has acted on.
    pub(crate) acted: Option<u64>,
    /// The slots that it had not stopped yet then.
    pub(crate) draining: Slots,
    /// The slots whose cache it filled then.
    pub(crate) filling: Slots,
}

/// Whether a member can own slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Standing {
    Live,
    /// It wants to end.
    Leaving,
    /// Its Lease does not exist any more, and it may still write for a while.
    Absent,
    /// It never writes again.
    Gone,
}

/// The next assignment; `None` if there is nothing to do. At most `limit` members own slots in the end.
///
/// `members` are all members: they come from a list of the Leases that began after the object of `old` was
/// seen. Whoever is not among them, but owns a slot, keeps it.
pub(crate) fn next(
    old: &Assignment,
    members: &[MemberView],
    limit: Option<usize>,
) -> Option<Assignment> {
    let known = members.iter().map(|member| (&member.identity, member));
    let mut table = Table {
        known: known.collect(),
        number: old.number() + 1,
        shares: old.shares().map(|(_, share)| share.clone()).collect(),
        open: Slots::NONE,
        lacks: BTreeMap::new(),
        spare: BTreeMap::new(),
    };
    table.settle();
    table.weigh(limit);
    table.deal_open();
    table.begin_moves();
    let changed = old.shares().map(|(_, share)| share).ne(&table.shares);
    changed.then(|| old.next(table.shares))
}

/// Whether a member has acted on a number that this object has yet to reach: somebody wrote an old text to it.
///
/// No dealer may go on from there, because the same numbers would come to mean something else. The object has
/// to be made anew, as an unreadable one. If only this view of it is old, deleting it by its resource version
/// fails.
pub(crate) fn was_turned_back(assignment: &Assignment, members: &[MemberView]) -> bool {
    let ahead = |member: &MemberView| member.acted > Some(assignment.number());
    members.iter().any(ahead)
}

struct Table<'a> {
    known: BTreeMap<&'a Identity, &'a MemberView>,
    /// The number of the next assignment.
    number: u64,
    shares: Vec<Share>,
    /// The slots that need an heir.
    open: Slots,
    /// How many slots each member gets.
    lacks: BTreeMap<Identity, usize>,
    /// How many slots each owner gives away.
    spare: BTreeMap<Identity, usize>,
}

impl Table<'_> {
    /// Whether this owner never writes again.
    fn is_gone(&self, identity: &Identity) -> bool {
        let member = self.known.get(identity);
        member.is_some_and(|member| member.standing == Standing::Gone)
    }

    /// Whether this member may get a slot. One that has not acted on this object could take an older object
    /// for a newer one.
    fn is_live(&self, identity: &Identity) -> bool {
        let member = self.known.get(identity);
        member.is_some_and(|member| member.standing == Standing::Live && member.acted.is_some())
    }

    /// Whether this owner can pass its slots on by itself.
    fn answers(&self, identity: &Identity) -> bool {
        let answers = |standing| matches!(standing, Standing::Live | Standing::Leaving);
        let member = self.known.get(identity);
        member.is_some_and(|member| answers(member.standing))
    }

    /// Whether nobody serves this slot, since the number `since`.
    fn has_stopped(&self, identity: &Identity, slot: Slot, since: u64) -> bool {
        let member = self.known.get(identity);
        let stopped =
            |member: &&MemberView| member.acted >= Some(since) && !member.draining.contains(slot);
        self.is_gone(identity) || member.is_some_and(stopped)
    }

    /// Whether no member serves this slot under an object before this one.
    fn is_free(&self, slot: Slot) -> bool {
        let mut members = self.known.keys();
        members.all(|identity| self.has_stopped(identity, slot, 1))
    }

    /// Ends each phase that can end.
    fn settle(&mut self) {
        for (index, slot) in (0..self.shares.len()).zip((0..).map_while(Slot::new)) {
            let share = &self.shares[index];
            let next = match &share.phase {
                Phase::Free => {
                    if self.is_free(slot) {
                        self.open.insert(slot);
                    }
                    continue;
                }
                Phase::Held { owner } if self.is_gone(owner) => {
                    self.open.insert(slot);
                    continue;
                }
                Phase::Held { .. } => continue,
                Phase::Filling { owner, to, .. } if self.is_gone(owner) => {
                    if !self.is_live(to) {
                        self.open.insert(slot);
                        continue;
                    }
                    share.pass(to.clone())
                }
                Phase::Filling { owner, to, since } => {
                    let member = self.known.get(to);
                    let filled = member.is_some_and(|member| {
                        member.acted >= Some(*since) && !member.filling.contains(slot)
                    });
                    let (owner, to) = (owner.clone(), to.clone());
                    let phase = match self.is_live(&to) {
                        false => Phase::Held { owner },
                        true if !filled => continue,
                        true => Phase::Moving {
                            owner,
                            to,
                            since: self.number,
                        },
                    };
                    Share {
                        epoch: share.epoch,
                        phase,
                    }
                }
                Phase::Moving { to, .. } if !self.is_live(to) => {
                    self.open.insert(slot);
                    continue;
                }
                Phase::Moving { owner, to, since } => {
                    if !self.has_stopped(owner, slot, *since) {
                        continue;
                    }
                    share.pass(to.clone())
                }
            };
            self.shares[index] = next;
        }
    }

    /// Finds who should get and who should give how many slots.
    fn weigh(&mut self, limit: Option<usize>) {
        let mut loads: BTreeMap<&Identity, usize> = BTreeMap::new();
        for (index, share) in self.shares.iter().enumerate() {
            let open = Slot::new(index as u8).is_some_and(|slot| self.open.contains(slot));
            if let (Some(heir), false) = (share.phase.heir(), open) {
                *loads.entry(heir).or_default() += 1;
            }
        }
        let load = |identity: &Identity| loads.get(identity).copied().unwrap_or_default();
        let live = self.known.keys().copied();
        let mut active: Vec<_> = live.filter(|identity| self.is_live(identity)).collect();
        // Who has most keeps most: fewest slots move.
        active.sort_by_key(|identity| Reverse(load(identity)));
        active.truncate(limit.unwrap_or(usize::MAX));
        if active.is_empty() {
            return;
        }
        let (each, more) = (
            self.shares.len() / active.len(),
            self.shares.len() % active.len(),
        );
        let mut spare: BTreeMap<Identity, usize> = BTreeMap::new();
        for (identity, load) in &loads {
            spare.insert((*identity).clone(), *load);
        }
        for (rank, identity) in active.into_iter().enumerate() {
            let target = each + usize::from(rank < more);
            let load = load(identity);
            self.lacks
                .insert(identity.clone(), target.saturating_sub(load));
            spare.insert(identity.clone(), load.saturating_sub(target));
        }
        self.spare = spare;
    }

    /// The next member that lacks a slot: one after the other, so that each gets neighbours.
    fn heir(&mut self) -> Option<Identity> {
        let (identity, lacks) = self.lacks.iter_mut().find(|(_, lacks)| **lacks > 0)?;
        *lacks -= 1;
        Some(identity.clone())
    }

    /// Gives the slots that nobody serves, and names another heir for those whose heir will not come.
    fn deal_open(&mut self) {
        for slot in self.open.iter() {
            let Some(to) = self.heir() else {
                return;
            };
            let share = &self.shares[usize::from(slot.number())];
            let next = match &share.phase {
                Phase::Moving { owner, since, .. } if !self.has_stopped(owner, slot, *since) => {
                    let (owner, since) = (owner.clone(), *since);
                    Share {
                        epoch: share.epoch,
                        phase: Phase::Moving { owner, to, since },
                    }
                }
                _ => share.pass(to),
            };
            self.shares[usize::from(slot.number())] = next;
        }
    }

    /// Begins to move slots away from one owner that still serves them.
    fn begin_moves(&mut self) {
        let Some(owner) = self.giver() else {
            return;
        };
        let mut spare = self.spare.get(&owner).copied().unwrap_or_default();
        for index in (0..self.shares.len()).rev() {
            let held =
                matches!(&self.shares[index].phase, Phase::Held { owner: own } if *own == owner);
            if !held || spare == 0 {
                continue;
            }
            let Some(to) = self.heir() else {
                return;
            };
            spare -= 1;
            self.shares[index].phase = Phase::Filling {
                owner: owner.clone(),
                to,
                since: self.number,
            };
        }
    }

    /// The one owner whose slots move: the one whose slots are on their way already, or one that leaves, or
    /// one that stands by, or the one that has most too many.
    fn giver(&self) -> Option<Identity> {
        let mut moves = self
            .shares
            .iter()
            .filter(|share| share.phase.to().is_some());
        let busy = moves.find_map(|share| share.phase.owner().filter(|owner| self.answers(owner)));
        if let Some(busy) = busy {
            return Some(busy.clone());
        }
        let spare = self.spare.iter();
        let givers = spare.filter(|(owner, spare)| **spare > 0 && self.answers(owner));
        let rank = |owner: &Identity| {
            let leaves = self.known.get(owner).map(|member| member.standing);
            (
                leaves != Some(Standing::Leaving),
                self.lacks.contains_key(owner),
            )
        };
        let first = givers.min_by_key(|(owner, spare)| (rank(owner), Reverse(**spare)));
        first.map(|(owner, _)| owner.clone())
    }
}
