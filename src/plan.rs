//! From what is desired, remembered and found to a change set. Pure: the disk was read before, and nothing is written.

mod file;
mod generated;
mod merged;
mod moves;
mod named;
mod place;
mod record;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use self::{file::plan_file, record::record};
pub use self::{
    file::verdict,
    merged::Merges,
    named::{NamedFiles, Rewritten, plan_named},
};

use crate::{
    change::{ChangeSet, Conflict, Note, Policy},
    error::Result,
    memory::{self, Memory},
    reconcile::{Last, Verdict},
    tree::{Digest, Found, Owner, RelPath, Tree},
};

/// What is known of paths, to be told otherwise of some of them.
pub type View<'a, T> = BTreeMap<&'a RelPath, &'a T>;

/// Everything a plan depends on.
#[derive(Clone)]
pub struct Inputs<'a> {
    /// The rows of the lock.
    pub rows: View<'a, Last<Digest>>,
    /// What `PROJECT` asks for.
    pub desired: &'a Tree,
    /// What stands at every path of [`paths`].
    pub found: View<'a, Found>,
    /// Of those that git could not merge, the texts that it knows.
    pub merges: &'a Merges,
    /// The template set that rendered `desired`.
    pub templates: u32,
    /// The text of `PROJECT` after the command.
    pub project: &'a str,
    /// What to do where a file is in the way.
    pub policy: Policy,
    /// The same for single files, where the user was asked.
    pub decided: &'a BTreeMap<RelPath, Policy>,
    /// Paths that the command line named to be written whatever they hold.
    pub forced: &'a BTreeSet<RelPath>,
    /// Paths that the user took over: they stay, also when nothing asks for them any more.
    pub owned: &'a BTreeSet<RelPath>,
    /// Rows that the lock keeps though nothing is planned of them.
    pub aside: &'a BTreeMap<RelPath, Last<Digest>>,
}

/// The paths to look at before planning: all that is desired or remembered, the record itself, and the bases.
pub fn paths(memory: &Memory, desired: &Tree) -> Result<BTreeSet<RelPath>> {
    let mut paths: BTreeSet<RelPath> = desired.keys().chain(memory.rows.keys()).cloned().collect();
    let shared = |file: &&RelPath| {
        desired
            .get(file)
            .is_some_and(|file| file.owner == Owner::Shared)
            || memory
                .rows
                .get(file)
                .is_some_and(|row| row.owner == Owner::Shared)
    };
    let bases: Result<Vec<RelPath>> = paths.iter().filter(shared).map(memory::base_path).collect();
    paths.extend(bases?);
    for path in ["PROJECT", memory::APPLIED_PROJECT, memory::LOCK] {
        paths.insert(RelPath::parse(path)?);
    }
    Ok(paths)
}

/// The Tool files that were edited, as far as memory and disk say: those of which nothing new is desired, and the others.
pub fn edited(
    memory: &Memory,
    desired: &Tree,
    found: &BTreeMap<RelPath, Found>,
) -> (Vec<RelPath>, Vec<RelPath>) {
    let (none, mut kept, mut other) = (Merges::default(), Vec::new(), Vec::new());
    let differing = desired.iter().filter(|(path, file)| match found.get(path) {
        Some(Found::File(bytes)) => file.owner == Owner::Tool && **bytes != *file.content,
        _ => false,
    });
    for (path, _) in differing {
        match verdict(memory, desired, found.get(path), &none, path).0 {
            Verdict::KeepEdited => kept.push(path.clone()),
            Verdict::Edited => other.push(path.clone()),
            _ => {}
        }
    }
    (kept, other)
}

/// Plans the whole command.
///
/// Errors: only paths that cannot be stored; everything about contents is a conflict or a note in the result.
pub fn plan(inputs: &Inputs<'_>) -> Result<ChangeSet> {
    let moves = moves::find(inputs);
    if moves.is_empty() {
        in_place(inputs)
    } else {
        moves::plan(inputs, &moves)
    }
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
    let planned = all.par_iter().map(|path| plan_file(inputs, path));
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

fn found<'a>(inputs: &'a Inputs<'_>, path: &RelPath) -> &'a Found {
    inputs.found.get(path).copied().unwrap_or(&Found::Absent)
}

#[cfg(test)]
mod tests;
