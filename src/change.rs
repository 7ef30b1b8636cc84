//! A change set: everything a command will do to the tree, as values, before any of it is done.

mod conflict;

use std::collections::{BTreeMap, BTreeSet};

pub use self::conflict::{Conflict, ConflictKind};
use crate::{
    shell,
    tree::{Content, Owner, RelPath},
};

/// What happens to one file. The word is the same in a dry run, in a real one and in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A file that was not there.
    Create,
    /// A file that was deleted comes back: a Tool file, or with `undo` any.
    Restore,
    /// An unedited file gets its new content.
    Update,
    /// A file whose template has another path now goes there.
    Move,
    /// A file with edits gets the new content merged in.
    Merge,
    /// A file is replaced because the command line said so.
    Overwrite,
    /// A file of the user's is changed in the place that the command named.
    Edit,
    /// A file goes away.
    Delete,
}

impl Action {
    /// The word that reports and JSON use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Restore => "restore",
            Self::Update => "update",
            Self::Move => "move",
            Self::Merge => "merge",
            Self::Overwrite => "overwrite",
            Self::Edit => "edit",
            Self::Delete => "delete",
        }
    }

    /// The word for what has happened, which summaries count.
    pub fn done(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Restore => "restored",
            Self::Update => "updated",
            Self::Move => "moved",
            Self::Merge => "merged",
            Self::Overwrite => "overwritten",
            Self::Edit => "edited",
            Self::Delete => "deleted",
        }
    }
}

/// A change as it is shown: a file that moves is one.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What happens, and where.
    pub change: &'a Change,
    /// The file's end where it was, if it moves.
    pub from: Option<&'a Change>,
}

impl Shown<'_> {
    /// What happens, as it is reported.
    pub fn action(&self) -> Action {
        self.from.map_or(self.change.action, |_| Action::Move)
    }
}

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: RelPath,
    /// What happens, as it is told.
    pub action: Action,
    /// Who owns the file; `None` for `PROJECT` and the memory, which are the tool's record and no output of a template.
    pub owner: Option<Owner>,
    /// What was there when the change was planned; applying refuses if it is not there any more.
    pub before: Option<Vec<u8>>,
    /// What will be there.
    pub after: Option<Content>,
}

/// Something a human has to look at, though nothing is in the way of the command (exit code 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub path: RelPath,
    /// What is the matter with it.
    pub what: NoteKind,
    /// The generated lines that an edited or kept file lacks.
    pub lacks: Vec<String>,
}

impl Note {
    /// The sentence for a terminal, with the path where something is to be pasted.
    pub fn sentence(&self) -> String {
        let mut sentence = self.what.sentence().replace("PATH", self.path.as_str());
        if let Some(lacks) = lacking(&self.lacks) {
            let path = shell::word(self.path.as_str());
            sentence += &format!("; it lacks {lacks}: `operator-forge diff {path}`");
        }
        sentence
    }
}

/// The generated lines that a file lacks, as words: how many, and the first of them; `None` where it has all.
pub fn lacking(lines: &[String]) -> Option<String> {
    let shown = |lines: &[String]| {
        let quoted = lines.iter().map(|line| match line.char_indices().nth(60) {
            Some((end, _)) => format!("`{}…`", &line[..end]),
            None => format!("`{line}`"),
        });
        quoted.collect::<Vec<_>>().join(", ")
    };
    match lines {
        [] => None,
        [_] => Some(format!("the generated line {}", shown(lines))),
        [_, _] | [_, _, _] => Some(format!(
            "{} generated lines ({})",
            lines.len(),
            shown(lines)
        )),
        [first @ .., _] => {
            let more = lines.len() - 2;
            let first = shown(&first[..2]);
            Some(format!(
                "{} generated lines ({first} and {more} more)",
                lines.len()
            ))
        }
    }
}

/// The kinds of [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// A Tool file was edited by hand; nothing new is desired, so the edit stays for now.
    Edited,
    /// An edited file is no longer part of the project; it stays and is the user's alone.
    Orphaned,
    /// A file that was taken over is no longer part of the project; it stays.
    Owned,
    /// The templates write something else now into a file that was taken over; it stays.
    Outdated,
    /// A User or Shared file that the build needs is gone.
    Missing,
    /// A Shared file could not be merged because the text it was made from is lost.
    BaseLost,
    /// A file in the way was kept because the command line said so.
    Kept,
    /// A branch's edit of a Tool file was left out because the command line said so.
    LeftOut,
    /// There are conflict markers in it, and what stands between them is the user's to settle.
    Markers,
    /// A file that was taken over has two texts in git's index, and that of one branch stands there.
    Unmerged,
}

impl NoteKind {
    /// One word for JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Orphaned => "orphaned",
            Self::Owned => "owned",
            Self::Outdated => "outdated",
            Self::Missing => "missing",
            Self::BaseLost => "base-lost",
            Self::Kept => "kept",
            Self::LeftOut => "left-out",
            Self::Markers => "markers",
            Self::Unmerged => "unmerged",
        }
    }

    /// What settles it at `path`, one way or the other, where the sentence does not say so.
    pub fn help(self, path: &RelPath) -> Vec<String> {
        match self {
            Self::Edited => vec![
                format!("operator-forge own {}", shell::word(path.as_str())),
                format!("{} && operator-forge sync", shell::put_aside(path.as_str())),
            ],
            Self::Unmerged => {
                let at = |stage| shell::word(&format!(":{stage}:./{path}"));
                vec![format!("git diff {} {}", at(1), at(3))]
            }
            Self::Missing => vec![format!(
                "operator-forge restore {}",
                shell::word(path.as_str())
            )],
            Self::Markers => vec![format!("${{EDITOR:-vi}} {}", shell::word(path.as_str()))],
            Self::Orphaned
            | Self::Owned
            | Self::Outdated
            | Self::BaseLost
            | Self::Kept
            | Self::LeftOut => Vec::new(),
        }
    }

    /// The sentence; `PATH` stands for the file's path.
    fn sentence(self) -> &'static str {
        match self {
            Self::Edited => {
                "is generated, and was edited by hand; later changes are merged into it, unless you take the file over or write it anew"
            }
            Self::Orphaned => {
                "is no longer part of the project, but was edited; it stays and is yours alone: keep it, or `rm PATH`"
            }
            Self::Owned => {
                "is no longer part of the project, but was taken over; it stays and is yours alone"
            }
            Self::Outdated => {
                "was taken over, and would hold something else now: `operator-forge disown PATH --dry-run --diff` shows it"
            }
            Self::Missing => {
                "is gone, and the project does not build without it; `operator-forge restore PATH` writes it again"
            }
            Self::BaseLost => {
                "was edited, and the text it was made from is lost; it is kept as it is"
            }
            Self::Kept => "was in the way and was kept as it is",
            Self::LeftOut => {
                "was edited on a branch that git merged, and the edit is left out: `git log --all --patch -- PATH` has it"
            }
            Self::Markers => "has conflict markers; choose between their sides in an editor",
            Self::Unmerged => {
                "is yours, and git left the text of one branch in it: put in what the other one changed, which `git diff :1:./PATH :3:./PATH` shows, and then `git add PATH`"
            }
        }
    }
}

/// What to do with an existing or edited file in the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Refuse the command.
    #[default]
    Abort,
    /// Leave the file as it is and remember what would have been written.
    Keep,
    /// Replace it.
    Take,
    /// Write both, with conflict markers around what differs.
    Markers,
}

/// All of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// In the order of their paths.
    pub changes: Vec<Change>,
    /// `PROJECT` and the memory, which are written last.
    pub record: Vec<Change>,
    /// Where files that belong elsewhere were, by the path where they go: they keep their modes.
    pub moved: BTreeMap<RelPath, RelPath>,
    /// For a human, afterwards.
    pub notes: Vec<Note>,
    /// For a human, before.
    pub conflicts: Vec<Conflict>,
}

impl ChangeSet {
    /// The lines that make room for files, each once; with something in the way that no [`Policy`] settles, nothing is written.
    pub fn makes_room(&self) -> Vec<String> {
        let conflicts = self.conflicts.iter();
        let lines: BTreeSet<_> = conflicts
            .filter_map(|conflict| conflict.why.makes_room())
            .collect();
        lines.into_iter().collect()
    }

    /// Every change, in the order in which they are made.
    pub fn all(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().chain(&self.record)
    }

    /// The changes a user sees: everything but the memory under `.operator-forge/`.
    pub fn visible(&self) -> impl Iterator<Item = &Change> {
        self.all()
            .filter(|change| !change.path.as_str().starts_with(".operator-forge/"))
    }

    /// The same as they are shown.
    pub fn shown(&self) -> Vec<Shown<'_>> {
        let at: BTreeMap<&RelPath, &Change> = match self.moved.is_empty() {
            true => BTreeMap::new(),
            false => self
                .visible()
                .map(|change| (&change.path, change))
                .collect(),
        };
        let moves: BTreeMap<&RelPath, &Change> = (self.moved.iter())
            .filter(|(to, _)| at.get(to).is_some_and(|change| change.after.is_some()))
            .filter_map(|(to, from)| Some((to, *at.get(from)?)))
            .filter(|(_, from)| from.action == Action::Delete)
            .collect();
        let left: BTreeSet<&RelPath> = moves.values().map(|from| &from.path).collect();
        let stays = |change: &&Change| !left.contains(&change.path);
        let shown = |change| Shown {
            change,
            from: moves.get(&change.path).copied(),
        };
        self.visible().filter(stays).map(shown).collect()
    }
}
