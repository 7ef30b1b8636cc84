//! From desired state, observed state and last applied to a change set. Pure: the disk was read before, and nothing is written.

mod file;
mod inputs;
mod moves;
mod three_way;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use self::moves::Now;
pub use self::{
    inputs::{Inputs, NamedFiles, Rewritten},
    moves::{Moves, find as moves},
    three_way::{Resolved, ThreeWay, text},
};
use crate::{
    change::{Action, Change, ChangeSet, Conflict, ConflictKind, Note},
    error::Result,
    memory::{self, Memory},
    reconcile::{Last, Verdict},
    tree::{self, Content, Digest, Found, Owner, RelPath, Tree},
};

/// The paths to read before planning: everything desired or remembered, the record itself, and the bases.
pub fn paths(memory: &Memory, desired: &Tree) -> Result<BTreeSet<RelPath>> {
    let mut paths: BTreeSet<RelPath> = desired.keys().chain(memory.rows.keys()).cloned().collect();
    let shared = |path: &&RelPath| {
        let owners = [
            desired.get(path).map(|file| file.owner),
            memory.rows.get(path).map(|row| row.owner),
        ];
        owners.contains(&Some(Owner::Shared))
    };
    let bases: Result<Vec<RelPath>> = paths.iter().filter(shared).map(memory::base_path).collect();
    paths.extend(bases?);
    for path in ["PROJECT", memory::APPLIED_PROJECT, memory::LOCK] {
        paths.insert(RelPath::parse(path)?);
    }
    Ok(paths)
}

/// The edited Tool files: those for which nothing new is desired, and those that have to change.
pub fn edited(
    memory: &Memory,
    desired: &Tree,
    found: &BTreeMap<RelPath, Found>,
) -> (Vec<RelPath>, Vec<RelPath>) {
    let (mut kept, mut changing) = (Vec::new(), Vec::new());
    for (path, file) in desired.iter().filter(|(_, file)| file.owner == Owner::Tool) {
        if let Some(Found::File(bytes)) = found.get(path)
            && **bytes != *file.content
        {
            match ThreeWay::new(path, memory.rows.get(path), Some(bytes), file).verdict() {
                Verdict::KeepEdited => kept.push(path.clone()),
                Verdict::Edited => changing.push(path.clone()),
                _ => {}
            }
        }
    }
    (kept, changing)
}

/// Plans a command: every change, note and conflict.
///
/// Errors: only paths that cannot be stored; everything about contents is a conflict or a note in the result.
pub fn plan(inputs: &Inputs<'_>) -> Result<ChangeSet> {
    let named = Now::of(inputs);
    let inputs = named.inputs(inputs);
    let moves = moves::find(&inputs.rows, inputs.desired, &inputs.found);
    let bases = moves::bases(&moves)?;
    let mut set = in_place(&moves::moved(&inputs, &moves, &bases))?;
    moves::carry_out(&inputs, moves.clone(), &bases, &mut set);
    named.add_to(&mut set);
    Ok(set)
}

fn in_place(inputs: &Inputs<'_>) -> Result<ChangeSet> {
    let mut set = ChangeSet::default();
    let mut rows = BTreeMap::new();
    let all: BTreeSet<&RelPath> = inputs
        .desired
        .keys()
        .chain(inputs.rows.keys().copied())
        .collect();
    // No file's plan depends on another one's, and hashing them is most of a plan's work.
    let planned = all.par_iter().map(|path| file::plan(inputs, path));
    let planned: Vec<_> = planned.collect();
    for (path, planned) in all.into_iter().zip(planned) {
        let path = || path.clone();
        set.changes.extend(planned.change);
        let lacks = planned.lacks;
        set.notes.extend(planned.note.map(|what| Note {
            path: path(),
            what,
            lacks,
        }));
        let conflict = planned.conflict.map(|why| Conflict { path: path(), why });
        set.conflicts.extend(conflict);
        rows.extend(planned.row.map(|row| (path(), row)));
    }
    record(inputs, rows, &mut set)?;
    Ok(set)
}

/// Adds the changes of the record: the bases of Shared files, both copies of `PROJECT`, and the lock, which comes last.
fn record(
    inputs: &Inputs<'_>,
    mut rows: BTreeMap<RelPath, Last<Digest>>,
    set: &mut ChangeSet,
) -> Result<()> {
    let mut put = |path: RelPath, after: Option<Content>| {
        let before = match inputs.found(&path) {
            Found::Absent => None,
            Found::File(bytes) => Some(bytes.clone()),
            Found::Obstacle(what) => {
                set.conflicts.push(Conflict {
                    path,
                    why: ConflictKind::Obstacle(what.clone()),
                });
                return;
            }
        };
        let after = match &before {
            Some(old) => after.map(|new| tree::with_line_ends_of(old, new)),
            None => after,
        };
        let action = match (&before, &after) {
            (Some(old), Some(new)) if tree::unix_line_ends(old) == tree::unix_line_ends(new) => {
                return;
            }
            (None, None) => return,
            (None, Some(_)) => Action::Create,
            (Some(_), Some(_)) => Action::Update,
            (Some(_), None) => Action::Delete,
        };
        set.record.push(Change {
            path,
            action,
            owner: None,
            before,
            after,
        });
    };
    let shared = |row: Option<&Last<Digest>>| row.is_some_and(|row| row.owner == Owner::Shared);
    let all: BTreeSet<&RelPath> = inputs.rows.keys().copied().chain(rows.keys()).collect();
    for path in all {
        let row = rows.get(path);
        if shared(row) {
            if let Some(file) = inputs.desired.get(path)
                && row.is_some_and(|row| row.any_of.contains(&file.digest(path)))
            {
                put(memory::base_path(path)?, Some(file.content.clone()));
            }
        } else if shared(inputs.rows.get(path).copied()) {
            put(memory::base_path(path)?, None);
        }
    }
    rows.extend(inputs.aside.clone());
    let memory = Memory {
        templates: inputs.templates,
        rows,
    };
    let project = inputs.project.as_bytes().to_vec();
    put(
        RelPath::parse(memory::APPLIED_PROJECT)?,
        Some(project.clone().into()),
    );
    put(RelPath::parse("PROJECT")?, Some(project.into()));
    put(
        RelPath::parse(memory::LOCK)?,
        Some(memory.write().into_bytes().into()),
    );
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
