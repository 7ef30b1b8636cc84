//! The plan of one file, from its three sides: the verdict, the changes, and the row that the lock will hold.

use super::inputs::{Inputs, Resolved};
use crate::{
    change::{Action, Change, ConflictKind, NoteKind, Policy},
    memory,
    merge::{self, Driver, markers},
    reconcile::{Desired, LastApplied, Remember, Verdict, reconcile},
    tree::{self, Content, Digest, File, Found, Owner, RelPath},
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
    let mut last = inputs.last(at);
    if inputs.named.forgotten.contains(path) {
        last = None;
    }
    let mut disk = match inputs.found(at) {
        Found::Absent => None,
        Found::File(bytes) => Some(bytes),
        // Nothing is written, so the row stays.
        Found::Obstacle(what) if file.is_some() => {
            return Planned {
                conflict: Some(ConflictKind::Obstacle(what.clone())),
                row: last.cloned(),
                ..Planned::default()
            };
        }
        Found::Obstacle(_) => {
            return Planned {
                note: last.map(|_| NoteKind::Orphaned),
                ..Planned::default()
            };
        }
    };
    let named = inputs.named.rewritten.get(path);
    let rewritten = named.and_then(|named| named.text()).map(|it| it.to_vec());
    if let Some(named) = named {
        (last, disk) = (named.row.as_ref(), rewritten.as_ref());
    }
    let mut planned = match file {
        None => undesired(inputs, path, last, disk),
        Some(file) => desired(inputs, &ThreeWay::new(path, last, disk, file), at),
    };
    if let (Some(file), Some(NoteKind::Edited | NoteKind::Kept)) = (file, planned.note)
        && file.owner != Owner::User
    {
        let after = planned.changes.first().and_then(|it| it.after.as_deref());
        let text = after.or(disk.map(Vec::as_slice)).unwrap_or_default();
        planned.lacks = merge::lacking(text, &file.content);
    }
    if let (Some(from), Some(disk)) = (from, disk) {
        planned.changes = moved(path, from, file.map(|file| file.owner), disk, &planned);
    }
    if let Some(named) = named {
        planned.changes.extend(named.change(inputs, path));
    }
    planned
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
    disk: Option<&Vec<u8>>,
) -> Planned {
    let digest = disk.map(|bytes| Digest::of(path, bytes));
    let mut planned = Planned::default();
    match reconcile(last, digest.as_ref(), None) {
        Verdict::Delete if inputs.owned.contains(path) => planned.note = Some(NoteKind::Owned),
        Verdict::Delete => planned.changes.push(Change {
            path: path.clone(),
            action: Action::Delete,
            owner: last.map(|row| row.owner),
            before: disk.cloned(),
            after: None,
        }),
        Verdict::Orphan => planned.note = Some(NoteKind::Orphaned),
        _ => {}
    }
    planned
}

/// Plans a desired file, which is `at` its own path or a former one.
fn desired(inputs: &Inputs, sides: &ThreeWay<'_>, at: &RelPath) -> Planned {
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
        marked,
    } = sides.resolved(inputs);
    let done = |change: Option<Change>, note| Planned {
        changes: change.into_iter().collect(),
        note,
        row: match verdict.remember() {
            Remember::Nothing => None,
            Remember::Last => sides.left(),
            Remember::Desired => Some(sides.desired()),
        },
        ..Planned::default()
    };
    let anew = |action| done(sides.write(action, file.content.clone()), None);
    let conflict = |why, marked| resolve_conflict(inputs, sides, at, why, marked);
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
    // After a git merge, the row of either branch may differ from the desired content.
    let is_news = |row: &Digest| *row != sides.digest;
    match verdict {
        Verdict::Create => anew(Action::Create),
        Verdict::Restore => anew(Action::Restore),
        Verdict::Write => anew(Action::Update),
        Verdict::Merge | Verdict::Adopt => {
            let onto_base = || base(inputs, sides, at).map(|base| sides.merge_onto(base));
            match merged.or_else(onto_base) {
                Some(Ok(text)) => {
                    // A generated file with an edit in its merged text is an edited file.
                    let is_edited = file.owner == Owner::Tool
                        && Digest::of(path, text.as_bytes()) != sides.digest;
                    let note = is_edited.then_some(NoteKind::Edited);
                    done(sides.write_merged(text), note)
                }
                None => done(None, Some(NoteKind::BaseLost)),
                // Nothing new is applied before the markers are gone.
                Some(Err(ConflictKind::Markers(_))) if note.is_some() => Planned {
                    row: sides.left(),
                    ..done(None, note)
                },
                Some(Err(why)) => conflict(why, marked),
            }
        }
        Verdict::Exists => conflict(ConflictKind::Exists, None),
        Verdict::Edited => {
            let why = merged.and_then(Result::err);
            conflict(why.unwrap_or(ConflictKind::Edited), marked)
        }
        // The note comes once: afterwards the row is the desired content.
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
        _ => done(None, note),
    }
}

/// The base of a three-way merge; `None` where it is lost. A file that was there before the project has an empty one.
fn base<'a>(inputs: &'a Inputs, sides: &ThreeWay<'_>, at: &RelPath) -> Option<&'a [u8]> {
    if let Some(applied) = inputs.applied.get(sides.path) {
        return Some(applied);
    }
    let Some(last) = sides.last else {
        return Some(&[]);
    };
    match inputs.found(&memory::base_path(at).ok()?) {
        Found::File(base) if last.owner == Owner::Shared => {
            // After a git merge there is more than one row, and git merged the base, too.
            let is_applied =
                last.any_of.len() > 1 || last.any_of.contains(&Digest::of(sides.path, base));
            is_applied.then_some(base.as_slice())
        }
        _ => None,
    }
}

/// Resolves a conflict by the policy. `marked` is the text with conflict markers, where it is not made from the three sides.
fn resolve_conflict(
    inputs: &Inputs,
    sides: &ThreeWay<'_>,
    at: &RelPath,
    why: ConflictKind,
    marked: Option<String>,
) -> Planned {
    let policy = inputs.answers.get(at).copied().unwrap_or(inputs.policy);
    let marked = || match (marked, &why) {
        (Some(text), _) => Ok(text),
        (None, ConflictKind::Markers(_)) => Err(why.clone()),
        (None, _) => with_markers(inputs, sides, at),
    };
    let resolved = match (policy, &why) {
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
    match resolved {
        Ok((change, note)) => Planned {
            changes: change.into_iter().collect(),
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
/// Errors: one of them is not text, or has markers already.
fn with_markers(
    inputs: &Inputs,
    sides: &ThreeWay<'_>,
    at: &RelPath,
) -> Result<String, ConflictKind> {
    let (ours, theirs) = (sides.ours()?, sides.theirs()?);
    if let Some(sides) = markers::sides(&ours) {
        return Err(ConflictKind::Markers(sides.line));
    }
    let base = sides.last.and_then(|_| base(inputs, sides, at));
    Ok(match base.and_then(|base| text(base).ok()) {
        Some(base) => markers::conflict_from(&base, &ours, &theirs),
        None => markers::conflict(&ours, &theirs),
    })
}

/// The three sides of a desired file: last applied, observed, desired.
#[derive(Clone, Copy)]
pub struct ThreeWay<'a> {
    /// Its desired path.
    pub path: &'a RelPath,
    /// Its row in the lock; `None` for a new file.
    pub last: Option<&'a LastApplied<Digest>>,
    /// The text on disk; `None` without a file.
    pub disk: Option<&'a Vec<u8>>,
    /// The desired file.
    pub file: &'a File,
    /// The digest of the desired text.
    pub digest: Digest,
    /// The digest of the text on disk.
    pub on_disk: Option<Digest>,
}

impl<'a> ThreeWay<'a> {
    /// Compares the sides of the file at `path`.
    pub fn new(
        path: &'a RelPath,
        last: Option<&'a LastApplied<Digest>>,
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
            // Most files are as desired, and equal bytes need one hash.
            on_disk: disk.map(|bytes| match **bytes == *file.content {
                true => digest,
                false => Digest::of(path, bytes),
            }),
        }
    }

    /// The verdict where the last applied text is unknown.
    pub fn verdict(&self) -> Verdict {
        self.verdict_if(false)
    }

    fn verdict_if(&self, merges: bool) -> Verdict {
        let desired = Desired {
            owner: self.file.owner,
            keyed: Driver::of(self.path).is_keyed(),
            merges,
            content: self.digest,
        };
        reconcile(self.last, self.on_disk.as_ref(), Some(&desired))
    }

    /// The verdict, and the merge of a Tool file whose last applied text is known.
    pub fn resolved(&self, inputs: &Inputs) -> Resolved {
        if let Some(resolved) = inputs.resolved.get(self.path) {
            return resolved.clone();
        }
        let applied = inputs.applied.get(self.path);
        let merged = applied.and_then(|applied| self.merge_onto(applied).ok());
        let verdict = self.verdict_if(merged.is_some());
        Resolved {
            merged: merged.filter(|_| verdict == Verdict::Merge).map(Ok),
            ..Resolved::of(verdict, None)
        }
    }

    /// The verdict for a User file that follows a newer definition: `former` was generated from the one before.
    pub fn update_from(&self, former: &Content) -> Resolved {
        let is_unedited = |last: &LastApplied<Digest>| {
            self.on_disk.is_some_and(|disk| last.any_of.contains(&disk))
        };
        let verdict = match self.last {
            _ if self.on_disk == Some(self.digest) => Verdict::Unchanged,
            Some(last) if is_unedited(last) => Verdict::Write,
            _ => Verdict::Merge,
        };
        let merged = (verdict == Verdict::Merge).then(|| self.merge_onto(former));
        Resolved {
            merged,
            ..Resolved::of(verdict, None)
        }
    }

    /// The three-way merge of the text on disk and the desired one.
    pub fn merge_onto(&self, base: &[u8]) -> Result<String, ConflictKind> {
        let driver = Driver::of(self.path);
        driver.merge(&text(base)?, &self.ours()?, &self.theirs()?)
    }

    /// The text on disk.
    pub fn ours(&self) -> Result<String, ConflictKind> {
        text(self.disk.map_or(&[], |bytes| bytes))
    }

    /// The desired text.
    pub fn theirs(&self) -> Result<String, ConflictKind> {
        text(&self.file.content)
    }

    /// The row of a file whose desired text was applied or reported.
    pub fn desired(&self) -> LastApplied<Digest> {
        LastApplied::of(self.file.owner, self.digest)
    }

    /// The row of a file that is kept. A lock that git merged may have several rows; one of them stays, preferably that of the text
    /// on disk.
    pub fn left(&self) -> Option<LastApplied<Digest>> {
        let rows = &self.last?.any_of;
        let known = [self.on_disk, Some(self.digest)];
        let mut known = known.into_iter().flatten().filter(|it| rows.contains(it));
        Some(LastApplied {
            // An owned file is the user's even before its first edit.
            owner: self.file.owner,
            any_of: known
                .next()
                .or_else(|| rows.iter().min().copied())
                .into_iter()
                .collect(),
        })
    }

    /// The change to another text; `None` if only line ends differ.
    pub fn write(&self, action: Action, after: Content) -> Option<Change> {
        let after = match self.disk {
            Some(old) if tree::unix_line_ends(old) == tree::unix_line_ends(&after) => return None,
            Some(old) => tree::with_line_ends_of(old, after),
            None => after,
        };
        Some(Change {
            path: self.path.clone(),
            action,
            owner: Some(self.file.owner),
            before: self.disk.cloned(),
            after: Some(after),
        })
    }

    /// The change to a merged text.
    pub fn write_merged(&self, text: String) -> Option<Change> {
        self.write(Action::Merge, text.into_bytes().into())
    }
}

/// A file's text with `\n` at the ends of lines.
pub fn text(bytes: &[u8]) -> Result<String, ConflictKind> {
    String::from_utf8(tree::unix_line_ends(bytes).into_owned()).map_err(|_| ConflictKind::NoText)
}
