//! From any state, if nothing fails any more, all slots are served in the end.

use super::{
    Bounds, Rules, State,
    state::{Left, Process, Shared, object},
    steps::{Deals, Step},
};
use crate::shards::{assignment::Phase, member::Member};

/// No history needs more rounds.
const ROUNDS: usize = 60;

impl State {
    /// Lets everything happen that has to happen, until nothing is left.
    pub(super) fn recovers(&self, rules: Rules) -> Result<(), String> {
        let bounds = Bounds {
            number: u64::MAX,
            sample: 1,
        };
        let mut state = self.clone();
        state.left = Left {
            faults: 0,
            stale: 0,
        };
        let mut deals = Deals::new();
        for _ in 0..ROUNDS {
            let mut changed = false;
            let mut happen = |state: &mut Self, step| -> Result<(), String> {
                if let Some(after) = state.after(step, rules, bounds, &mut deals)? {
                    *state = after;
                    changed = true;
                }
                Ok(())
            };
            for index in 0..state.processes.len() {
                let last = state.written.len() - 1;
                if let Process::Runs(member) = &state.processes[index] {
                    // The API server shows the object that it has, and no earlier one. Who took an earlier one
                    // for a later one learns that it was wrong, and ends.
                    let current = state.current().clone();
                    let backwards = member.notes().acted_on(object(current.object)).is_none()
                        && Member::clone(member)
                            .see(object(current.object), &current.assignment)
                            .is_err();
                    if backwards {
                        let notes = Shared::new(member.notes());
                        state.processes[index] = Process::Over(notes);
                    } else {
                        happen(&mut state, Step::See(index, last))?;
                    }
                }
                if let Process::Runs(member) = state.processes[index].clone() {
                    for (slot, _) in member.draining() {
                        happen(&mut state, Step::Drained(index, slot))?;
                    }
                    if member.is_done() {
                        happen(&mut state, Step::Release(index))?;
                    }
                }
                if matches!(state.processes[index], Process::Over(_)) {
                    happen(&mut state, Step::Gone(index))?;
                }
            }
            if !state.exists {
                happen(&mut state, Step::Create)?;
            }
            state.forget();
            state.normalize();
            let last = state.written.len() - 1;
            happen(&mut state, Step::Deal(0, last))?;
            state.check()?;
            if !changed {
                return state.is_settled();
            }
        }
        Err(format!(
            "no rest after {ROUNDS} rounds: {:?}",
            state.current()
        ))
    }

    /// Whether live members serve all slots evenly, if there are any.
    fn is_settled(&self) -> Result<(), String> {
        let assignment = &self.current().assignment;
        let count = assignment.shares().count();
        let live: Vec<_> = self
            .running()
            .filter(|(_, member)| !member.notes().leaving)
            .collect();
        let wrong = |what: &str| Err(format!("{what} in the end: {assignment:?}"));
        if live.is_empty() {
            return Ok(());
        }
        let held = assignment.slots(|phase| matches!(phase, Phase::Held { .. }));
        let mut served = 0;
        for (_, member) in &live {
            let own = member.held().count();
            served += own;
            if own < count / live.len() || own > count.div_ceil(live.len()) {
                return wrong("not even");
            }
        }
        if served != count || held.len() != count {
            return wrong("slots without a live member");
        }
        let leaves = |(_, member): &(usize, &Shared<Member>)| member.notes().leaving;
        let left = self.running().filter(leaves).count();
        if left > 0 {
            return wrong("a member that cannot leave");
        }
        Ok(())
    }
}
