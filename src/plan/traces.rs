//! The decision about a file with traces of a merge: an unmerged path, conflict markers of git or of the user, two rows in the lock.
//!
//! Where git could not merge, it leaves conflict markers, in a file and in its base. The sides are merged again with the file's own
//! driver, and the result counts as any edited file.

use std::collections::BTreeSet;

use super::{
    decision::{Decision, Outcome, by_verdict},
    inputs::Progress,
    sides::{Base, Git, Sides, text},
};
use crate::{
    change::{Action, ConflictKind, NoteKind},
    git::Unmerged,
    merge::{
        Driver,
        markers::{self, Split},
    },
    reconcile::Verdict,
    tree::{Digest, Owner},
};

/// The decision about a file with traces of a merge; `None` where the table decides, also whether an edit of a Tool file merges.
pub fn decide(sides: &Sides<'_>) -> Option<Decision> {
    let git = sides.git?;
    let (last, disk) = (sides.last?, sides.disk.as_deref()?);
    let unmerged = git.unmerged();
    if *disk == *sides.desired.content && unmerged.is_none() {
        return None;
    }
    let owner = sides.desired.owner;
    let stored = match sides.base {
        Base::Stored(base) if owner == Owner::Shared => text(base).ok(),
        _ => None,
    };
    let traces = Traces {
        split: sides.ours().ok().and_then(|text| markers::split(&text)),
        stored_split: stored.as_deref().and_then(markers::split),
        sides,
        git,
        stored,
    };
    let has_traces = git.of_file.is_some()
        || traces.split.is_some()
        || traces.stored_split.is_some()
        || last.any_of.len() > 1;
    let verdict = sides.verdict(false);
    // An unmerged file may lack the text of the other branch even where it has no edit. A Shared file as desired does not.
    let may_lack_a_branch =
        unmerged.is_some() && (verdict != Verdict::Unchanged || owner != Owner::Shared);
    if !has_traces || !may_lack_a_branch && !verdict.leaves_edits() {
        return None;
    }
    match owner {
        Owner::Tool => Some(traces.tool(verdict)),
        Owner::Shared => traces.shared(verdict),
        Owner::User => Some(by_verdict(sides, verdict).noted(sides, traces.note_of_user())),
    }
}

/// A file with traces of a git merge.
struct Traces<'a> {
    sides: &'a Sides<'a>,
    git: Git<'a>,
    /// The two texts in its conflict markers.
    split: Option<Split>,
    /// The stored base of a Shared file.
    stored: Option<String>,
    /// The two texts in the conflict markers of its stored base.
    stored_split: Option<Split>,
}

impl Traces<'_> {
    /// The texts in conflict markers that git wrote.
    fn git_split(&self) -> Option<&Split> {
        self.split.as_ref().filter(|split| !split.own)
    }

    fn is_row(&self, text: &str) -> bool {
        let digest = Digest::of(self.sides.path, text.as_bytes());
        self.sides.is_row(&digest)
    }

    fn decision(&self, verdict: Verdict, outcome: Outcome) -> Decision {
        Decision::of(self.sides, verdict, outcome)
    }

    /// Decides a Tool file. Without an edit it is rewritten; a branch's edit is merged with the desired text.
    fn tool(&self, verdict: Verdict) -> Decision {
        if verdict != Verdict::Unchanged && self.is_generated() {
            return self.decision(Verdict::Write, Outcome::Written(Action::Update));
        }
        let (Ok(disk), Ok(desired)) = (self.sides.ours(), self.sides.theirs()) else {
            return self.tool_by_verdict(verdict);
        };
        let Some((edits, as_git_left_it)) = self.edits(&disk) else {
            return self.tool_by_verdict(verdict);
        };
        let git_base = self.git.of_file.and_then(|git| git.base.as_deref());
        let git_base = git_base.unwrap_or_default();
        if !as_git_left_it && is_merged(git_base, &disk, &desired) {
            return match verdict {
                Verdict::Unchanged => self.tool_by_verdict(verdict),
                _ => by_verdict(self.sides, Verdict::KeepEdited),
            };
        }
        let (mut merged, driver) = (desired.clone(), Driver::of(self.sides.path));
        let nothing_new = verdict == Verdict::KeepEdited;
        for edit in &edits {
            merged = match driver.merge(git_base, edit, &merged) {
                Ok(text) => text,
                // Without new desired content, two edits that cannot be merged block nothing.
                Err(_) if self.git_split().is_some() && nothing_new => {
                    return self.tool_by_verdict(verdict);
                }
                Err(_) if as_git_left_it => {
                    let only = match edits[..] {
                        [edit] => Some(edit.to_owned()),
                        _ => None,
                    };
                    let marked = markers::conflict_from(git_base, edit, &merged);
                    let conflict =
                        Outcome::Conflict(ConflictKind::EditedOnBranch(only), Some(marked));
                    return self.decision(Verdict::Edited, conflict);
                }
                Err(_) if nothing_new && !lines(&desired).is_subset(&lines(&disk)) => {
                    return self.decision(verdict, Outcome::Stays(Some(NoteKind::Kept)));
                }
                Err(_) => return self.tool_by_verdict(verdict),
            }
        }
        match Digest::of(self.sides.path, merged.as_bytes()) == self.sides.digest {
            true if verdict == Verdict::Unchanged => self.tool_by_verdict(verdict),
            true => self.decision(Verdict::Write, Outcome::Written(Action::Update)),
            false if merged == disk => by_verdict(self.sides, Verdict::KeepEdited),
            false => self.decision(Verdict::Merge, Outcome::Merged(merged)),
        }
    }

    /// The decision of a Tool file's verdict alone. Conflict markers replace its note, or the reason of its conflict.
    fn tool_by_verdict(&self, verdict: Verdict) -> Decision {
        let decision = by_verdict(self.sides, verdict);
        match (&self.split, &decision.outcome) {
            (Some(split), Outcome::Conflict(..)) => Decision {
                outcome: Outcome::Conflict(ConflictKind::Markers(split.line), None),
                ..decision
            },
            (Some(_), _) => decision.noted(self.sides, Some(NoteKind::Markers)),
            (None, _) => decision,
        }
    }

    /// The edited texts of both branches, and whether the file is unmerged and as git left it. They were made from the texts of
    /// their branch, whatever the lock of both says. `None` where they are unknown: the conflict markers are the user's, or the
    /// file was changed after the merge.
    fn edits<'b>(&'b self, disk: &'b str) -> Option<(Vec<&'b str>, bool)> {
        let git = self.git.of_file?;
        let branches = || [&git.ours, &git.theirs].into_iter().flatten();
        // A file that git does not try to merge has the text of ours.
        let is_left_by_git = match self.git_split() {
            Some(split) => {
                let known = branches().flat_map(|text| lines(text)).collect();
                lines_of(split).is_subset(&known)
            }
            None => branches().next().is_some_and(|ours| ours == disk),
        };
        // An edit that the user dropped when resolving stays dropped; a committed merge has the text of one branch.
        let is_known = match self.git.progress {
            Progress::Unmerged if is_left_by_git => {
                let edited = branches()
                    .map(String::as_str)
                    .filter(|text| !self.is_row(text));
                return Some((edited.collect(), true));
            }
            Progress::Unmerged | Progress::Synced => self.split.is_none(),
            Progress::Committed => is_left_by_git,
        };
        is_known.then(|| (vec![disk], false))
    }

    /// Whether a Tool file holds nothing but generated text: both sides were applied, or no line but the markers is new.
    fn is_generated(&self) -> bool {
        let Ok(disk) = self.sides.ours() else {
            return false;
        };
        let all = match self.git_split() {
            Some(split) if self.is_row(&split.ours) && self.is_row(&split.theirs) => return true,
            Some(split) => lines_of(split),
            None => lines(&disk),
        };
        if let Some(Unmerged { ours, theirs, .. }) = self.git.unmerged() {
            let branches = || [ours, theirs].into_iter().flatten();
            let known = branches().flat_map(|text| lines(text)).collect();
            return branches().all(|text| self.is_row(text)) && all.is_subset(&known);
        }
        let desired = lines(&String::from_utf8_lossy(&self.sides.desired.content));
        match self.git_split() {
            Some(_) => all.is_subset(&desired),
            // Where both branches added lines, git may have merged them in another order than the template's.
            None => self.sides.last.is_some_and(|last| last.any_of.len() > 1) && all == desired,
        }
    }

    /// Merges a Shared file whose text or base has conflict markers.
    fn shared(&self, verdict: Verdict) -> Option<Decision> {
        let (verdict, note) = match &self.split {
            None => {
                self.stored_split.as_ref()?;
                (verdict, None)
            }
            Some(split) => {
                // Without new desired content, two edits that cannot be merged block nothing.
                let stays = split.own || verdict == Verdict::KeepEdited;
                let note = stays.then_some(NoteKind::Markers);
                (if split.own { verdict } else { Verdict::Merge }, note)
            }
        };
        if verdict != Verdict::Merge {
            return Some(by_verdict(self.sides, verdict).noted(self.sides, note));
        }
        let outcome = match self.merge_again() {
            Ok(Some(text)) => Outcome::Merged(text),
            Ok(None) => {
                let lost = Outcome::Stays(Some(NoteKind::BaseLost));
                return Some(self.decision(Verdict::KeepEdited, lost));
            }
            Err((why, marked)) => Outcome::Conflict(why, marked),
        };
        Some(self.decision(verdict, outcome).noted(self.sides, note))
    }

    /// Merges both branches, and then the desired text; `None` where the base is lost.
    ///
    /// Errors: the conflict, and the text with markers where only the desired text conflicts.
    fn merge_again(&self) -> Result<Option<String>, (ConflictKind, Option<String>)> {
        let unmarked = |why| (why, None);
        let Some((base, ours)) = self.base_and_ours().map_err(unmarked)? else {
            return Ok(None);
        };
        let theirs = self.sides.theirs().map_err(unmarked)?;
        let merged = Driver::of(self.sides.path).merge(&base, &ours, &theirs);
        let marked = || markers::conflict_from(&base, &ours, &theirs);
        merged
            .map(Some)
            .map_err(|why| (why, self.split.is_none().then(marked)))
    }

    /// The base and the text on disk, neither with conflict markers; `None` where the base is lost.
    fn base_and_ours(&self) -> Result<Option<(String, String)>, ConflictKind> {
        let Some(stored) = &self.stored else {
            return Ok(None);
        };
        let merged_base = match &self.stored_split {
            None => Some(stored.clone()),
            Some(split) => self.merge_sides(self.git.of_base, split),
        };
        let Some(split) = &self.split else {
            let sides = self
                .stored_split
                .iter()
                .flat_map(|it| [&it.ours, &it.theirs]);
            let mut rows = sides.filter(|side| self.is_row(side));
            let base = merged_base.or_else(|| rows.next().cloned());
            return Ok(base.zip(Some(self.sides.ours()?)));
        };
        if let Some(base) = &self.stored_split
            && (&split.ours, &split.theirs) == (&base.ours, &base.theirs)
        {
            // Nobody edited it on either branch.
            return Ok(Some((base.ours.clone(), base.ours.clone())));
        }
        let ours = self
            .merge_sides(self.git.of_file, split)
            .filter(|merged| !split.own && self.keeps_comments(split, merged));
        let both = merged_base.zip(ours);
        both.map(Some).ok_or(ConflictKind::Markers(split.line))
    }

    /// Merges the two texts in conflict markers with the driver of the file.
    fn merge_sides(&self, git: Option<&Unmerged>, split: &Split) -> Option<String> {
        let driver = Driver::of(self.sides.path);
        let base = base_of(git, split)?;
        driver.merge(base, &split.ours, &split.theirs).ok()
    }

    /// Whether the merged text has the new comments of both sides. A driver keeps only ours where two differ, and here both are the
    /// user's.
    fn keeps_comments(&self, split: &Split, merged: &str) -> bool {
        let base = base_of(self.git.of_file, split);
        let has = |text: &str, comment: &str| text.lines().any(|line| line.trim() == comment);
        let lines = split.ours.lines().chain(split.theirs.lines());
        let is_comment = |line: &&str| line.starts_with('#') || line.starts_with("//");
        let mut comments = lines.map(str::trim).filter(is_comment);
        comments.all(|line| has(merged, line) || base.is_some_and(|text| has(text, line)))
    }

    /// The note for a User file. Conflict markers in a text that parses are an example, not a conflict.
    fn note_of_user(&self) -> Option<NoteKind> {
        let unmerged = self.git.unmerged();
        let disk = self.sides.ours().ok();
        let parses = |text: &String| Driver::of(self.sides.path).parses(text).is_ok();
        let is_conflict =
            |split: &Split| split.own || unmerged.is_some() || !disk.as_ref().is_some_and(parses);
        if self.split.as_ref().is_some_and(is_conflict) {
            return Some(NoteKind::Markers);
        }
        // git did not try to merge: the text of ours is on disk, and theirs has an edit of its own.
        let git = unmerged?;
        let is_left = git.base.is_some()
            && git.theirs.is_some()
            && git.theirs != git.ours
            && git.theirs != git.base
            && git.ours.is_some()
            && git.ours == disk;
        is_left.then_some(NoteKind::Unmerged)
    }
}

/// The base of the two texts in conflict markers, if it is known.
fn base_of<'a>(git: Option<&'a Unmerged>, split: &'a Split) -> Option<&'a str> {
    let base = git.and_then(|git| git.base.as_deref());
    base.or(split.base.as_deref())
}

/// Whether a `sync` has merged the desired text already: its new lines are on disk, and its removed lines are not.
fn is_merged(base: &str, disk: &str, desired: &str) -> bool {
    let [base, disk, desired] = [base, disk, desired].map(lines);
    desired.is_subset(&disk) && base.difference(&desired).all(|gone| !disk.contains(gone))
}

/// The lines between conflict markers and around them.
fn lines_of(Split { ours, theirs, .. }: &Split) -> BTreeSet<String> {
    &lines(ours) | &lines(theirs)
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}
