//! What becomes of one file, and what is remembered of it: the latter follows from the former.

use super::{
    Inputs, Merges, found,
    merged::{self, Said},
};
use crate::{
    change::{Action, Change, ConflictKind, NoteKind, Policy},
    memory::Memory,
    merge::Driver,
    reconcile::{Desired, Last, Remember, Verdict, reconcile},
    tree::{self, Content, Digest, File, Found, Owner, RelPath, Tree, unix_line_ends},
};

/// The plan of one file.
#[derive(Default)]
pub struct Planned {
    pub change: Option<Change>,
    pub note: Option<NoteKind>,
    pub conflict: Option<ConflictKind>,
    /// The row that the lock will hold.
    pub row: Option<Last<Digest>>,
}

/// A file that is desired, as it was applied, as it is on disk and as it should be.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub path: &'a RelPath,
    pub last: Option<&'a Last<Digest>>,
    pub disk: Option<&'a Vec<u8>>,
    pub file: &'a File,
    /// What is desired.
    pub digest: Digest,
    on_disk: Option<Digest>,
}

impl<'a> Place<'a> {
    fn new(
        path: &'a RelPath,
        last: Option<&'a Last<Digest>>,
        disk: Option<&'a Vec<u8>>,
        file: &'a File,
    ) -> Self {
        let digest = file.digest(path);
        Self {
            path,
            last,
            disk,
            file,
            digest,
            // Most files are as they should be, and equal bytes need one hash.
            on_disk: disk.map(|bytes| match **bytes == *file.content {
                true => digest,
                false => Digest::of(path, bytes),
            }),
        }
    }

    /// The row of the table, after git.
    fn said(&self, merges: &Merges) -> Said {
        let desired = Desired {
            owner: self.file.owner,
            keyed: Driver::of(self.path).is_keyed(self.path),
            content: self.digest,
        };
        let verdict = reconcile(self.last, self.on_disk.as_ref(), Some(&desired));
        merged::after_git(self, merges, verdict)
    }

    /// What is remembered once the file holds what is desired, or that was told.
    fn desired(&self) -> Last<Digest> {
        Last {
            owner: self.file.owner,
            any_of: vec![self.digest],
        }
    }

    /// What is remembered of a file that is left alone. A git merge may have kept the rows of both branches: one of them is
    /// true of it.
    fn left(&self) -> Option<Last<Digest>> {
        let rows = &self.last?.any_of;
        let known = [self.on_disk, Some(self.digest)];
        let mut known = known.into_iter().flatten().filter(|it| rows.contains(it));
        Some(Last {
            // A file that was taken over is the user's, also where it still holds what was applied.
            owner: self.file.owner,
            any_of: known
                .next()
                .or_else(|| rows.iter().min().copied())
                .into_iter()
                .collect(),
        })
    }
}

/// What the table says of a file, after git; `found` has no obstacle there.
pub fn verdict(
    memory: &Memory,
    desired: &Tree,
    found: Option<&Found>,
    merges: &Merges,
    path: &RelPath,
) -> Verdict {
    let last = memory.rows.get(path);
    let disk = match found {
        Some(Found::File(bytes)) => Some(bytes),
        _ => None,
    };
    match desired.get(path) {
        Some(file) => Place::new(path, last, disk, file).said(merges).verdict,
        None => reconcile(
            last,
            disk.map(|bytes| Digest::of(path, bytes)).as_ref(),
            None,
        ),
    }
}

/// Plans one file.
pub fn plan_file(inputs: &Inputs<'_>, path: &RelPath) -> Planned {
    let last = inputs.memory.rows.get(path);
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
        Some(file) => desired(inputs, &Place::new(path, last, disk, file)),
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
    } = place.said(inputs.merges);
    let done = |change, note| Planned {
        change,
        note,
        conflict: None,
        row: match verdict.remember() {
            Remember::Nothing => None,
            Remember::Last => place.left(),
            Remember::Desired => Some(place.desired()),
        },
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
                Some(text) => Ok((Some(text), Some(NoteKind::Edited))),
                None => merged::merge(inputs, place).map(|text| (text, None)),
            };
            match merged {
                Ok((Some(text), note)) => {
                    done(write(place, Action::Merge, text.into_bytes().into()), note)
                }
                Ok((None, _)) => done(None, Some(NoteKind::BaseLost)),
                Err(ConflictKind::Markers(_)) if note.is_some() => done(None, note),
                Err(why) => settle(inputs, place, why, None),
            }
        }
        Verdict::Exists => settle(inputs, place, ConflictKind::Exists, None),
        Verdict::Edited => settle(inputs, place, ConflictKind::Edited, text),
        // It is told once, and then remembered as told.
        Verdict::KeepUser
            if inputs.owned.contains(path)
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
        Verdict::KeepUser | Verdict::KeepEdited => done(None, note),
        Verdict::Unchanged
        | Verdict::Ignore
        | Verdict::Forget
        | Verdict::Delete
        | Verdict::Orphan => done(None, None),
    }
}

/// What is done about a file in the way; `marked` is its text with conflict markers, where that is known.
fn settle(
    inputs: &Inputs<'_>,
    place: &Place<'_>,
    why: ConflictKind,
    marked: Option<String>,
) -> Planned {
    let policy = inputs.decided.get(place.path).unwrap_or(&inputs.policy);
    let marked = || marked.map_or_else(|| merged::marked(inputs, place), Ok);
    let content = || place.file.content.clone();
    let settled = match policy {
        Policy::Abort => Err(why),
        Policy::Keep => Ok((None, Some(NoteKind::Kept))),
        Policy::Take => Ok((write(place, Action::Overwrite, content()), None)),
        Policy::Markers => marked().map(|text| {
            (
                write(place, Action::Merge, text.into_bytes().into()),
                Some(NoteKind::Markers),
            )
        }),
    };
    match settled {
        Ok((change, note)) => Planned {
            change,
            note,
            conflict: None,
            row: Some(place.desired()),
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
