//! Files whose template has another path by now. Their rows, bases and texts are looked at as if they were there already,
//! so that the table decides about them as about all others; what it decides is then done to the files where they are.
//!
//! Invariant: an edit moves with its file; a file that stands at the new path already is left to the table.

use std::collections::{BTreeMap, BTreeSet};

use super::{Inputs, found, in_place};
use crate::{
    change::{Action, Change, ChangeSet},
    error::Result,
    memory,
    tree::{Found, Owner, RelPath},
};

/// Where files are that belong elsewhere: by the path where they belong. A file that was deleted moves as such.
pub fn find(inputs: &Inputs<'_>) -> BTreeMap<RelPath, RelPath> {
    let mut taken = BTreeSet::new();
    let mut moves = BTreeMap::new();
    for (to, file) in inputs.desired {
        let free = !inputs.rows.contains_key(to) && *found(inputs, to) == Found::Absent;
        let from = file.former.iter().find(|from| {
            inputs.rows.contains_key(from)
                && !inputs.desired.contains_key(from)
                && !matches!(found(inputs, from), Found::Obstacle(_))
        });
        if let Some(from) = from.filter(|from| free && taken.insert((*from).clone())) {
            moves.insert(to.clone(), from.clone());
        }
    }
    moves
}

/// Plans with the files of `moves` where they belong, and moves them.
pub fn plan(inputs: &Inputs<'_>, moves: &BTreeMap<RelPath, RelPath>) -> Result<ChangeSet> {
    let (mut rows, mut found) = (inputs.rows.clone(), inputs.found.clone());
    let (mut merges, mut decided) = (inputs.merges.clone(), inputs.decided.clone());
    let mut bases = BTreeMap::new();
    for (to, from) in moves {
        carry_over(&mut rows, from, to);
        carry_over(&mut decided, from.clone(), to.clone());
        bases.insert(memory::base_path(to)?, memory::base_path(from)?);
    }
    for (to, from) in moves.iter().chain(&bases) {
        carry_over(&mut found, from, to);
        carry_over(&mut merges.unmerged, from.clone(), to.clone());
        carry_over(&mut merges.committed, from.clone(), to.clone());
    }
    let mut set = in_place(&Inputs {
        rows,
        found,
        merges: &merges,
        decided: &decided,
        ..*inputs
    })?;
    for conflict in &mut set.conflicts {
        if let Some(from) = moves.get(&conflict.path) {
            conflict.path = from.clone();
        }
    }
    for (to, from) in moves {
        let owner = inputs.desired.get(to).map(|file| file.owner);
        carry(inputs, from, to, owner, &mut set.changes);
    }
    for (to, from) in &bases {
        carry(inputs, from, to, None, &mut set.record);
    }
    set.changes.sort_by(|a, b| a.path.cmp(&b.path));
    // The lock stays last.
    set.record
        .sort_by_key(|change| !change.path.as_str().starts_with(".operator-forge/base/"));
    set.moved.extend(moves.clone());
    Ok(set)
}

/// What is known of `from` is known of `to`.
fn carry_over<P: Ord, T>(known: &mut BTreeMap<P, T>, from: P, to: P) {
    if let Some(it) = known.remove(&from) {
        known.insert(to, it);
    }
}

/// Turns what was planned for a file at `to` into its move from `from`, where it is.
fn carry(
    inputs: &Inputs<'_>,
    from: &RelPath,
    to: &RelPath,
    owner: Option<Owner>,
    changes: &mut Vec<Change>,
) {
    let Found::File(bytes) = found(inputs, from) else {
        return;
    };
    let mut action = Action::Delete;
    match changes.iter().position(|change| change.path == *to) {
        Some(at) if changes[at].after.is_none() => _ = changes.remove(at),
        Some(at) => {
            let change = &mut changes[at];
            change.before = None;
            match change.action {
                Action::Update => change.action = Action::Move,
                // What is lost is where it was, and is shown there.
                Action::Overwrite => (action, change.action) = (Action::Overwrite, Action::Create),
                _ => {}
            }
        }
        None => changes.push(Change {
            path: to.clone(),
            action: Action::Move,
            owner,
            before: None,
            after: Some(bytes.clone().into()),
        }),
    }
    changes.push(Change {
        path: from.clone(),
        action,
        owner,
        before: Some(bytes.clone()),
        after: None,
    });
}
