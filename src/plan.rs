//! From what is desired, remembered and found to a change set. Pure: the disk was read before, and nothing is written.

mod merged;
mod moves;
mod named;
mod record;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

pub use self::named::{Named, Rewritten, plan_named};
use self::record::record;

use crate::{
    change::{Action, Change, ChangeSet, Conflict, ConflictKind, Note, NoteKind, Policy},
    error::Result,
    git::Unmerged,
    memory::{self, Memory},
    merge::Driver,
    reconcile::{Desired, Last, Remember, Verdict, reconcile},
    tree::{self, Content, Digest, Found, Owner, RelPath, Tree},
};

/// Everything a plan depends on.
pub struct Inputs<'a> {
    /// The lock.
    pub memory: &'a Memory,
    /// What `PROJECT` asks for.
    pub desired: &'a Tree,
    /// What stands at every path of [`paths`].
    pub found: &'a BTreeMap<RelPath, Found>,
    /// Of those that git could not merge, the texts that it knows.
    pub unmerged: &'a BTreeMap<RelPath, Unmerged>,
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
        .chain(inputs.memory.rows.keys())
        .collect();
    // No file's plan depends on another one's, and hashing them is most of a plan's work.
    let planned = all.par_iter().map(|path| {
        let mut set = ChangeSet::default();
        let row = plan_file(inputs, path, &mut set);
        (row, set)
    });
    let planned: Vec<_> = planned.collect();
    for (path, (row, of_file)) in all.into_iter().zip(planned) {
        set.changes.extend(of_file.changes);
        set.notes.extend(of_file.notes);
        set.conflicts.extend(of_file.conflicts);
        if let Some(row) = row {
            rows.insert(path.clone(), row);
        }
    }
    record(inputs, rows, &mut set)?;
    Ok(set)
}

fn found<'a>(inputs: &'a Inputs<'_>, path: &RelPath) -> &'a Found {
    inputs.found.get(path).unwrap_or(&Found::Absent)
}

/// Plans one file and returns the row that the lock will hold.
fn plan_file(inputs: &Inputs<'_>, path: &RelPath, set: &mut ChangeSet) -> Option<Last<Digest>> {
    let last = inputs.memory.rows.get(path);
    let file = inputs.desired.get(path);
    let disk = match found(inputs, path) {
        Found::Absent => None,
        Found::File(bytes) => Some(bytes),
        Found::Obstacle(what) => {
            let path = path.clone();
            match file {
                Some(_) => set.conflicts.push(Conflict {
                    path,
                    why: ConflictKind::Obstacle(what.clone()),
                }),
                None => set.notes.push(Note {
                    path,
                    what: NoteKind::Orphaned,
                }),
            }
            return None;
        }
    };
    let desired = file.map(|file| Desired {
        owner: file.owner,
        keyed: Driver::of(path).is_keyed(path),
        content: file.digest(path),
    });
    // Most files are as they should be, and equal bytes need one hash.
    let on_disk = disk.map(|bytes| match (file, &desired) {
        (Some(file), Some(desired)) if *bytes == *file.content => desired.content,
        _ => Digest::of(path, bytes),
    });
    let verdict = reconcile(last, on_disk.as_ref(), desired.as_ref());
    let (verdict, markers) = match (disk, last, file) {
        (Some(disk), Some(last), Some(file)) => {
            let unmerged = inputs.unmerged.get(path);
            merged::after_git(path, disk, unmerged, last, file, verdict)
        }
        _ => (verdict, false),
    };
    let outdated = match (last, &desired) {
        (Some(last), Some(desired)) if inputs.owned.contains(path) => {
            verdict == Verdict::KeepUser && !last.any_of.contains(&desired.content)
        }
        _ => false,
    };
    let remembered = match verdict.remember() {
        // It is told once, and then remembered as told.
        _ if outdated => desired.map(as_row),
        Remember::Nothing => None,
        Remember::Last => last.cloned().map(|row| match &desired {
            // A file that was taken over is the user's, also where it still holds what was applied.
            Some(Desired { owner, .. }) => Last {
                owner: *owner,
                ..row
            },
            None => row,
        }),
        Remember::Desired => desired.map(as_row),
    };
    let mut change = |action, after: Option<Content>| {
        let before = disk.cloned();
        let after = after.map(|new| match &before {
            Some(old) => tree::with_line_ends_of(old, new),
            None => new,
        });
        let owner = file.map(|file| file.owner).or(last.map(|row| row.owner));
        set.changes.push(Change {
            path: path.clone(),
            action,
            owner,
            before,
            after,
        });
    };
    let Some(file) = file else {
        match verdict {
            Verdict::Delete if !inputs.owned.contains(path) => change(Action::Delete, None),
            Verdict::Delete | Verdict::Orphan => set.notes.push(Note {
                path: path.clone(),
                what: match verdict {
                    Verdict::Delete => NoteKind::Owned,
                    _ => NoteKind::Orphaned,
                },
            }),
            _ => {}
        }
        return remembered;
    };
    if inputs.forced.contains(path) && verdict != Verdict::Unchanged {
        let action = match (disk, last) {
            (Some(_), _) => Action::Overwrite,
            (None, Some(_)) => Action::Restore,
            (None, None) => Action::Create,
        };
        change(action, Some(file.content.clone()));
        return desired.map(as_row);
    }
    let mut note = |what| {
        set.notes.push(Note {
            path: path.clone(),
            what,
        });
    };
    let mut conflict = None;
    match verdict {
        Verdict::Create => change(Action::Create, Some(file.content.clone())),
        Verdict::Restore => change(Action::Restore, Some(file.content.clone())),
        Verdict::Write => change(Action::Update, Some(file.content.clone())),
        Verdict::Merge | Verdict::Adopt => match merged::merge(inputs, path, last, disk, file) {
            Ok(Some(merged)) if disk.is_some_and(|old| *old == merged.as_bytes()) => {}
            Ok(Some(merged)) => change(Action::Merge, Some(merged.into_bytes().into())),
            Ok(None) => note(NoteKind::BaseLost),
            Err(ConflictKind::Markers(_)) if markers => note(NoteKind::Markers),
            Err(why) => conflict = Some(why),
        },
        Verdict::Exists => conflict = Some(ConflictKind::Exists),
        Verdict::Edited => conflict = Some(ConflictKind::Edited),
        Verdict::KeepUser if outdated => note(NoteKind::Outdated),
        Verdict::KeepEdited | Verdict::KeepUser if markers => note(NoteKind::Markers),
        Verdict::KeepEdited if file.owner == Owner::Tool => note(NoteKind::Edited),
        Verdict::StaysDeleted if file.named => note(NoteKind::Missing),
        _ => {}
    }
    let Some(why) = conflict else {
        return remembered;
    };
    let policy = inputs.decided.get(path).unwrap_or(&inputs.policy);
    match (policy, merged::marked(inputs, path, last, disk, file)) {
        (Policy::Markers, _) if matches!(why, ConflictKind::Markers(_)) => note(NoteKind::Markers),
        (Policy::Keep, _) => note(NoteKind::Kept),
        (Policy::Take, _) => change(Action::Overwrite, Some(file.content.clone())),
        (Policy::Markers, Some(text)) => {
            note(NoteKind::Markers);
            change(Action::Merge, Some(text.into_bytes().into()));
        }
        (Policy::Abort | Policy::Markers, _) => set.conflicts.push(Conflict {
            path: path.clone(),
            why,
        }),
    }
    remembered
}

fn as_row(desired: Desired<Digest>) -> Last<Digest> {
    Last {
        owner: desired.owner,
        any_of: vec![desired.content],
    }
}

#[cfg(test)]
mod tests;
