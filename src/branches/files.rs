//! Files with the work of two branches in them.
//!
//! git leaves what it could not merge with conflict markers, in a file and in its base alike. The sides are merged again with
//! the file's own driver, and the result then counts as any edited file.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    change::{ConflictKind, NoteKind},
    git::Unmerged,
    memory::{self, Memory},
    merge::{
        Driver,
        markers::{self, Sides},
    },
    plan::{self, NamedFiles, Resolved, ThreeWay, text},
    reconcile::{Last, Verdict},
    tree::{self, Digest, Found, Owner, RelPath, Tree},
};

/// What git knows of the files of a merge.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The unmerged paths.
    pub unmerged: BTreeMap<RelPath, Unmerged>,
    /// Whether `sync` has written since git merged.
    pub settled: bool,
    /// The files of which the last commit, a merge, kept the text of one branch.
    pub committed: BTreeMap<RelPath, Unmerged>,
}

/// The verdicts for files with traces of a git merge, allowing for it. All others are left to the table, and so are the files
/// that a command names.
pub fn resolve(
    texts: &Texts,
    memory: &Memory,
    desired: &Tree,
    found: &BTreeMap<RelPath, Found>,
    named: &NamedFiles,
) -> BTreeMap<RelPath, Resolved> {
    let rows = memory.rows.iter().collect();
    let moves = plan::moves(&rows, desired, &found.iter().collect());
    let mut resolved = BTreeMap::new();
    for (path, file) in desired {
        let at = moves.get(path).unwrap_or(path);
        let (Some(last), Some(Found::File(disk))) = (memory.rows.get(at), found.get(at)) else {
            continue;
        };
        let is_unmerged = texts.unmerged.contains_key(at);
        let is_as_desired = **disk == *file.content && !is_unmerged;
        if is_as_desired || named.rewritten.contains_key(path) {
            continue;
        }
        let base = memory::base_path(at).ok();
        let base = base.filter(|_| file.owner == Owner::Shared);
        let base = base.and_then(|path| match found.get(&path) {
            Some(Found::File(bytes)) => Some((path, bytes.as_slice())),
            _ => None,
        });
        let sides = markers_of(disk);
        let is_traced = is_unmerged
            || sides.is_some()
            || last.any_of.len() > 1
            || texts.committed.contains_key(at)
            || base
                .as_ref()
                .is_some_and(|(_, text)| markers_of(text).is_some());
        if is_traced {
            let merged = Merged {
                texts,
                at,
                last,
                disk,
                base,
                file: ThreeWay::new(path, Some(last), Some(disk), file),
                sides,
            };
            resolved.extend(merged.resolve().map(|resolved| (path.clone(), resolved)));
        }
    }
    resolved
}

/// The sides of a text with conflict markers.
fn markers_of(bytes: &[u8]) -> Option<Sides> {
    let text = std::str::from_utf8(bytes).ok()?;
    markers::sides(text)?;
    markers::sides(&String::from_utf8_lossy(&tree::unix_line_ends(bytes)))
}

/// A file with traces of a git merge.
struct Merged<'a> {
    texts: &'a Texts,
    /// Where it is.
    at: &'a RelPath,
    last: &'a Last<Digest>,
    disk: &'a [u8],
    /// The path and the text of a Shared file's base.
    base: Option<(RelPath, &'a [u8])>,
    file: ThreeWay<'a>,
    /// The sides of its conflict markers.
    sides: Option<Sides>,
}

impl Merged<'_> {
    fn unmerged(&self) -> Option<&Unmerged> {
        self.texts.unmerged.get(self.at)
    }

    /// The sides of conflict markers that this program did not write.
    fn git_sides(&self) -> Option<&Sides> {
        self.sides.as_ref().filter(|sides| !sides.own)
    }

    fn is_row(&self, text: &str) -> bool {
        let digest = Digest::of(self.file.path, text.as_bytes());
        self.last.any_of.contains(&digest)
    }

    /// The verdict; `None` where the table decides.
    fn resolve(&self) -> Option<Resolved> {
        let (verdict, owner) = (self.file.verdict(), self.file.file.owner);
        let may_lack =
            self.unmerged().is_some() && (verdict != Verdict::Unchanged || owner != Owner::Shared);
        if !may_lack && !verdict.leaves_edits() {
            return None;
        }
        match owner {
            Owner::Tool => Some(self.tool(verdict)),
            Owner::Shared => self.shared(verdict),
            Owner::User => Some(Resolved::of(verdict, self.note_of_user())),
        }
    }

    /// The note of a User file. Its text may show what a conflict looks like.
    fn note_of_user(&self) -> Option<NoteKind> {
        let parses = || {
            let text = std::str::from_utf8(self.disk);
            text.is_ok_and(|text| Driver::of(self.file.path).parses(text).is_ok())
        };
        let is_conflict = |sides: &Sides| sides.own || self.unmerged().is_some() || !parses();
        if self.sides.as_ref().is_some_and(is_conflict) {
            return Some(NoteKind::Markers);
        }
        // git did not try to merge: the text of ours is on disk, and theirs has an edit of its own.
        let git = self.unmerged()?;
        let ours = git.ours.as_ref()?;
        let is_left = git.base.is_some()
            && git.theirs.is_some()
            && git.theirs != git.ours
            && git.theirs != git.base
            && ours.as_bytes() == &*tree::unix_line_ends(self.disk);
        is_left.then_some(NoteKind::Unmerged)
    }

    /// Merges a Shared file whose text or base has conflict markers.
    fn shared(&self, verdict: Verdict) -> Option<Resolved> {
        let mut resolved = Resolved::of(verdict, None);
        if let Some(sides) = &self.sides {
            // Where nothing new is desired, two edits that do not go together are in nobody's way.
            let stays = sides.own || verdict == Verdict::KeepEdited;
            resolved.note = stays.then_some(NoteKind::Markers);
            if !sides.own {
                resolved.verdict = Verdict::Merge;
            }
        } else {
            markers_of(self.base.as_ref()?.1)?;
        }
        if resolved.verdict != Verdict::Merge {
            return Some(resolved);
        }
        let merged = self.base_and_ours().and_then(|both| {
            let Some((base, ours)) = both else {
                return Ok(None);
            };
            let theirs = self.file.theirs()?;
            let merged = Driver::of(self.file.path).merge(&base, &ours, &theirs);
            if merged.is_err() && self.sides.is_none() {
                resolved.marked = Some(markers::conflict_from(&base, &ours, &theirs));
            }
            merged.map(Some)
        });
        match merged {
            Ok(Some(text)) => resolved.merged = Some(Ok(text)),
            Ok(None) => return Some(Resolved::of(Verdict::KeepEdited, Some(NoteKind::BaseLost))),
            Err(why) => resolved.merged = Some(Err(why)),
        }
        Some(resolved)
    }

    /// The base and the text on disk, neither with conflict markers; `None` where the base is lost.
    fn base_and_ours(&self) -> Result<Option<(String, String)>, ConflictKind> {
        let Some((base_path, base)) = &self.base else {
            return Ok(None);
        };
        let (base, disk) = (text(base)?, text(self.disk)?);
        let again = |at: &RelPath, sides: &Sides| {
            let driver = Driver::of(self.file.path);
            driver
                .merge(self.git_base(at, sides)?, &sides.ours, &sides.theirs)
                .ok()
        };
        let base_sides = markers::sides(&base);
        let Some(sides) = &self.sides else {
            let base = match base_sides {
                None => Some(base),
                Some(sides) => again(base_path, &sides).or_else(|| {
                    let mut both = [sides.ours, sides.theirs].into_iter();
                    both.find(|side| self.is_row(side))
                }),
            };
            return Ok(base.map(|base| (base, disk)));
        };
        if let Some(base) = &base_sides
            && (&sides.ours, &sides.theirs) == (&base.ours, &base.theirs)
        {
            // Nobody edited it on either branch.
            return Ok(Some((base.ours.clone(), base.ours.clone())));
        }
        let base = match base_sides {
            None => Some(base),
            Some(sides) => again(base_path, &sides),
        };
        let ours =
            again(self.at, sides).filter(|merged| !sides.own && self.keeps_comments(sides, merged));
        let both = base.zip(ours);
        both.map(Some).ok_or(ConflictKind::Markers(sides.line))
    }

    /// The merge base of the text at `path`, as far as it is known.
    fn git_base<'b>(&'b self, path: &RelPath, sides: &'b Sides) -> Option<&'b str> {
        let git = self.texts.unmerged.get(path);
        let base = git.and_then(|git| git.base.as_deref());
        base.or(sides.base.as_deref())
    }

    /// Whether the new comments of both sides are in the merged text. Of two that differ a driver keeps the user's, and here
    /// both are the user's.
    fn keeps_comments(&self, sides: &Sides, merged: &str) -> bool {
        let base = self.git_base(self.at, sides);
        let has = |text: &str, comment: &str| text.lines().any(|line| line.trim() == comment);
        let lines = sides.ours.lines().chain(sides.theirs.lines());
        let is_comment = |line: &&str| line.starts_with('#') || line.starts_with("//");
        let mut comments = lines.map(str::trim).filter(is_comment);
        comments.all(|line| has(merged, line) || base.is_some_and(|text| has(text, line)))
    }

    /// Resolves a Tool file. Without an edit it is written anew; a branch's edit is merged with what is desired.
    fn tool(&self, verdict: Verdict) -> Resolved {
        if verdict != Verdict::Unchanged && self.is_generated() {
            return Resolved::of(Verdict::Write, None);
        }
        let line = self.sides.as_ref().map(|sides| sides.line);
        let stays = Resolved {
            merged: line.map(|line| Err(ConflictKind::Markers(line))),
            ..Resolved::of(verdict, line.map(|_| NoteKind::Markers))
        };
        let (Ok(disk), Ok(desired)) = (text(self.disk), self.file.theirs()) else {
            return stays;
        };
        let Some(edits) = self.edits(&disk) else {
            return stays;
        };
        if !edits.as_git_left_it && is_merged(edits.base, &disk, &desired) {
            return match verdict {
                Verdict::Unchanged => stays,
                _ => Resolved::of(Verdict::KeepEdited, None),
            };
        }
        let (mut merged, driver) = (desired.clone(), Driver::of(self.file.path));
        let nothing_new = verdict == Verdict::KeepEdited;
        for edit in &edits.texts {
            merged = match driver.merge(edits.base, edit, &merged) {
                Ok(text) => text,
                // Where nothing new is desired, two edits that do not go together are in nobody's way.
                Err(_) if self.git_sides().is_some() && nothing_new => return stays,
                Err(_) if edits.as_git_left_it => {
                    let only = match edits.texts[..] {
                        [edit] => Some(edit.to_owned()),
                        _ => None,
                    };
                    return Resolved {
                        merged: Some(Err(ConflictKind::EditedOnBranch(only))),
                        marked: Some(markers::conflict_from(edits.base, edit, &merged)),
                        ..Resolved::of(Verdict::Edited, None)
                    };
                }
                Err(_) if nothing_new && !lines(&desired).is_subset(&lines(&disk)) => {
                    return Resolved::of(verdict, Some(NoteKind::Kept));
                }
                Err(_) => return stays,
            }
        }
        match Digest::of(self.file.path, merged.as_bytes()) == self.file.digest {
            true if verdict == Verdict::Unchanged => stays,
            true => Resolved::of(Verdict::Write, None),
            false if merged == disk => Resolved::of(Verdict::KeepEdited, None),
            false => Resolved {
                merged: Some(Ok(merged)),
                ..Resolved::of(Verdict::Merge, None)
            },
        }
    }

    /// The edits of both branches, which were made from the texts of their branch, whatever the lock of both says. `None`
    /// where nobody can tell them: the conflict markers are the user's, or the file was changed after the merge.
    fn edits<'b>(&'b self, disk: &'b str) -> Option<Edits<'b>> {
        let unmerged = self.unmerged();
        let git = unmerged.or_else(|| self.texts.committed.get(self.at))?;
        let branches = || [&git.ours, &git.theirs].into_iter().flatten();
        // A file that git does not try to merge has the text of ours.
        let is_left_by_git = match self.git_sides() {
            Some(sides) => {
                let known = branches().flat_map(|text| lines(text)).collect();
                lines_of(sides).is_subset(&known)
            }
            None => branches().next().is_some_and(|ours| ours == disk),
        };
        let as_git_left_it = unmerged.is_some() && is_left_by_git && !self.texts.settled;
        let texts = if as_git_left_it {
            let is_edited = |text: &&str| !self.is_row(text);
            branches().map(String::as_str).filter(is_edited).collect()
        } else {
            // An edit that the user left out when resolving stays out; the commit has the text of one branch.
            let is_resolved = unmerged.is_some() && self.sides.is_none();
            let is_committed = unmerged.is_none() && is_left_by_git;
            (is_resolved || is_committed).then(|| vec![disk])?
        };
        Some(Edits {
            base: git.base.as_deref().unwrap_or_default(),
            texts,
            as_git_left_it,
        })
    }

    /// Whether a Tool file holds nothing but generated text: both sides were applied, or no line but the markers is new.
    fn is_generated(&self) -> bool {
        let all = match self.git_sides() {
            Some(sides) if self.is_row(&sides.ours) && self.is_row(&sides.theirs) => return true,
            Some(sides) => lines_of(sides),
            None => lines(&String::from_utf8_lossy(self.disk)),
        };
        if let Some(Unmerged { ours, theirs, .. }) = self.unmerged() {
            let branches = || [ours, theirs].into_iter().flatten();
            let known = branches().flat_map(|text| lines(text)).collect();
            return branches().all(|text| self.is_row(text)) && all.is_subset(&known);
        }
        let desired = lines(&String::from_utf8_lossy(&self.file.file.content));
        match self.git_sides() {
            Some(_) => all.is_subset(&desired),
            // git saw no conflict where both branches added lines: it may have put them in another order.
            None => self.last.any_of.len() > 1 && all == desired,
        }
    }
}

/// The edits of a Tool file that two branches changed.
struct Edits<'a> {
    base: &'a str,
    /// The texts with edits.
    texts: Vec<&'a str>,
    /// Whether the file is unmerged, and nobody has touched it.
    as_git_left_it: bool,
}

/// Whether a `sync` has merged the desired text already: its new lines are on disk, and the lines that went are not.
fn is_merged(base: &str, disk: &str, desired: &str) -> bool {
    let [base, disk, desired] = [base, disk, desired].map(lines);
    desired.is_subset(&disk) && base.difference(&desired).all(|gone| !disk.contains(gone))
}

/// The lines between conflict markers and around them.
fn lines_of(Sides { ours, theirs, .. }: &Sides) -> BTreeSet<String> {
    &lines(ours) | &lines(theirs)
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}
