//! The plan of one file: the changes that its decision and the policy make.

use super::{
    decide::decide,
    decision::{Decision, Outcome},
    inputs::Inputs,
    sides::{Sides, text},
};
use crate::{
    change::{Action, Change, ConflictKind, NoteKind, Policy},
    merge::{self, markers},
    reconcile::{LastApplied, Verdict, reconcile},
    tree::{Digest, Found, Owner, RelPath},
};

/// The plan of one file.
#[derive(Default)]
pub struct Planned {
    /// A file that moves has two changes.
    pub changes: Vec<Change>,
    pub note: Option<NoteKind>,
    /// The generated lines that an edited file with a note lacks.
    pub lacks: Vec<String>,
    pub conflict: Option<ConflictKind>,
    /// The row that the lock will hold.
    pub row: Option<LastApplied<Digest>>,
}

/// Plans the file at `path`, which may move there `from` another path. A file that the command rewrites is planned with its new
/// text.
pub fn plan(inputs: &Inputs, path: &RelPath, from: Option<&RelPath>) -> Planned {
    let at = from.unwrap_or(path);
    let file = inputs.desired.get(path);
    let (last, disk) = inputs.observed(path, at);
    if let Found::Obstacle(what) = inputs.found(at) {
        return match file {
            // Nothing is written, so the row stays.
            Some(_) => Planned {
                conflict: Some(ConflictKind::Obstacle(what.clone())),
                row: last.cloned(),
                ..Planned::default()
            },
            None => Planned {
                note: last.map(|_| NoteKind::Orphaned),
                ..Planned::default()
            },
        };
    }
    let disk = disk.as_deref();
    let mut planned = match file {
        None => undesired(inputs, path, last, disk),
        Some(file) => desired(inputs, &Sides::of(inputs, path, at, file), at),
    };
    if let (Some(file), Some(NoteKind::Edited | NoteKind::Kept)) = (file, planned.note)
        && file.owner != Owner::User
    {
        let after = planned.changes.first().and_then(|it| it.after.as_deref());
        planned.lacks = merge::lacking(after.or(disk).unwrap_or_default(), &file.content);
    }
    if let (Some(from), Some(disk)) = (from, disk) {
        planned.changes = moved(path, from, file.map(|file| file.owner), disk, &planned);
    }
    if let Some(named) = inputs.named.rewritten.get(path) {
        planned.changes.extend(named.change(inputs, path));
    }
    planned
}

/// The verdict about the file at a path, and the digest of its text on disk.
pub fn verdict(inputs: &Inputs, path: &RelPath) -> (Verdict, Option<Digest>) {
    if let Some(file) = inputs.desired.get(path) {
        let sides = Sides::of(inputs, path, path, file);
        return (decide(&sides).verdict, sides.on_disk);
    }
    let (last, disk) = inputs.observed(path, path);
    let on_disk = disk.map(|bytes| Digest::of(path, &bytes));
    (reconcile(last, on_disk.as_ref(), None), on_disk)
}

/// The changes of a file with the text `disk` that moves.
fn moved(
    to: &RelPath,
    from: &RelPath,
    owner: Option<Owner>,
    disk: &[u8],
    planned: &Planned,
) -> Vec<Change> {
    let change = planned.changes.first();
    // An overwritten text is shown at its old path.
    let (gone, there) = match change.map(|change| change.action) {
        None | Some(Action::Update) => (Action::Delete, Action::Move),
        Some(Action::Overwrite) => (Action::Overwrite, Action::Create),
        Some(action) => (Action::Delete, action),
    };
    let after = change.and_then(|change| change.after.clone());
    let change = |path: &RelPath, action, before, after| Change {
        path: path.clone(),
        action,
        owner,
        before,
        after,
    };
    vec![
        change(from, gone, Some(disk.to_vec()), None),
        change(to, there, None, after.or(Some(disk.to_vec().into()))),
    ]
}

fn undesired(
    inputs: &Inputs,
    path: &RelPath,
    last: Option<&LastApplied<Digest>>,
    disk: Option<&[u8]>,
) -> Planned {
    let digest = disk.map(|bytes| Digest::of(path, bytes));
    let mut planned = Planned::default();
    match reconcile(last, digest.as_ref(), None) {
        Verdict::Delete if inputs.owned.contains(path) => planned.note = Some(NoteKind::Owned),
        Verdict::Delete => planned.changes.push(Change {
            path: path.clone(),
            action: Action::Delete,
            owner: last.map(|row| row.owner),
            before: disk.map(<[u8]>::to_vec),
            after: None,
        }),
        Verdict::Orphan if inputs.named.copied.contains_key(path) => {
            planned.note = Some(NoteKind::Dropped);
        }
        Verdict::Orphan => planned.note = Some(NoteKind::Orphaned),
        _ => {}
    }
    planned
}

/// Plans a desired file. A conflict has the path `at` which the file is.
fn desired(inputs: &Inputs, sides: &Sides<'_>, at: &RelPath) -> Planned {
    let Decision {
        verdict,
        outcome,
        row,
    } = decide(sides);
    let done = |change: Option<Change>, note, row| Planned {
        changes: change.into_iter().collect(),
        note,
        row,
        ..Planned::default()
    };
    if inputs.forced.contains(sides.path) && verdict != Verdict::Unchanged {
        let action = match (&sides.disk, sides.last) {
            (Some(_), _) => Action::Overwrite,
            (None, Some(_)) => Action::Restore,
            (None, None) => Action::Create,
        };
        let change = sides.write(action, sides.desired.content.clone());
        return done(change, None, Some(sides.new_row()));
    }
    match outcome {
        Outcome::Stays(note) => done(None, note, row),
        Outcome::Written(action) => {
            let change = sides.write(action, sides.desired.content.clone());
            done(change, None, row)
        }
        Outcome::Merged(text) => {
            // A generated file with an edit in its merged text is an edited file.
            let is_edited = sides.desired.owner == Owner::Tool
                && Digest::of(sides.path, text.as_bytes()) != sides.digest;
            let note = is_edited.then_some(NoteKind::Edited);
            done(sides.write_merged(text), note, row)
        }
        Outcome::Conflict(why, marked) => {
            let policy = inputs.answers.get(at).copied().unwrap_or(inputs.policy);
            match resolve_conflict(policy, sides, &why, marked) {
                Ok((change, note)) => done(change, note, row),
                Err(why) => Planned {
                    conflict: Some(why),
                    row: sides.last.cloned(),
                    ..Planned::default()
                },
            }
        }
    }
}

/// The change and the note that the policy chooses. `marked` is the text with conflict markers, where it is not made from the sides.
///
/// Errors: the policy chooses nothing, or the text can have no markers.
fn resolve_conflict(
    policy: Policy,
    sides: &Sides<'_>,
    why: &ConflictKind,
    marked: Option<String>,
) -> Result<(Option<Change>, Option<NoteKind>), ConflictKind> {
    match (policy, why) {
        (Policy::Abort, _) => Err(why.clone()),
        (Policy::Take, why) => {
            let change = sides.write(Action::Overwrite, sides.desired.content.clone());
            let leaves_out = matches!(why, ConflictKind::EditedOnBranch(_));
            Ok((change, leaves_out.then_some(NoteKind::LeftOut)))
        }
        (Policy::Keep, ConflictKind::EditedOnBranch(Some(edit))) => {
            Ok((sides.write_merged(edit.clone()), Some(NoteKind::Kept)))
        }
        (Policy::Markers, _) | (Policy::Keep, ConflictKind::EditedOnBranch(None)) => {
            let text = match (marked, why) {
                (Some(text), _) => text,
                (None, ConflictKind::Markers(_)) => return Err(why.clone()),
                (None, _) => with_markers(sides)?,
            };
            Ok((sides.write_merged(text), Some(NoteKind::Markers)))
        }
        (Policy::Keep, _) => Ok((None, Some(NoteKind::Kept))),
    }
}

/// The text on disk and the desired one with conflict markers where they differ; where the base is known, only where both
/// changed it.
///
/// Errors: one of them is not text, or has markers already.
fn with_markers(sides: &Sides<'_>) -> Result<String, ConflictKind> {
    let (ours, theirs) = (sides.ours()?, sides.theirs()?);
    if let Some(split) = markers::split(&ours) {
        return Err(ConflictKind::Markers(split.line));
    }
    let base = sides.last.and_then(|_| sides.merge_base());
    Ok(match base.and_then(|base| text(base).ok()) {
        Some(base) => markers::conflict_from(&base, &ours, &theirs),
        None => markers::conflict(&ours, &theirs),
    })
}
