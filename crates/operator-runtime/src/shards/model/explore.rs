//! Explores all states, breadth first: the first violation has the shortest history.

use std::collections::{HashSet, VecDeque};

use super::{
    Bounds, Rules, State,
    state::hash,
    steps::{Deals, Step},
};

/// What was explored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Explored {
    pub(super) states: usize,
    pub(super) steps: usize,
    pub(super) recovered: usize,
    pub(super) depth: usize,
    /// How often each kind of step was taken.
    pub(super) kinds: [usize; Step::KINDS],
}

impl Explored {
    pub(super) fn add(&mut self, other: &Self) {
        self.states += other.states;
        self.steps += other.steps;
        self.recovered += other.recovered;
        self.depth = self.depth.max(other.depth);
        for (count, more) in self.kinds.iter_mut().zip(&other.kinds) {
            *count += more;
        }
    }
}

/// Explores all states after `first`. The error gives the violation, and the steps that lead to it.
pub(super) fn explore(first: State, rules: Rules, bounds: Bounds) -> Result<Explored, String> {
    let mut visited = HashSet::from([hash(&first)]);
    // For each state, the one before, the step, and the depth.
    let mut origins: Vec<(usize, Option<Step>, usize)> = vec![(0, None, 0)];
    let mut queue = VecDeque::from([(0, first)]);
    let mut deals = Deals::new();
    let mut explored = Explored::default();
    while let Some((number, state)) = queue.pop_front() {
        explored.states += 1;
        explored.depth = origins[number].2;
        let error = |origins: &[(usize, Option<Step>, usize)], error: String| {
            let mut steps = Vec::new();
            let mut at = number;
            while let (before, Some(step), _) = &origins[at] {
                steps.push(format!("{step:?}"));
                at = *before;
            }
            steps.reverse();
            format!("{error}, after {}", steps.join(" "))
        };
        state
            .check()
            .map_err(|violation| error(&origins, violation))?;
        if number % bounds.sample == 0 {
            let recovered = state.recovers(rules);
            recovered.map_err(|violation| error(&origins, violation))?;
            explored.recovered += 1;
        }
        for step in state.steps(rules) {
            let after = state.after(step, rules, bounds, &mut deals);
            let after = after.map_err(|violation| error(&origins, violation))?;
            let Some(after) = after else {
                continue;
            };
            explored.steps += 1;
            explored.kinds[step.kind()] += 1;
            if visited.insert(hash(&after)) {
                origins.push((number, Some(step), explored.depth + 1));
                queue.push_back((origins.len() - 1, after));
            }
        }
    }
    Ok(explored)
}
