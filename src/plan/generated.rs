//! Tool files of two branches that git merged, or left to be merged.

use std::collections::BTreeSet;

use super::{
    merged::{Apart, Merges, Said, text},
    place::Place,
};
use crate::{
    change::NoteKind,
    git::Unmerged,
    merge::{
        Driver,
        markers::{self, Sides},
    },
    reconcile::{Last, Verdict},
    tree::{Digest, RelPath},
};

/// What is said of a Tool file. What is only generated is written anew; edits of a branch are merged with what is desired.
pub fn generated(
    place: &Place<'_>,
    merges: &Merges,
    disk: &[u8],
    last: &Last<Digest>,
    sides: Option<&Sides>,
    verdict: Verdict,
) -> Said {
    let (path, content) = (place.path, &place.file.content);
    let by_git = sides.filter(|sides| !sides.own);
    let unmerged = merges.unmerged.get(path);
    if verdict != Verdict::Unchanged && is_generated(path, disk, by_git, unmerged, last, content) {
        return Said::of(Verdict::Write, None);
    }
    let stays = Said::of(verdict, sides.map(|_| NoteKind::Markers));
    let (Ok(disk), Ok(desired)) = (text(disk), text(content)) else {
        return stays;
    };
    let Some(edits) = edits(path, merges, &disk, last, sides) else {
        return stays;
    };
    if !edits.as_git_left_it && is_merged(edits.ancestor, &disk, &desired) {
        return match verdict {
            Verdict::Unchanged => stays,
            _ => Said::of(Verdict::KeepEdited, None),
        };
    }
    let (mut merged, driver) = (desired.clone(), Driver::of(path));
    for edit in &edits.texts {
        merged = match driver.merge(edits.ancestor, edit, &merged) {
            Ok(text) => text,
            // Nothing new is desired: two edits that do not go together are in nobody's way.
            Err(_) if by_git.is_some() && verdict == Verdict::KeepEdited => return stays,
            Err(_) if edits.as_git_left_it => {
                let only = match edits.texts[..] {
                    [edit] => Some(edit.to_owned()),
                    _ => None,
                };
                let apart = Apart {
                    edit: only,
                    marked: markers::conflict_from(edits.ancestor, edit, &merged),
                };
                return Said {
                    apart: Some(apart),
                    ..Said::of(Verdict::Edited, None)
                };
            }
            Err(_)
                if verdict == Verdict::KeepEdited && !lines(&desired).is_subset(&lines(&disk)) =>
            {
                return Said::of(verdict, Some(NoteKind::Kept));
            }
            Err(_) => return stays,
        }
    }
    match Digest::of(path, merged.as_bytes()) == place.digest {
        true if verdict == Verdict::Unchanged => stays,
        true => Said::of(Verdict::Write, None),
        false if merged == disk => Said::of(Verdict::KeepEdited, None),
        false => Said {
            text: Some(merged),
            ..Said::of(Verdict::Merge, None)
        },
    }
}

/// The edits of a Tool file that two branches changed.
struct Edits<'a> {
    /// What both branches had.
    ancestor: &'a str,
    /// The texts with edits.
    texts: Vec<&'a str>,
    /// Whether the file waits in git's index, and nobody has touched it.
    as_git_left_it: bool,
}

/// The edits of a Tool file that git knows both branches of. They were made from the texts of their branch, whatever the lock
/// of both says. `None` where nobody can tell them: the file has markers of the user's, or was changed after the merge.
fn edits<'a>(
    path: &RelPath,
    merges: &'a Merges,
    disk: &'a str,
    last: &Last<Digest>,
    sides: Option<&Sides>,
) -> Option<Edits<'a>> {
    let unmerged = merges.unmerged.get(path);
    let git = unmerged.or_else(|| merges.committed.get(path))?;
    let branches = || [&git.ours, &git.theirs].into_iter().flatten();
    // Of a file that it does not try to merge git leaves the text of the branch that was there.
    let is_left_by_git = match sides.filter(|sides| !sides.own) {
        Some(sides) => told(sides).is_subset(&branches().flat_map(|text| lines(text)).collect()),
        None => branches().next().is_some_and(|ours| ours == disk),
    };
    let ancestor = git.ancestor.as_deref().unwrap_or_default();
    let as_git_left_it = unmerged.is_some() && is_left_by_git && !merges.settled;
    let texts = if as_git_left_it {
        let is_edited = |text: &&str| !last.any_of.contains(&Digest::of(path, text.as_bytes()));
        branches().map(String::as_str).filter(is_edited).collect()
    } else {
        // What the user left out when settling it is left out; what was committed is the text of one branch.
        let is_settled = unmerged.is_some() && sides.is_none();
        let is_committed = unmerged.is_none() && is_left_by_git;
        (is_settled || is_committed).then(|| vec![disk])?
    };
    Some(Edits {
        ancestor,
        texts,
        as_git_left_it,
    })
}

/// Whether what is new in a text since its ancestor stands on disk already, and what is gone does not: a sync before has
/// merged it, and git does not know until the file is added.
fn is_merged(ancestor: &str, disk: &str, desired: &str) -> bool {
    let [ancestor, disk, desired] = [ancestor, disk, desired].map(lines);
    desired.is_subset(&disk)
        && ancestor
            .difference(&desired)
            .all(|gone| !disk.contains(gone))
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
        Some(sides) => told(sides),
        None => lines(&String::from_utf8_lossy(disk)),
    };
    if let Some(Unmerged { ours, theirs, .. }) = unmerged {
        let branches = [ours, theirs].into_iter().flatten();
        let known: BTreeSet<_> = branches.clone().flat_map(|text| lines(text)).collect();
        return branches.clone().all(|text| is_row(text)) && told.is_subset(&known);
    }
    match sides {
        Some(_) => told.is_subset(&lines(&String::from_utf8_lossy(desired))),
        // git saw no conflict where both branches added lines: it may have put them in another order.
        None => last.any_of.len() > 1 && told == lines(&String::from_utf8_lossy(desired)),
    }
}

/// The lines between markers and around them.
fn told(Sides { ours, theirs, .. }: &Sides) -> BTreeSet<String> {
    &lines(ours) | &lines(theirs)
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}
