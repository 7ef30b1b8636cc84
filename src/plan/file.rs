//! The plan of one file: its change, and the row that the lock will hold, which follows from the verdict.

use super::{
    inputs::Inputs,
    three_way::{Resolved, ThreeWay, text},
};
use crate::{
    change::{Action, Change, ConflictKind, NoteKind, Policy},
    memory,
    merge::{self, markers},
    reconcile::{Last, Remember, Verdict, reconcile},
    tree::{Digest, Found, Owner, RelPath},
};

/// The plan of one file.
#[derive(Default)]
pub struct Planned {
    pub change: Option<Change>,
    pub note: Option<NoteKind>,
    /// The generated lines that an edited file with a note lacks.
    pub lacks: Vec<String>,
    pub conflict: Option<ConflictKind>,
    /// The row that the lock will hold.
    pub row: Option<Last<Digest>>,
}

/// Plans the file at `path`.
pub fn plan(inputs: &Inputs<'_>, path: &RelPath) -> Planned {
    let last = inputs.rows.get(path).copied();
    let file = inputs.desired.get(path);
    let disk = match inputs.found(path) {
        Found::Absent => None,
        Found::File(bytes) => Some(bytes),
        Found::Obstacle(what) if file.is_some() => {
            return Planned {
                conflict: Some(ConflictKind::Obstacle(what.clone())),
                // Nothing is written, so the row stays.
                row: last.cloned(),
                ..Planned::default()
            };
        }
        Found::Obstacle(_) => {
            return Planned {
                note: Some(NoteKind::Orphaned),
                ..Planned::default()
            };
        }
    };
    let Some(file) = file else {
        return undesired(inputs, path, last, disk);
    };
    let sides = ThreeWay::new(path, last, disk, file);
    let mut planned = desired(inputs, &sides);
    let is_left = matches!(planned.note, Some(NoteKind::Edited | NoteKind::Kept));
    if is_left && file.owner != Owner::User {
        let after = planned.change.as_ref().and_then(|it| it.after.as_deref());
        let text = after.or(disk.map(Vec::as_slice)).unwrap_or_default();
        planned.lacks = merge::lacking(text, &file.content);
    }
    planned
}

fn undesired(
    inputs: &Inputs<'_>,
    path: &RelPath,
    last: Option<&Last<Digest>>,
    disk: Option<&Vec<u8>>,
) -> Planned {
    let digest = disk.map(|bytes| Digest::of(path, bytes));
    let mut planned = Planned::default();
    match reconcile(last, digest.as_ref(), None) {
        Verdict::Delete if inputs.owned.contains(path) => planned.note = Some(NoteKind::Owned),
        Verdict::Delete => {
            planned.change = Some(Change {
                path: path.clone(),
                action: Action::Delete,
                owner: last.map(|row| row.owner),
                before: disk.cloned(),
                after: None,
            });
        }
        Verdict::Orphan => planned.note = Some(NoteKind::Orphaned),
        _ => {}
    }
    planned
}

fn desired(inputs: &Inputs<'_>, sides: &ThreeWay<'_>) -> Planned {
    let ThreeWay {
        path,
        last,
        disk,
        file,
        ..
    } = *sides;
    let Resolved {
        verdict,
        note,
        merged,
        conflict,
        marked,
    } = match inputs.resolved.get(path) {
        Some(resolved) => resolved.clone(),
        None => sides.resolve(inputs.applied.get(path)),
    };
    let done = |change, note| Planned {
        change,
        note,
        row: match verdict.remember() {
            Remember::Nothing => None,
            Remember::Last => sides.left(),
            Remember::Desired => Some(sides.desired()),
        },
        ..Planned::default()
    };
    let anew = |action| done(sides.write(action, file.content.clone()), None);
    if inputs.forced.contains(path) && verdict != Verdict::Unchanged {
        let forced = anew(match (disk, last) {
            (Some(_), _) => Action::Overwrite,
            (None, Some(_)) => Action::Restore,
            (None, None) => Action::Create,
        });
        return Planned {
            row: Some(sides.desired()),
            ..forced
        };
    }
    // After a merge of two branches, what one of them applied is news to the other.
    let is_news = |row: &Digest| *row != sides.digest;
    match verdict {
        Verdict::Create => anew(Action::Create),
        Verdict::Restore => anew(Action::Restore),
        Verdict::Write => anew(Action::Update),
        // A generated file that holds an edit beside what is desired is an edited one.
        Verdict::Merge if file.owner == Owner::Tool && merged.is_some() => {
            let text = merged.unwrap_or_default();
            let is_edited = Digest::of(path, text.as_bytes()) != sides.digest;
            let note = is_edited.then_some(NoteKind::Edited);
            done(sides.write_merged(text), note)
        }
        Verdict::Merge | Verdict::Adopt => {
            let merged = match (merged, conflict) {
                (Some(text), _) => Some(Ok(text)),
                (None, Some(why)) => Some(Err(why)),
                (None, None) => base(inputs, sides).map(|base| sides.merge_onto(base)),
            };
            match merged {
                Some(Ok(text)) => done(sides.write_merged(text), None),
                None => done(None, Some(NoteKind::BaseLost)),
                // Nothing new is applied before the markers are gone.
                Some(Err(ConflictKind::Markers(_))) if note.is_some() => Planned {
                    row: sides.left(),
                    ..done(None, note)
                },
                Some(Err(why)) => settle(inputs, sides, why, marked),
            }
        }
        Verdict::Exists => settle(inputs, sides, ConflictKind::Exists, None),
        Verdict::Edited => {
            let why = conflict.unwrap_or(ConflictKind::Edited);
            settle(inputs, sides, why, marked)
        }
        // The note comes once; then the row is that of what was reported.
        Verdict::KeepUser
            if note.is_none()
                && inputs.owned.contains(path)
                && last.is_some_and(|last| last.any_of.iter().any(is_news)) =>
        {
            Planned {
                row: Some(sides.desired()),
                ..done(None, Some(NoteKind::Outdated))
            }
        }
        Verdict::StaysDeleted => done(None, file.named.then_some(NoteKind::Missing)),
        Verdict::KeepEdited if file.owner == Owner::Tool => {
            done(None, note.or(Some(NoteKind::Edited)))
        }
        Verdict::KeepUser | Verdict::KeepEdited | Verdict::Unchanged => done(None, note),
        Verdict::Ignore | Verdict::Forget | Verdict::Delete | Verdict::Orphan => done(None, None),
    }
}

/// The base of a three-way merge; `None` where it is lost. A file that was there before the project has an empty one.
fn base<'a>(inputs: &'a Inputs<'_>, sides: &ThreeWay<'_>) -> Option<&'a [u8]> {
    if let Some(applied) = inputs.applied.get(sides.path) {
        return Some(applied);
    }
    let Some(last) = sides.last else {
        return Some(&[]);
    };
    let path = memory::base_path(sides.path).ok()?;
    match inputs.found(&path) {
        Found::File(base) if last.owner == Owner::Shared => {
            // With more than one row git merged the base as it merged the file.
            let is_applied =
                last.any_of.len() > 1 || last.any_of.contains(&Digest::of(sides.path, base));
            is_applied.then_some(base.as_slice())
        }
        _ => None,
    }
}

/// The policy's answer to a conflict. `marked` is both sides with conflict markers, where the plan alone cannot make that.
fn settle(
    inputs: &Inputs<'_>,
    sides: &ThreeWay<'_>,
    why: ConflictKind,
    marked: Option<String>,
) -> Planned {
    let policy = inputs
        .decided
        .get(sides.path)
        .map_or(inputs.policy, |it| **it);
    let marked = || match (marked, &why) {
        (Some(text), _) => Ok(text),
        (None, ConflictKind::Markers(_)) => Err(why.clone()),
        (None, _) => with_markers(inputs, sides),
    };
    let settled = match (policy, &why) {
        (Policy::Abort, _) => Err(why),
        (Policy::Take, why) => {
            let change = sides.write(Action::Overwrite, sides.file.content.clone());
            let leaves_out = matches!(why, ConflictKind::EditedOnBranch(_));
            Ok((change, leaves_out.then_some(NoteKind::LeftOut)))
        }
        (Policy::Keep, ConflictKind::EditedOnBranch(Some(edit))) => {
            Ok((sides.write_merged(edit.clone()), Some(NoteKind::Kept)))
        }
        (Policy::Markers, _) | (Policy::Keep, ConflictKind::EditedOnBranch(None)) => {
            marked().map(|text| (sides.write_merged(text), Some(NoteKind::Markers)))
        }
        (Policy::Keep, _) => Ok((None, Some(NoteKind::Kept))),
    };
    match settled {
        Ok((change, note)) => Planned {
            change,
            note,
            row: Some(sides.desired()),
            ..Planned::default()
        },
        Err(why) => Planned {
            conflict: Some(why),
            row: sides.last.cloned(),
            ..Planned::default()
        },
    }
}

/// The text on disk and the desired one with conflict markers where they differ; where the base is known, only where both
/// changed it.
///
/// Errors: one of them is no text, or has markers already.
fn with_markers(inputs: &Inputs<'_>, sides: &ThreeWay<'_>) -> Result<String, ConflictKind> {
    let (ours, theirs) = (sides.ours()?, sides.theirs()?);
    if let Some(sides) = markers::sides(&ours) {
        return Err(ConflictKind::Markers(sides.line));
    }
    let base = sides.last.and_then(|_| base(inputs, sides));
    Ok(match base.and_then(|base| text(base).ok()) {
        Some(base) => markers::conflict_from(&base, &ours, &theirs),
        None => markers::conflict(&ours, &theirs),
    })
}
