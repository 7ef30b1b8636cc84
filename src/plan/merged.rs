//! Files with the work of two in them: of the user and the templates, or of two branches that git merged.
//!
//! A git merge leaves what it could not merge with conflict markers, in a file and in the text that it was made from
//! alike. Its sides are merged again with the file's own driver, and the result is then treated as any edited file.

use std::collections::BTreeSet;

use super::{Inputs, found};
use crate::{
    change::ConflictKind,
    git::Unmerged,
    memory,
    merge::{
        Driver,
        markers::{self, Sides},
    },
    reconcile::{Last, Verdict},
    tree::{self, Digest, File, Found, Owner, RelPath},
};

/// The sides of a file with conflict markers.
pub fn sides(bytes: &[u8]) -> Option<Sides> {
    let text = std::str::from_utf8(bytes).ok()?;
    markers::sides(text)?;
    markers::sides(&String::from_utf8_lossy(&tree::unix_line_ends(
        text.as_bytes(),
    )))
}

/// What the table would say of a file without the traces of a git merge in it, and whether conflict markers that only the
/// user can settle may stay for now.
pub fn after_git(
    path: &RelPath,
    disk: &[u8],
    unmerged: Option<&Unmerged>,
    last: &Last<Digest>,
    file: &File,
    verdict: Verdict,
) -> (Verdict, bool) {
    if verdict == Verdict::Unchanged || (unmerged.is_none() && !verdict.leaves_edits()) {
        return (verdict, false);
    }
    let sides = sides(disk);
    let by_git = sides.as_ref().filter(|sides| !sides.own);
    match file.owner {
        Owner::Tool => match is_generated(path, disk, by_git, unmerged, last, &file.content) {
            true => (Verdict::Write, false),
            // What git left of it may be unedited while the other branch has an edit.
            false if unmerged.is_some() && verdict == Verdict::Write => {
                (Verdict::Edited, sides.is_some())
            }
            false => (verdict, sides.is_some()),
        },
        // Where nothing new is desired, two edits that do not go together are in nobody's way.
        Owner::Shared if by_git.is_some() => (Verdict::Merge, verdict == Verdict::KeepEdited),
        _ => (verdict, sides.is_some()),
    }
}

/// Whether a Tool file holds only what was generated on two branches: both sides are what was applied, or no line but the
/// markers is new.
fn is_generated(
    path: &RelPath,
    disk: &[u8],
    sides: Option<&Sides>,
    unmerged: Option<&Unmerged>,
    last: &Last<Digest>,
    desired: &[u8],
) -> bool {
    let is_row = |side: &str| last.any_of.contains(&Digest::of(path, side.as_bytes()));
    let told = match sides {
        Some(Sides { ours, theirs, .. }) if is_row(ours) && is_row(theirs) => return true,
        Some(Sides { ours, theirs, .. }) => &lines(ours.as_bytes()) | &lines(theirs.as_bytes()),
        None => lines(disk),
    };
    if let Some(Unmerged { ours, theirs, .. }) = unmerged {
        let branches = [ours, theirs].into_iter().flatten();
        let known: BTreeSet<_> = branches.clone().flat_map(|t| lines(t.as_bytes())).collect();
        return branches.clone().all(|text| is_row(text)) && told.is_subset(&known);
    }
    match sides {
        Some(_) => told.is_subset(&lines(desired)),
        // git saw no conflict where both branches added lines: it may have put them in another order.
        None => last.any_of.len() > 1 && told == lines(desired),
    }
}

fn lines(text: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// The merged text of a Shared file; `None` where the text that was last applied is lost.
pub fn merge(
    inputs: &Inputs<'_>,
    path: &RelPath,
    last: Option<&Last<Digest>>,
    disk: Option<&Vec<u8>>,
    file: &File,
) -> Result<Option<String>, ConflictKind> {
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
        let known = inputs
            .unmerged
            .get(at)
            .and_then(|git| git.ancestor.as_ref())
            .or(sides.base.as_ref());
        let merge = |base| Driver::of(path).merge(base, &sides.ours, &sides.theirs);
        known.and_then(|base| merge(base).ok())
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
            let both = base.zip(ours);
            Some(both.ok_or(ConflictKind::Markers(sides.line))?)
        }
    })
}

/// The user's text and the desired one with conflict markers where they differ; where it is known what was applied last,
/// only where both changed. `None` for what is no text, or has markers already.
pub fn marked(
    inputs: &Inputs<'_>,
    path: &RelPath,
    last: Option<&Last<Digest>>,
    disk: Option<&Vec<u8>>,
    file: &File,
) -> Option<String> {
    let (disk, new) = (text(disk?).ok()?, text(&file.content).ok()?);
    if markers::sides(&disk).is_some() {
        return None;
    }
    let base = match (last, file.owner) {
        (Some(last), Owner::Shared) => base_and_ours(inputs, path, last, disk.clone()),
        _ => Ok(None),
    };
    Some(match base {
        Ok(Some((base, _))) => markers::conflict_from(&base, &disk, &new),
        _ => markers::conflict(&disk, &new),
    })
}

fn text(bytes: &[u8]) -> Result<String, ConflictKind> {
    String::from_utf8(tree::unix_line_ends(bytes).into_owned())
        .map_err(|_| ConflictKind::Unparsable("it is not UTF-8 text".to_owned()))
}
