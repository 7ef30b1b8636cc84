//! From desired state, observed state and last applied to a change set. Pure: the disk was read before, and nothing is written.
//!
//! A file that moves, because its template has another path by now, is planned at its new path with the row, the text and the
//! base of its old one. So an edit moves with its file. A file that is already at the new path is left to the table.

mod decide;
mod decision;
mod file;
mod inputs;
mod sides;
mod traces;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use self::{file::Planned, sides::Sides};
pub use self::{
    file::verdict,
    inputs::{CopiedFile, GitMerge, Inputs, NamedFiles, Progress, Rewritten},
    sides::text,
};
use crate::{
    change::{Action, Change, ChangeSet, Conflict, ConflictKind, Note},
    error::Result,
    memory::{self, Memory},
    project::FILE,
    reconcile::{LastApplied, Verdict},
    template,
    tree::{self, Content, Digest, Found, Owner, RelPath},
};

/// The old path of each file that moves, by its new one.
pub type Moves = BTreeMap<RelPath, RelPath>;

/// The paths to read before planning: everything desired, remembered or named, the record itself, and the bases.
pub fn paths(inputs: &Inputs) -> Result<BTreeSet<RelPath>> {
    let rows = inputs.memory.rows.keys();
    let copied = inputs.named.copied.keys();
    let named = inputs.named.rewritten.keys().chain(copied.clone());
    let files = inputs.desired.keys().chain(rows).chain(named);
    let mut paths: BTreeSet<RelPath> = files.cloned().collect();
    let is_shared = |path: &&RelPath| {
        let desired = inputs.desired.get(path).map(|file| file.owner);
        let last = inputs.last(path).map(|row| row.owner);
        [desired, last].contains(&Some(Owner::Shared))
    };
    let shared = paths.iter().filter(is_shared);
    let bases: Result<Vec<RelPath>> = shared.map(memory::base_path).collect();
    paths.extend(bases?);
    let copies: Result<Vec<RelPath>> = copied.map(memory::copy_path).collect();
    paths.extend(copies?);
    paths.extend(inputs.definitions.keys().cloned());
    for path in [FILE, memory::APPLIED_PROJECT, memory::LOCK] {
        paths.insert(path.parse()?);
    }
    Ok(paths)
}

/// The edited Tool files: those for which nothing new is desired, and those that have to change.
pub fn edited(inputs: &Inputs) -> (Vec<RelPath>, Vec<RelPath>) {
    let (mut kept, mut changing) = (Vec::new(), Vec::new());
    let desired = inputs.desired.iter();
    for (path, file) in desired.filter(|(_, file)| file.owner == Owner::Tool) {
        if let Some(bytes) = inputs.on_disk(path)
            && **bytes != *file.content
        {
            match Sides::of(inputs, path, path, file).verdict(false) {
                Verdict::KeepEdited => kept.push(path.clone()),
                Verdict::Edited => changing.push(path.clone()),
                _ => {}
            }
        }
    }
    (kept, changing)
}

/// The files that move. A deleted file moves, too.
pub fn moves(inputs: &Inputs) -> Moves {
    let is_known = |path: &RelPath| inputs.last(path).is_some();
    let mut moves = Moves::new();
    for (to, file) in &inputs.desired {
        let from = file.former.iter().find(|from| {
            is_known(from)
                && !inputs.desired.contains_key(from)
                && !matches!(inputs.found(from), Found::Obstacle(_))
        });
        if let Some(from) = from
            && *inputs.found(to) == Found::Absent
            && !is_known(to)
            && !moves.values().any(|taken| taken == from)
        {
            moves.insert(to.clone(), from.clone());
        }
    }
    moves
}

/// Plans a command: every change, note and conflict.
///
/// Errors: a path cannot be stored. Problems with contents are conflicts and notes in the result.
pub fn plan(inputs: &Inputs) -> Result<ChangeSet> {
    let moves = moves(inputs);
    let moved: BTreeSet<&RelPath> = moves.values().collect();
    let known = inputs.memory.rows.keys().filter(|it| !moved.contains(it));
    let known = known.chain(inputs.named.rewritten.keys());
    let known = known.chain(inputs.named.copied.keys());
    let all: BTreeSet<&RelPath> = inputs.desired.keys().chain(known).collect();
    // The files are independent, and hashing them is most of the work.
    let planned = all
        .par_iter()
        .map(|path| file::plan(inputs, path, moves.get(path)));
    let planned: Vec<Planned> = planned.collect();
    let (mut set, mut rows) = (ChangeSet::default(), BTreeMap::new());
    for (path, planned) in all.into_iter().zip(planned) {
        set.changes.extend(planned.changes);
        let lacks = planned.lacks;
        set.notes.extend(planned.note.map(|what| Note {
            path: path.clone(),
            what,
            lacks,
        }));
        set.conflicts.extend(planned.conflict.map(|why| Conflict {
            path: moves.get(path).unwrap_or(path).clone(),
            why,
        }));
        let row = planned.row;
        let row = row.filter(|_| !inputs.named.copied.contains_key(path));
        rows.extend(row.map(|row| (path.clone(), row)));
    }
    set.changes.sort_by(|a, b| a.path.cmp(&b.path));
    record(inputs, &moves, rows, &mut set)?;
    set.moved.extend(moves);
    set.moved.extend(inputs.named.moved.clone());
    Ok(set)
}

/// Adds the changes of the record: the bases of Shared files, copies of copied files, both copies of `PROJECT`, and the lock, which comes last.
fn record(
    inputs: &Inputs,
    moves: &Moves,
    mut rows: BTreeMap<RelPath, LastApplied<Digest>>,
    set: &mut ChangeSet,
) -> Result<()> {
    let mut put = |path: RelPath, after: Option<Content>| {
        let before = match inputs.found(&path) {
            Found::Absent => None,
            Found::File(bytes) => Some(bytes.clone()),
            Found::Obstacle(what) => {
                let why = ConflictKind::Obstacle(what.clone());
                set.conflicts.push(Conflict { path, why });
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
    let is_shared = |row: &LastApplied<Digest>| row.owner == Owner::Shared;
    for (path, row) in rows.iter().filter(|(_, row)| is_shared(row)) {
        let desired = inputs.desired.get(path);
        let applied = desired.filter(|file| row.any_of.contains(&file.digest(path)));
        let base = match (applied, moves.get(path)) {
            (Some(file), _) => Some(file.content.clone()),
            (None, Some(from)) => {
                let base = inputs.on_disk(&memory::base_path(from)?);
                base.map(|bytes| bytes.clone().into())
            }
            (None, None) => None,
        };
        if base.is_some() {
            put(memory::base_path(path)?, base);
        }
    }
    for (path, _) in inputs.memory.rows.iter().filter(|(_, row)| is_shared(row)) {
        if !rows.get(path).is_some_and(is_shared) {
            put(memory::base_path(path)?, None);
        }
    }
    for (path, definition) in &inputs.definitions {
        put(path.clone(), definition.clone());
    }
    for (path, copied) in &inputs.named.copied {
        put(memory::copy_path(path)?, copied.new.clone());
    }
    rows.extend(inputs.aside.clone());
    let memory = Memory {
        templates: template::SET,
        rows,
    };
    for (path, text) in [
        (memory::APPLIED_PROJECT, inputs.project.clone()),
        (FILE, inputs.project.clone()),
        (memory::LOCK, memory.write()),
    ] {
        put(path.parse()?, Some(text.into_bytes().into()));
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
