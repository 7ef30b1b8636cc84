//! What becomes of one file, and what is remembered of it: the latter follows from the former.

use super::{
    Inputs, Merges, found,
    merged::{self, Apart, Said},
    place::Place,
};
use crate::{
    change::{Action, Change, ConflictKind, NoteKind, Policy},
    memory::Memory,
    reconcile::{Last, Remember, Verdict, reconcile},
    tree::{self, Content, Digest, Found, Owner, RelPath, Tree, unix_line_ends},
};

/// The plan of one file.
#[derive(Default)]
pub struct Planned {
    pub change: Option<Change>,
    pub note: Option<NoteKind>,
    /// The generated lines that an edited file lacks which has a note.
    pub lacks: Vec<String>,
    pub conflict: Option<ConflictKind>,
    /// The row that the lock will hold.
    pub row: Option<Last<Digest>>,
}

/// What the table says of a file, after git, and the digest of what is there; `found` has no obstacle.
pub fn verdict(
    memory: &Memory,
    desired: &Tree,
    found: Option<&Found>,
    merges: &Merges,
    path: &RelPath,
) -> (Verdict, Option<Digest>) {
    let last = memory.rows.get(path);
    let disk = match found {
        Some(Found::File(bytes)) => Some(bytes),
        _ => None,
    };
    match desired.get(path) {
        Some(file) => {
            let place = Place::new(path, last, disk, file);
            (place.said(merges).verdict, place.on_disk)
        }
        None => {
            let on_disk = disk.map(|bytes| Digest::of(path, bytes));
            (reconcile(last, on_disk.as_ref(), None), on_disk)
        }
    }
}

/// Plans one file.
pub fn plan_file(inputs: &Inputs<'_>, path: &RelPath) -> Planned {
    let last = inputs.rows.get(path).copied();
    let file = inputs.desired.get(path);
    let disk = match found(inputs, path) {
        Found::Absent => None,
        Found::File(bytes) => Some(bytes),
        Found::Obstacle(what) => {
            return match file {
                Some(_) => Planned {
                    conflict: Some(ConflictKind::Obstacle(what.clone())),
                    // Nothing is written, so what was applied stays known.
                    row: last.cloned(),
                    ..Planned::default()
                },
                None => Planned {
                    note: Some(NoteKind::Orphaned),
                    ..Planned::default()
                },
            };
        }
    };
    match file {
        None => undesired(inputs, path, last, disk),
        Some(file) => {
            let place = Place::new(path, last, disk, file);
            let mut planned = desired(inputs, &place);
            let is_left = matches!(planned.note, Some(NoteKind::Edited | NoteKind::Kept));
            if is_left && file.owner != Owner::User {
                let after = planned.change.as_ref().and_then(|it| it.after.as_deref());
                let text = after.or(disk.map(Vec::as_slice)).unwrap_or_default();
                planned.lacks = place.lacks(text);
            }
            planned
        }
    }
}

fn undesired(
    inputs: &Inputs<'_>,
    path: &RelPath,
    last: Option<&Last<Digest>>,
    disk: Option<&Vec<u8>>,
) -> Planned {
    let digest = disk.map(|bytes| Digest::of(path, bytes));
    let (change, note) = match reconcile(last, digest.as_ref(), None) {
        Verdict::Delete if inputs.owned.contains(path) => (None, Some(NoteKind::Owned)),
        Verdict::Delete => {
            let change = Change {
                path: path.clone(),
                action: Action::Delete,
                owner: last.map(|row| row.owner),
                before: disk.cloned(),
                after: None,
            };
            (Some(change), None)
        }
        Verdict::Orphan => (None, Some(NoteKind::Orphaned)),
        _ => (None, None),
    };
    Planned {
        change,
        note,
        ..Planned::default()
    }
}

fn desired(inputs: &Inputs<'_>, place: &Place<'_>) -> Planned {
    let Place {
        path,
        last,
        disk,
        file,
        ..
    } = *place;
    let Said {
        verdict,
        note,
        text,
        apart,
    } = place.said(inputs.merges);
    let done = |change, note| Planned {
        change,
        note,
        row: match verdict.remember() {
            Remember::Nothing => None,
            Remember::Last => place.left(),
            Remember::Desired => Some(place.desired()),
        },
        ..Planned::default()
    };
    let anew = |action| done(write(place, action, file.content.clone()), None);
    if inputs.forced.contains(path) && verdict != Verdict::Unchanged {
        let forced = anew(match (disk, last) {
            (Some(_), _) => Action::Overwrite,
            (None, Some(_)) => Action::Restore,
            (None, None) => Action::Create,
        });
        return Planned {
            row: Some(place.desired()),
            ..forced
        };
    }
    // What one branch of two has applied is news to the other.
    let is_news = |row: &Digest| *row != place.digest;
    match verdict {
        Verdict::Create => anew(Action::Create),
        Verdict::Restore => anew(Action::Restore),
        Verdict::Write => anew(Action::Update),
        Verdict::Merge | Verdict::Adopt => {
            let merged = match text {
                // A generated file that holds what is desired beside an edit is an edited one.
                Some(text) => {
                    let is_edited = Digest::of(path, text.as_bytes()) != place.digest;
                    Ok((Some(text), is_edited.then_some(NoteKind::Edited)))
                }
                None => merged::merge(inputs, place).map(|text| (text, None)),
            };
            match merged {
                Ok((Some(text), note)) => {
                    done(write(place, Action::Merge, text.into_bytes().into()), note)
                }
                Ok((None, _)) => done(None, Some(NoteKind::BaseLost)),
                // What is new waits: it is not applied before the markers are gone.
                Err(ConflictKind::Markers(_)) if note.is_some() => Planned {
                    row: place.left(),
                    ..done(None, note)
                },
                Err(why) => settle(inputs, place, why, None),
            }
        }
        Verdict::Exists => settle(inputs, place, ConflictKind::Exists, None),
        Verdict::Edited => match apart {
            Some(apart) => {
                let edit = apart.edit.clone();
                settle(
                    inputs,
                    place,
                    ConflictKind::EditedOnBranch(edit),
                    Some(apart),
                )
            }
            None => {
                let line = disk
                    .and_then(|bytes| merged::sides(bytes))
                    .map(|sides| sides.line);
                let why = line.map_or(ConflictKind::Edited, ConflictKind::Markers);
                settle(inputs, place, why, None)
            }
        },
        // It is told once, and then remembered as told.
        Verdict::KeepUser
            if note.is_none()
                && inputs.owned.contains(path)
                && last.is_some_and(|last| last.any_of.iter().any(is_news)) =>
        {
            Planned {
                row: Some(place.desired()),
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

/// What is done about a file in the way; of one that git merged, `apart` is what a branch had there.
fn settle(
    inputs: &Inputs<'_>,
    place: &Place<'_>,
    why: ConflictKind,
    apart: Option<Apart>,
) -> Planned {
    let policy = inputs.decided.get(place.path).unwrap_or(&inputs.policy);
    let merge = |text: String| write(place, Action::Merge, text.into_bytes().into());
    let take = || write(place, Action::Overwrite, place.file.content.clone());
    let settled = match (policy, apart) {
        (Policy::Abort, _) => Err(why),
        (Policy::Take, None) => Ok((take(), None)),
        (Policy::Take, Some(_)) => Ok((take(), Some(NoteKind::LeftOut))),
        (Policy::Keep, None) => Ok((None, Some(NoteKind::Kept))),
        (
            Policy::Keep,
            Some(Apart {
                edit: Some(edit), ..
            }),
        ) => Ok((merge(edit), Some(NoteKind::Kept))),
        (Policy::Keep | Policy::Markers, Some(apart)) => {
            Ok((merge(apart.marked), Some(NoteKind::Markers)))
        }
        (Policy::Markers, None) => {
            merged::marked(inputs, place).map(|text| (merge(text), Some(NoteKind::Markers)))
        }
    };
    match settled {
        Ok((change, note)) => Planned {
            change,
            note,
            row: Some(place.desired()),
            ..Planned::default()
        },
        Err(why) => Planned {
            conflict: Some(why),
            row: place.last.cloned(),
            ..Planned::default()
        },
    }
}

/// The change to another text, if it is one: a file with line ends of both kinds is left so.
fn write(place: &Place<'_>, action: Action, after: Content) -> Option<Change> {
    let after = match place.disk {
        Some(old) if unix_line_ends(old) == unix_line_ends(&after) => return None,
        Some(old) => tree::with_line_ends_of(old, after),
        None => after,
    };
    Some(Change {
        path: place.path.clone(),
        action,
        owner: Some(place.file.owner),
        before: place.disk.cloned(),
        after: Some(after),
    })
}
