//! Resolves files that two branches changed.
//!
//! Where git could not merge, it leaves conflict markers, in a file and in its base. The sides are merged again with the file's own
//! driver, and the result counts as any edited file.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    change::{ConflictKind, NoteKind},
    git::Unmerged,
    memory,
    merge::{
        Driver,
        markers::{self, Sides},
    },
    plan::{self, Inputs, Resolved, ThreeWay, text},
    reconcile::Verdict,
    tree::{Digest, Owner, RelPath},
};

/// The texts of a merge in git.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The unmerged paths.
    pub unmerged: BTreeMap<RelPath, Unmerged>,
    /// Whether `sync` has written since git merged.
    pub synced: bool,
    /// The files for which the last commit, a merge, kept the text of one branch.
    pub committed: BTreeMap<RelPath, Unmerged>,
}

/// The verdicts for files with traces of a git merge. All other files are left to the table, and so are those that a command names.
pub fn resolve(texts: &Texts, inputs: &Inputs) -> BTreeMap<RelPath, Resolved> {
    let moves = plan::moves(inputs);
    let read = |path: &RelPath| text(inputs.on_disk(path)?).ok();
    let mut resolved = BTreeMap::new();
    for (path, file) in &inputs.desired {
        let at = moves.get(path).unwrap_or(path);
        let (Some(last), Some(disk)) = (inputs.last(at), inputs.on_disk(at)) else {
            continue;
        };
        let unmerged = texts.unmerged.get(at);
        let is_as_desired = **disk == *file.content && unmerged.is_none();
        if is_as_desired || inputs.named.rewritten.contains_key(path) {
            continue;
        }
        let base = memory::base_path(at).ok();
        let base = base.filter(|_| file.owner == Owner::Shared);
        let base = base.and_then(|path| Some((read(&path)?, path)));
        let sides = read(at).and_then(|text| markers::sides(&text));
        let base_sides = base.as_ref().and_then(|(text, _)| markers::sides(text));
        let committed = texts.committed.get(at);
        let has_traces = unmerged.or(committed).is_some()
            || sides.is_some()
            || base_sides.is_some()
            || last.any_of.len() > 1;
        if has_traces {
            let merged = Merged {
                texts,
                unmerged,
                committed,
                at,
                base,
                base_sides,
                file: ThreeWay::new(path, Some(last), Some(disk), file),
                sides,
            };
            resolved.extend(merged.verdict().map(|resolved| (path.clone(), resolved)));
        }
    }
    resolved
}

/// A file with traces of a git merge.
struct Merged<'a> {
    texts: &'a Texts,
    unmerged: Option<&'a Unmerged>,
    committed: Option<&'a Unmerged>,
    /// Its path on disk.
    at: &'a RelPath,
    /// The text and the path of a Shared file's base.
    base: Option<(String, RelPath)>,
    /// The sides of the conflict markers in its base.
    base_sides: Option<Sides>,
    file: ThreeWay<'a>,
    /// The sides of its conflict markers.
    sides: Option<Sides>,
}

impl Merged<'_> {
    /// The sides of conflict markers that git wrote.
    fn git_sides(&self) -> Option<&Sides> {
        self.sides.as_ref().filter(|sides| !sides.own)
    }

    fn is_row(&self, text: &str) -> bool {
        let digest = Digest::of(self.file.path, text.as_bytes());
        let last = self.file.last;
        last.is_some_and(|last| last.any_of.contains(&digest))
    }

    /// The verdict; `None` where the table decides.
    fn verdict(&self) -> Option<Resolved> {
        let (verdict, owner) = (self.file.verdict(), self.file.file.owner);
        let may_lack =
            self.unmerged.is_some() && (verdict != Verdict::Unchanged || owner != Owner::Shared);
        if !may_lack && !verdict.leaves_edits() {
            return None;
        }
        match owner {
            Owner::Tool => Some(self.tool(verdict)),
            Owner::Shared => self.shared(verdict),
            Owner::User => Some(Resolved::of(verdict, self.note_of_user())),
        }
    }

    /// The note for a User file. Conflict markers in a text that parses are an example, not a conflict.
    fn note_of_user(&self) -> Option<NoteKind> {
        let disk = self.file.ours().ok();
        let parses = |text: &String| Driver::of(self.file.path).parses(text).is_ok();
        let is_conflict = |sides: &Sides| {
            sides.own || self.unmerged.is_some() || !disk.as_ref().is_some_and(parses)
        };
        if self.sides.as_ref().is_some_and(is_conflict) {
            return Some(NoteKind::Markers);
        }
        // git did not try to merge: the text of ours is on disk, and theirs has an edit of its own.
        let git = self.unmerged?;
        let is_left = git.base.is_some()
            && git.theirs.is_some()
            && git.theirs != git.ours
            && git.theirs != git.base
            && git.ours.is_some()
            && git.ours == disk;
        is_left.then_some(NoteKind::Unmerged)
    }

    /// Merges a Shared file whose text or base has conflict markers.
    fn shared(&self, verdict: Verdict) -> Option<Resolved> {
        let mut resolved = Resolved::of(verdict, None);
        if let Some(sides) = &self.sides {
            // Without new desired content, two edits that cannot be merged block nothing.
            let stays = sides.own || verdict == Verdict::KeepEdited;
            resolved.note = stays.then_some(NoteKind::Markers);
            if !sides.own {
                resolved.verdict = Verdict::Merge;
            }
        } else {
            self.base_sides.as_ref()?;
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
        resolved.merged = merged.transpose();
        Some(match resolved.merged {
            None => Resolved::of(Verdict::KeepEdited, Some(NoteKind::BaseLost)),
            _ => resolved,
        })
    }

    /// The base and the text on disk, neither with conflict markers; `None` where the base is lost.
    fn base_and_ours(&self) -> Result<Option<(String, String)>, ConflictKind> {
        let Some((base, base_path)) = &self.base else {
            return Ok(None);
        };
        let again = |at: &RelPath, sides: &Sides| {
            let base = self.git_base(at, sides)?;
            let driver = Driver::of(self.file.path);
            driver.merge(base, &sides.ours, &sides.theirs).ok()
        };
        let merged_base = match &self.base_sides {
            None => Some(base.clone()),
            Some(sides) => again(base_path, sides),
        };
        let Some(sides) = &self.sides else {
            let sides = self.base_sides.iter().flat_map(|it| [&it.ours, &it.theirs]);
            let mut rows = sides.filter(|side| self.is_row(side));
            let base = merged_base.or_else(|| rows.next().cloned());
            return Ok(base.zip(Some(self.file.ours()?)));
        };
        if let Some(base) = &self.base_sides
            && (&sides.ours, &sides.theirs) == (&base.ours, &base.theirs)
        {
            // Nobody edited it on either branch.
            return Ok(Some((base.ours.clone(), base.ours.clone())));
        }
        let ours =
            again(self.at, sides).filter(|merged| !sides.own && self.keeps_comments(sides, merged));
        let both = merged_base.zip(ours);
        both.map(Some).ok_or(ConflictKind::Markers(sides.line))
    }

    /// The merge base of the text at `path`, if it is known.
    fn git_base<'b>(&'b self, path: &RelPath, sides: &'b Sides) -> Option<&'b str> {
        let git = self.texts.unmerged.get(path);
        let base = git.and_then(|git| git.base.as_deref());
        base.or(sides.base.as_deref())
    }

    /// Whether the merged text has the new comments of both sides. A driver keeps only ours where two differ, and here both are the
    /// user's.
    fn keeps_comments(&self, sides: &Sides, merged: &str) -> bool {
        let base = self.git_base(self.at, sides);
        let has = |text: &str, comment: &str| text.lines().any(|line| line.trim() == comment);
        let lines = sides.ours.lines().chain(sides.theirs.lines());
        let is_comment = |line: &&str| line.starts_with('#') || line.starts_with("//");
        let mut comments = lines.map(str::trim).filter(is_comment);
        comments.all(|line| has(merged, line) || base.is_some_and(|text| has(text, line)))
    }

    /// Resolves a Tool file. Without an edit it is rewritten; a branch's edit is merged with the desired text.
    fn tool(&self, verdict: Verdict) -> Resolved {
        if verdict != Verdict::Unchanged && self.is_generated() {
            return Resolved::of(Verdict::Write, None);
        }
        let line = self.sides.as_ref().map(|sides| sides.line);
        let stays = Resolved {
            merged: line.map(|line| Err(ConflictKind::Markers(line))),
            ..Resolved::of(verdict, line.map(|_| NoteKind::Markers))
        };
        let (Ok(disk), Ok(desired)) = (self.file.ours(), self.file.theirs()) else {
            return stays;
        };
        let Some((edits, as_git_left_it)) = self.edits(&disk) else {
            return stays;
        };
        let git = self.unmerged.or(self.committed);
        let base = git.and_then(|git| git.base.as_deref()).unwrap_or_default();
        if !as_git_left_it && is_merged(base, &disk, &desired) {
            return match verdict {
                Verdict::Unchanged => stays,
                _ => Resolved::of(Verdict::KeepEdited, None),
            };
        }
        let (mut merged, driver) = (desired.clone(), Driver::of(self.file.path));
        let nothing_new = verdict == Verdict::KeepEdited;
        for edit in &edits {
            merged = match driver.merge(base, edit, &merged) {
                Ok(text) => text,
                // Without new desired content, two edits that cannot be merged block nothing.
                Err(_) if self.git_sides().is_some() && nothing_new => return stays,
                Err(_) if as_git_left_it => {
                    let only = match edits[..] {
                        [edit] => Some(edit.to_owned()),
                        _ => None,
                    };
                    return Resolved {
                        merged: Some(Err(ConflictKind::EditedOnBranch(only))),
                        marked: Some(markers::conflict_from(base, edit, &merged)),
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

    /// The edited texts of both branches, and whether the file is unmerged and as git left it. They were made from the texts of
    /// their branch, whatever the lock of both says. `None` where they are unknown: the conflict markers are the user's, or the
    /// file was changed after the merge.
    fn edits<'b>(&'b self, disk: &'b str) -> Option<(Vec<&'b str>, bool)> {
        let git = self.unmerged.or(self.committed)?;
        let branches = || [&git.ours, &git.theirs].into_iter().flatten();
        // A file that git does not try to merge has the text of ours.
        let is_left_by_git = match self.git_sides() {
            Some(sides) => {
                let known = branches().flat_map(|text| lines(text)).collect();
                lines_of(sides).is_subset(&known)
            }
            None => branches().next().is_some_and(|ours| ours == disk),
        };
        if self.unmerged.is_some() && is_left_by_git && !self.texts.synced {
            let edited = branches()
                .map(String::as_str)
                .filter(|text| !self.is_row(text));
            return Some((edited.collect(), true));
        }
        // An edit that the user dropped when resolving stays dropped; a committed merge has the text of one branch.
        let is_known = match self.unmerged {
            Some(_) => self.sides.is_none(),
            None => is_left_by_git,
        };
        is_known.then(|| (vec![disk], false))
    }

    /// Whether a Tool file holds nothing but generated text: both sides were applied, or no line but the markers is new.
    fn is_generated(&self) -> bool {
        let Ok(disk) = self.file.ours() else {
            return false;
        };
        let all = match self.git_sides() {
            Some(sides) if self.is_row(&sides.ours) && self.is_row(&sides.theirs) => return true,
            Some(sides) => lines_of(sides),
            None => lines(&disk),
        };
        if let Some(Unmerged { ours, theirs, .. }) = self.unmerged {
            let branches = || [ours, theirs].into_iter().flatten();
            let known = branches().flat_map(|text| lines(text)).collect();
            return branches().all(|text| self.is_row(text)) && all.is_subset(&known);
        }
        let desired = lines(&String::from_utf8_lossy(&self.file.file.content));
        match self.git_sides() {
            Some(_) => all.is_subset(&desired),
            // Where both branches added lines, git may have merged them in another order than the template's.
            None => self.file.last.is_some_and(|last| last.any_of.len() > 1) && all == desired,
        }
    }
}

/// Whether a `sync` has merged the desired text already: its new lines are on disk, and its removed lines are not.
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
