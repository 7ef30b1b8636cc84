//! Files with the work of two in them: of the user and the templates, or of two branches that git merged.
//!
//! A git merge leaves what it could not merge with conflict markers, in a file and in the text that it was made from
//! alike. Its sides are merged again with the file's own driver, and the result is then treated as any edited file.

use std::collections::BTreeMap;

use super::{Inputs, found, generated::generated, place::Place};
use crate::{
    change::{ConflictKind, NoteKind},
    git::Unmerged,
    memory,
    merge::{
        Driver,
        markers::{self, Sides},
    },
    reconcile::{Last, Verdict},
    tree::{self, Content, Digest, Found, Owner, RelPath},
};

/// The sides of a file with conflict markers.
pub fn sides(bytes: &[u8]) -> Option<Sides> {
    let text = std::str::from_utf8(bytes).ok()?;
    markers::sides(text)?;
    markers::sides(&String::from_utf8_lossy(&tree::unix_line_ends(
        text.as_bytes(),
    )))
}

/// What is known of the files that have to be merged.
#[derive(Clone, Debug, Default)]
pub struct Merges {
    /// Edited Tool files that have to change, as they were last applied.
    pub applied: BTreeMap<RelPath, Content>,
    /// Those that git could not merge, in its index.
    pub unmerged: BTreeMap<RelPath, Unmerged>,
    /// Whether a command has written since.
    pub settled: bool,
    /// Those of the last commit, where it is a merge that kept the text of one branch.
    pub committed: BTreeMap<RelPath, Unmerged>,
}

/// What is said of a file.
pub struct Said {
    /// The row of the table.
    pub verdict: Verdict,
    /// What is told where the file stays as it is.
    pub note: Option<NoteKind>,
    /// Of a Tool file that is merged the merged text.
    pub text: Option<String>,
    /// Of a Tool file whose sides do not go together what there is of both.
    pub apart: Option<Apart>,
}

/// An edit on a branch that git merged, and what is generated now, which do not go together.
pub struct Apart {
    /// The text of the branch; `None` where both branches have an edit.
    pub edit: Option<String>,
    /// Both, with conflict markers around what differs.
    pub marked: String,
}

impl Said {
    pub fn of(verdict: Verdict, note: Option<NoteKind>) -> Self {
        Self {
            verdict,
            note,
            text: None,
            apart: None,
        }
    }
}

/// What the table would say of a file without the traces of a git merge in it.
pub fn after_git(place: &Place<'_>, merges: &Merges, verdict: Verdict) -> Said {
    let (Some(disk), Some(last)) = (place.disk, place.last) else {
        return Said::of(verdict, None);
    };
    let (unmerged, owner) = (merges.unmerged.get(place.path), place.file.owner);
    let may_lack = unmerged.is_some() && (verdict != Verdict::Unchanged || owner != Owner::Shared);
    if !may_lack && !verdict.leaves_edits() {
        return Said::of(verdict, None);
    }
    let sides = sides(disk);
    let markers = sides.as_ref().map(|_| NoteKind::Markers);
    match owner {
        Owner::Tool => generated(place, merges, disk, last, sides.as_ref(), verdict),
        // Where nothing new is desired, two edits that do not go together are in nobody's way.
        Owner::Shared if sides.as_ref().is_some_and(|sides| !sides.own) => {
            let stays = verdict == Verdict::KeepEdited;
            Said::of(Verdict::Merge, markers.filter(|_| stays))
        }
        Owner::Shared => Said::of(verdict, markers),
        // A text may show what a conflict looks like.
        Owner::User => {
            let is_one =
                |sides: &Sides| sides.own || unmerged.is_some() || !parses(place.path, disk);
            let markers = markers.filter(|_| sides.as_ref().is_some_and(is_one));
            let left = unmerged.filter(|git| is_one_of_two(git, disk));
            Said::of(verdict, markers.or(left.map(|_| NoteKind::Unmerged)))
        }
    }
}

/// Whether git did not try to merge a file: the text of the branch that was there stands there, and the other one has an
/// edit of its own.
fn is_one_of_two(git: &Unmerged, disk: &[u8]) -> bool {
    let disk = tree::unix_line_ends(disk);
    git.ancestor.is_some()
        && git.theirs.is_some()
        && git.theirs != git.ours
        && git.theirs != git.ancestor
        && git
            .ours
            .as_ref()
            .is_some_and(|ours| ours.as_bytes() == &*disk)
}

fn parses(path: &RelPath, bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| Driver::of(path).parses(text).is_ok())
}

/// The text of a Tool file that has what the user changed in it and what is desired, where both go together. What has conflict
/// markers waits until they are gone.
pub fn with_edit(place: &Place<'_>, merges: &Merges) -> Option<String> {
    let applied = text(merges.applied.get(place.path)?).ok()?;
    let disk = text(place.disk?).ok()?;
    if markers::sides(&disk).is_some() {
        return None;
    }
    let desired = text(&place.file.content).ok()?;
    Driver::of(place.path).merge(&applied, &disk, &desired).ok()
}

/// The merged text of a Shared file; `None` where the text that was last applied is lost.
pub fn merge(inputs: &Inputs<'_>, place: &Place<'_>) -> Result<Option<String>, ConflictKind> {
    let Place {
        path,
        last,
        disk,
        file,
        ..
    } = *place;
    let disk = text(disk.map_or(&[], |bytes| bytes))?;
    let (base, ours) = match last {
        None => (String::new(), disk),
        Some(last) => match base_and_ours(inputs, path, last, disk)? {
            Some(both) => both,
            None => return Ok(None),
        },
    };
    Driver::of(path)
        .merge(&base, &ours, &text(&file.content)?)
        .map(Some)
}

/// The text that was last applied and the one that stands there now, neither with conflict markers.
fn base_and_ours(
    inputs: &Inputs<'_>,
    path: &RelPath,
    last: &Last<Digest>,
    disk: String,
) -> Result<Option<(String, String)>, ConflictKind> {
    let is_row = |text: &str| last.any_of.contains(&Digest::of(path, text.as_bytes()));
    let base = memory::base_path(path).ok();
    let Some((base_path, Found::File(bytes))) =
        base.map(|base| (base.clone(), found(inputs, &base)))
    else {
        return Ok(None);
    };
    let base = text(bytes)?;
    let again = |at: &RelPath, sides: &Sides| {
        let base = ancestor(inputs, at, sides)?;
        let merged = Driver::of(path).merge(base, &sides.ours, &sides.theirs);
        merged.ok()
    };
    Ok(match (markers::sides(&disk), markers::sides(&base)) {
        // More than one row says that git merged the base as it merged the file.
        (None, None) if is_row(&base) || last.any_of.len() > 1 => Some((base, disk)),
        (None, None) => None,
        (None, Some(sides)) => again(&base_path, &sides)
            .or([sides.ours, sides.theirs].into_iter().find(|s| is_row(s)))
            .map(|base| (base, disk)),
        (Some(sides), Some(base)) if (&sides.ours, &sides.theirs) == (&base.ours, &base.theirs) => {
            // Nobody edited it on either branch.
            Some((base.ours.clone(), base.ours))
        }
        (Some(sides), base_sides) => {
            let base = match base_sides {
                None => Some(base),
                Some(sides) => again(&base_path, &sides),
            };
            let ours = again(path, &sides).filter(|_| !sides.own);
            let ours = ours
                .filter(|merged| keeps_comments(ancestor(inputs, path, &sides), &sides, merged));
            let both = base.zip(ours);
            Some(both.ok_or(ConflictKind::Markers(sides.line))?)
        }
    })
}

/// What both sides of a conflict in the file at `path` were made from, as far as it is known.
fn ancestor<'a>(inputs: &'a Inputs<'_>, path: &RelPath, sides: &'a Sides) -> Option<&'a str> {
    let git = inputs.merges.unmerged.get(path);
    let ancestor = git.and_then(|git| git.ancestor.as_deref());
    ancestor.or(sides.base.as_deref())
}

/// Whether the new comments of both sides are in the merged text. Of two that differ a driver keeps the user's, and both
/// of these are.
fn keeps_comments(ancestor: Option<&str>, sides: &Sides, merged: &str) -> bool {
    let has = |text: &str, comment: &str| text.lines().any(|line| line.trim() == comment);
    let lines = sides
        .ours
        .lines()
        .chain(sides.theirs.lines())
        .map(str::trim);
    let mut comments = lines.filter(|line| line.starts_with('#') || line.starts_with("//"));
    comments.all(|line| has(merged, line) || ancestor.is_some_and(|text| has(text, line)))
}

/// The user's text and the desired one with conflict markers where they differ; where it is known what was applied last,
/// only where both changed.
///
/// Errors: there is no text, or it has markers already.
pub fn marked(inputs: &Inputs<'_>, place: &Place<'_>) -> Result<String, ConflictKind> {
    let disk = text(place.disk.map_or(&[], |bytes| bytes))?;
    let new = text(&place.file.content)?;
    if let Some(sides) = markers::sides(&disk) {
        return Err(ConflictKind::Markers(sides.line));
    }
    let base = match (place.last, inputs.merges.applied.get(place.path)) {
        (_, Some(applied)) => text(applied).ok(),
        (Some(last), None) if place.file.owner == Owner::Shared => {
            let both = base_and_ours(inputs, place.path, last, disk.clone());
            both.ok().flatten().map(|(base, _)| base)
        }
        _ => None,
    };
    Ok(match base {
        Some(base) => markers::conflict_from(&base, &disk, &new),
        None => markers::conflict(&disk, &new),
    })
}

pub fn text(bytes: &[u8]) -> Result<String, ConflictKind> {
    String::from_utf8(tree::unix_line_ends(bytes).into_owned()).map_err(|_| ConflictKind::NoText)
}
