//! What can happen in a state.

use std::collections::HashMap;

use super::{
    Bounds, Rules,
    state::{Known, Left, Process, Shared, State, Written, gone, hash, identity, object},
};
use crate::shards::{
    assignment::Assignment,
    deal::{MemberView, next},
    member::Member,
};
use crate::slots::{Slot, Slots};

/// One step, by the indexes of members and dealers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Join(usize),
    /// A member is shown what was written, by its index.
    See(usize, usize),
    Drained(usize, Slot),
    Leave(usize),
    GiveUp(usize),
    /// A member that is done releases its Lease.
    Release(usize),
    /// The permit of a member is over.
    Over(usize),
    /// The Lease of a member is deleted.
    Gone(usize),
    /// The object is deleted.
    Delete,
    /// The object is made anew.
    Create,
    /// A dealer that knows the first of what is known of each member, or another one, written as the digits of a
    /// number, writes the next assignment after this one.
    Deal(usize, usize),
}

impl Step {
    pub(super) const KINDS: usize = 10;

    pub(super) fn kind(self) -> usize {
        match self {
            Self::Join(_) => 0,
            Self::See(..) => 1,
            Self::Drained(..) => 2,
            Self::Leave(_) => 3,
            Self::GiveUp(_) => 4,
            Self::Release(_) => 5,
            Self::Over(_) => 6,
            Self::Gone(_) => 7,
            Self::Delete | Self::Create => 8,
            Self::Deal(..) => 9,
        }
    }
}

/// The results of the dealer, which is asked the same many times.
pub(super) type Deals = HashMap<u64, Option<Assignment>>;

impl State {
    pub(super) fn steps(&self, rules: Rules) -> Vec<Step> {
        let mut steps = Vec::new();
        for (index, process) in self.processes.iter().enumerate() {
            match process {
                Process::Unborn => steps.push(Step::Join(index)),
                Process::Runs(member) => {
                    let shown = (0..self.written.len()).map(|written| Step::See(index, written));
                    steps.extend(shown);
                    steps.extend(
                        member
                            .draining()
                            .map(|(slot, _)| Step::Drained(index, slot)),
                    );
                    if member.is_done() {
                        steps.push(Step::Release(index));
                    }
                    if self.left.faults > 0 {
                        steps.push(Step::Over(index));
                        let leaves = member.notes().leaving;
                        steps.push(if leaves {
                            Step::GiveUp(index)
                        } else {
                            Step::Leave(index)
                        });
                    }
                }
                Process::Over(_) => steps.push(Step::Gone(index)),
                Process::Gone => {}
            }
        }
        if !self.exists {
            steps.push(Step::Create);
        } else if self.left.faults > 0 {
            steps.push(Step::Delete);
        }
        let last = self.written.len() - 1;
        let first = if rules.compares_versions { last } else { 0 };
        let choices = self.known.iter().map(Vec::len).product();
        for written in first..=last {
            steps.extend((0..choices).map(|choice| Step::Deal(choice, written)));
        }
        steps
    }

    /// The state after a step; `None` if the step changes nothing, or leads out of the bounds.
    pub(super) fn after(
        &self,
        step: Step,
        rules: Rules,
        bounds: Bounds,
        deals: &mut Deals,
    ) -> Result<Option<Self>, String> {
        let mut state = self.clone();
        match step {
            Step::Join(index) => {
                state.processes[index] = Process::Runs(Shared::new(Member::new(identity(index))));
            }
            Step::See(index, written) => {
                let written = &self.written[written];
                let see = |member: &mut Member| {
                    // Who is shown an object after a later one ends: that is like any other end.
                    member
                        .see(object(written.object), &written.assignment)
                        .is_ok()
                };
                if !state.act(index, see) {
                    return Ok(None);
                }
                // The caches fill at once: that dealers hear of it later, and in any order, is all that matters.
                let Process::Runs(member) = &state.processes[index] else {
                    return Ok(None);
                };
                let mut views = vec![Member::clone(member)];
                for slot in member.filling().iter() {
                    for mut view in views.clone() {
                        view.filled(slot);
                        views.push(view);
                    }
                }
                for view in views {
                    state.processes[index] = Process::Runs(Shared::new(view));
                    let truth = state.truth(index);
                    state.known[index].push(truth);
                }
            }
            Step::Drained(index, slot) => {
                state.act(index, |member| {
                    member.drained(slot);
                    true
                });
            }
            Step::Leave(index) => {
                state.left.faults -= 1;
                state.act(index, |member| {
                    member.leave();
                    true
                });
            }
            Step::GiveUp(index) => {
                state.left.faults -= 1;
                let gives_up = |member: &mut Member| {
                    member.give_up();
                    true
                };
                if !state.act(index, gives_up) {
                    return Ok(None);
                }
            }
            Step::Over(index) => {
                let Process::Runs(member) = &self.processes[index] else {
                    return Ok(None);
                };
                state.left.faults -= 1;
                state.processes[index] = Process::Over(Shared::new(member.notes()));
            }
            Step::Release(index) | Step::Gone(index) => state.processes[index] = Process::Gone,
            Step::Delete => {
                state.left.faults -= 1;
                state.exists = false;
            }
            Step::Create => {
                let last = self.current();
                let count = last.assignment.shares().count();
                state.exists = true;
                if rules.lists_members {
                    state.forget();
                } else {
                    state.misunderstand();
                }
                state.written.push(Shared::new(Written {
                    object: last.object + 1,
                    assignment: Assignment::new(count as u8),
                }));
            }
            Step::Deal(mut choice, written) => {
                let old = &self.written[written];
                let number = old.assignment.number();
                if !self.exists || old.object != self.current().object || number >= bounds.number {
                    return Ok(None);
                }
                let truths = (0..self.known.len()).map(|index| self.truth(index));
                let known: Vec<_> = self
                    .known
                    .iter()
                    .map(|known| {
                        let one = known[choice % known.len()].clone();
                        choice /= known.len();
                        one
                    })
                    .collect();
                if truths.ne(known.iter().cloned()) {
                    state.left.stale -= u8::from(state.left.stale != Left::ANY);
                }
                let deal = || next(&old.assignment, &rules.believed(&known), None);
                let Some(assignment) = deals.entry(hash(&(old, &known))).or_insert_with(deal)
                else {
                    return Ok(None);
                };
                continues(&old.assignment, assignment)?;
                state.written.push(Shared::new(Written {
                    object: old.object,
                    assignment: assignment.clone(),
                }));
            }
        }
        if !rules.waits_for_permits {
            for (index, known) in state.known.iter_mut().enumerate() {
                known.push(Some(Shared::new(gone(index))));
            }
        }
        state.normalize();
        Ok(Some(state))
    }

    /// Lets a member do something; whether it changed.
    fn act(&mut self, index: usize, act: impl FnOnce(&mut Member) -> bool) -> bool {
        let Process::Runs(member) = &self.processes[index] else {
            return false;
        };
        let mut after = Member::clone(member);
        if !act(&mut after) || after == **member {
            return false;
        }
        self.processes[index] = Process::Runs(Shared::new(after));
        true
    }
}

impl Rules {
    /// What a dealer without some rules takes for true.
    fn believed(self, known: &[Known]) -> Vec<MemberView> {
        let known = known.iter().flatten();
        let mut views: Vec<_> = known.map(|view| MemberView::clone(view)).collect();
        for view in &mut views {
            if !self.waits_for_owners && view.acted.is_some() {
                view.draining = Slots::NONE;
            }
            if !self.waits_for_members && view.acted.is_none() {
                view.acted = Some(1);
            }
        }
        views
    }
}

/// Checks that an assignment may follow another one.
fn continues(old: &Assignment, new: &Assignment) -> Result<(), String> {
    for ((slot, before), (_, after)) in old.shares().zip(new.shares()) {
        let same = before.phase.owner() == after.phase.owner() && before.epoch == after.epoch;
        if !same && after.epoch != before.epoch + 1 {
            return Err(format!("slot {slot} goes from {before:?} to {after:?}"));
        }
    }
    Ok(())
}
