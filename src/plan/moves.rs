//! Files that are planned as they will be: those that the command names, and those whose template has another path by now.
//! Their rows, bases and texts are planned as if they were there already, so that the table decides about them as about all
//! others; the result is then done to the files where they are.
//!
//! Invariant: an edit moves with its file; a file that stands at the new path already is left to the table.

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::{Inputs, NamedFiles, Rewritten, View};
use crate::{
    change::{Action, Change, ChangeSet},
    error::Result,
    memory,
    reconcile::Last,
    tree::{self, Digest, Found, Owner, RelPath, Tree},
};

/// The old path of each file that moves, by its new one.
pub type Moves = BTreeMap<RelPath, RelPath>;

/// The files that move. A deleted file moves, too.
pub fn find(rows: &View<'_, Last<Digest>>, desired: &Tree, found: &View<'_, Found>) -> Moves {
    let mut taken = BTreeSet::new();
    let mut moves = Moves::new();
    for (to, file) in desired.iter().filter(|(_, file)| !file.former.is_empty()) {
        let is_absent = found.get(to).is_none_or(|found| **found == Found::Absent);
        let free = is_absent && !rows.contains_key(to);
        let from = file.former.iter().find(|from| {
            rows.contains_key(from)
                && !desired.contains_key(from)
                && !matches!(found.get(from), Some(Found::Obstacle(_)))
        });
        if let Some(from) = from.filter(|from| free && taken.insert((*from).clone())) {
            moves.insert(to.clone(), from.clone());
        }
    }
    moves
}

/// The inputs with the files of `moves` and their `bases` where they belong.
pub fn moved<'a>(inputs: &Inputs<'a>, moves: &'a Moves, bases: &'a Moves) -> Inputs<'a> {
    let mut moved = inputs.clone();
    for (to, from) in moves {
        carry_over(&mut moved.rows, from, to);
        carry_over(&mut moved.decided, from, to);
    }
    for (to, from) in moves.iter().chain(bases) {
        carry_over(&mut moved.found, from, to);
    }
    moved
}

/// The bases of the files that move.
pub fn bases(moves: &Moves) -> Result<Moves> {
    let base =
        |(to, from): (&RelPath, &RelPath)| Ok((memory::base_path(to)?, memory::base_path(from)?));
    moves.iter().map(base).collect()
}

/// Turns the changes of a plan for [`moved`] files into moves from where they are.
pub fn carry_out(inputs: &Inputs<'_>, moves: Moves, bases: &Moves, set: &mut ChangeSet) {
    if moves.is_empty() {
        return;
    }
    for conflict in &mut set.conflicts {
        if let Some(from) = moves.get(&conflict.path) {
            conflict.path = from.clone();
        }
    }
    for (to, from) in &moves {
        let owner = inputs.desired.get(to).map(|file| file.owner);
        carry(inputs, from, to, owner, &mut set.changes);
    }
    for (to, from) in bases {
        carry(inputs, from, to, None, &mut set.record);
    }
    set.changes.sort_by(|a, b| a.path.cmp(&b.path));
    // The lock stays last.
    set.record
        .sort_by_key(|change| !change.path.as_str().starts_with(".operator-forge/base/"));
    set.moved.extend(moves);
}

/// Gives `to` what is known of `from`.
fn carry_over<'a, T>(known: &mut View<'a, T>, from: &RelPath, to: &'a RelPath) {
    if let Some(it) = known.remove(from) {
        known.insert(to, it);
    }
}

/// Turns the change of a file at `to` into its move from `from`, where it is.
fn carry(
    inputs: &Inputs<'_>,
    from: &RelPath,
    to: &RelPath,
    owner: Option<Owner>,
    changes: &mut Vec<Change>,
) {
    let Found::File(bytes) = inputs.found(from) else {
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
                // The text that is lost is shown where it was.
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

/// The named files as they will be.
pub struct Now<'a> {
    named: &'a NamedFiles,
    found: Vec<(&'a RelPath, Found)>,
    changes: Vec<Change>,
}

impl<'a> Now<'a> {
    /// Works out the text of each named file, and its change.
    pub fn of(inputs: &Inputs<'a>) -> Self {
        let mut now = Self {
            named: inputs.named,
            found: Vec::new(),
            changes: Vec::new(),
        };
        for (path, Rewritten { before, after, .. }) in &now.named.rewritten {
            if matches!(inputs.found.get(path), Some(Found::Obstacle(_))) {
                continue;
            }
            let after = match (before, after) {
                (Some(before), Some(after)) => Some(tree::with_line_ends_of(before, after.clone())),
                (_, after) => after.clone(),
            };
            let found = after.as_ref().map(|after| Found::File(after.to_vec()));
            now.found.push((path, found.unwrap_or(Found::Absent)));
            let action = match (before, &after) {
                (Some(before), Some(after)) if **before == **after => continue,
                (None, None) => continue,
                (Some(_), Some(_)) => Action::Edit,
                // A file that is not made anew at its new path has the user's text.
                (None, Some(after)) if now.named.moved.contains_key(path) => {
                    let file = inputs.desired.get(path);
                    match file.is_some_and(|file| file.digest(path) == Digest::of(path, after)) {
                        true => Action::Move,
                        false => Action::Edit,
                    }
                }
                (None, Some(_)) => Action::Create,
                (Some(_), None) => Action::Delete,
            };
            now.changes.push(Change {
                path: path.clone(),
                action,
                owner: Some(Owner::User),
                before: before.clone(),
                after,
            });
        }
        now
    }

    /// The inputs as if the files were on disk already.
    pub fn inputs<'b>(&'b self, inputs: &Inputs<'b>) -> Inputs<'b> {
        let mut inputs = inputs.clone();
        inputs
            .rows
            .retain(|path, _| !self.named.forgotten.contains(*path));
        for (path, found) in &self.found {
            match &self.named.rewritten[*path].row {
                Some(row) => inputs.rows.insert(path, row),
                None => inputs.rows.remove(*path),
            };
            inputs.found.insert(path, found);
        }
        inputs
    }

    /// Adds the changes of the files.
    pub fn add_to(self, set: &mut ChangeSet) {
        set.changes.extend(self.changes);
        set.changes.sort_by(|a, b| a.path.cmp(&b.path));
        set.moved.extend(self.named.moved.clone());
    }
}
