//! A change set: every change of a command as a value, before any is made.

use std::collections::{BTreeMap, BTreeSet};

use crate::advice::{Advice, Script};
use crate::tree::{Content, Obstacle, Owner, RelPath};

/// The change of one file. A dry run, a real one and JSON use the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A new file.
    Create,
    /// A deleted file is written again: a Tool file, or with `undo` any file.
    Restore,
    /// An unedited file gets its new content.
    Update,
    /// A file moves, because its template has a new path.
    Move,
    /// A file with edits gets the new content merged in.
    Merge,
    /// A file is replaced at the request of the command line.
    Overwrite,
    /// A User file that the command names changes.
    Edit,
    /// A file is deleted.
    Delete,
}

impl Action {
    /// The word that reports and JSON use.
    pub fn word(self) -> &'static str {
        self.words().0
    }

    /// The past participle, for summaries.
    pub fn done(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Create => ("create", "created"),
            Self::Restore => ("restore", "restored"),
            Self::Update => ("update", "updated"),
            Self::Move => ("move", "moved"),
            Self::Merge => ("merge", "merged"),
            Self::Overwrite => ("overwrite", "overwritten"),
            Self::Edit => ("edit", "edited"),
            Self::Delete => ("delete", "deleted"),
        }
    }
}

/// A change as reports show it: a move is one change, not two.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The change.
    pub change: &'a Change,
    /// The change of the old path, if the file moves.
    pub from: Option<&'a Change>,
}

impl Shown<'_> {
    /// The action that is reported.
    pub fn action(&self) -> Action {
        self.from.map_or(self.change.action, |_| Action::Move)
    }
}

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: RelPath,
    /// The action that is reported.
    pub action: Action,
    /// The file's owner; `None` for `PROJECT` and `.operator-forge/`, which have no template.
    pub owner: Option<Owner>,
    /// The content when the change was planned. It is not applied to a file that has changed since.
    pub before: Option<Vec<u8>>,
    /// The new content.
    pub after: Option<Content>,
}

/// Something for a person to look at; the command goes on and exits with 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub path: RelPath,
    /// The kind of the note.
    pub what: NoteKind,
    /// The generated lines that an edited or kept file lacks.
    pub lacks: Vec<String>,
}

impl Note {
    /// The advice that resolves the note, if there is any.
    #[must_use]
    pub fn help(&self) -> Vec<Advice> {
        let path = self.path.as_str();
        match self.what {
            NoteKind::Edited => vec![
                Script::forge("own").arg(path).into(),
                Script::put_aside(path).then(Script::forge("sync")).into(),
            ],
            NoteKind::Unmerged => vec![self.branch().into()],
            NoteKind::Missing => vec![Script::forge("restore").arg(path).into()],
            NoteKind::Markers => vec![Script::edit([path]).into()],
            NoteKind::NoChart | NoteKind::NoAnsible => vec![self.recipe().into()],
            NoteKind::Orphaned
            | NoteKind::Dropped
            | NoteKind::Owned
            | NoteKind::Outdated
            | NoteKind::BaseLost
            | NoteKind::Kept
            | NoteKind::LeftOut => Vec::new(),
        }
    }

    /// The command that brings a missing chart, role or playbook back, if git has it.
    pub fn recipe(&self) -> Script {
        let place = match self.what {
            NoteKind::NoChart => self.path.parents().next_back().unwrap_or_default(),
            _ => self.path.as_str(),
        };
        Script::of("git checkout --").arg(place)
    }

    /// The command that shows the other branch's change of an unmerged file.
    pub fn branch(&self) -> Script {
        let stages = [1, 3].map(|stage| format!(":{stage}:./{}", self.path));
        Script::of("git diff").args(stages)
    }
}

/// The generated lines that a file lacks, as words: their number and the first ones; `None` if it lacks none.
pub fn lacking(lines: &[String]) -> Option<String> {
    let shown = |lines: &[String]| {
        let quoted = lines.iter().map(|line| match line.char_indices().nth(60) {
            Some((end, _)) => format!("`{}…`", &line[..end]),
            None => format!("`{line}`"),
        });
        quoted.collect::<Vec<_>>().join(", ")
    };
    let lines_shown = match lines {
        [] => return None,
        [_] => return Some(format!("the generated line {}", shown(lines))),
        [_, _] | [_, _, _] => shown(lines),
        [_, _, rest @ ..] => format!("{} and {} more", shown(&lines[..2]), rest.len()),
    };
    Some(format!("{} generated lines ({lines_shown})", lines.len()))
}

/// The kinds of [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// A Tool file was edited; its desired text is unchanged, so the edit stays for now.
    Edited,
    /// An edited file is no longer part of the project; it stays, and belongs to the user.
    Orphaned,
    /// The newer source of a copied file does not have it, but it was edited; it stays.
    Dropped,
    /// A file that was taken over is no longer part of the project; it stays.
    Owned,
    /// The desired text of a file that was taken over has changed; the file stays.
    Outdated,
    /// A User or Shared file that the build needs is gone.
    Missing,
    /// A Shared file could not be merged because its base is lost.
    BaseLost,
    /// A file in the way was kept, as the command line asks.
    Kept,
    /// A branch's edit of a Tool file was dropped, as the command line asks.
    LeftOut,
    /// The file has conflict markers for the user to resolve.
    Markers,
    /// A file that was taken over is unmerged in git, and holds the text of one branch.
    Unmerged,
    /// The Helm chart of a kind is gone.
    NoChart,
    /// The Ansible role or playbook of a kind is gone.
    NoAnsible,
}

impl NoteKind {
    /// The word that JSON uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Orphaned => "orphaned",
            Self::Dropped => "dropped",
            Self::Owned => "owned",
            Self::Outdated => "outdated",
            Self::Missing => "missing",
            Self::BaseLost => "base-lost",
            Self::Kept => "kept",
            Self::LeftOut => "left-out",
            Self::Markers => "markers",
            Self::Unmerged => "unmerged",
            Self::NoChart => "no-chart",
            Self::NoAnsible => "no-ansible",
        }
    }
}

/// A decision that a person has to make before anything is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: RelPath,
    /// The reason that the tool does not write there.
    pub why: ConflictKind,
}

/// The kinds of [`Conflict`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A file outside of the project exists at the path of a new one. Perhaps it was edited, and stayed when its entry was
    /// deleted.
    Exists,
    /// An existing `Cargo.toml` has something with which the project does not build.
    Foreign {
        /// A fragment after the path.
        what: String,
        /// The project name that resolves the conflict, if one does.
        name: Option<String>,
    },
    /// A Tool file was edited, and has to change.
    Edited,
    /// A branch that git merged has this text of a Tool file, and its edit does not merge with the desired text; `None` if both
    /// branches have an edit.
    EditedOnBranch(Option<String>),
    /// Both sides changed the same lines of a Shared file.
    Overlap,
    /// The file already has conflict markers, the first in this line. They have to be resolved first.
    Markers(usize),
    /// The file cannot be merged, because it is not UTF-8.
    NoText,
    /// The merged text would not parse; the parser's error.
    Unparsable(String),
    /// A directory, symbolic link or device exists at the path.
    Obstacle(Obstacle),
}

impl ConflictKind {
    /// The word that JSON uses.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Foreign { .. } => "foreign",
            Self::Edited => "edited",
            Self::EditedOnBranch(_) => "edited-on-branch",
            Self::Overlap => "overlap",
            Self::Markers(_) => "markers",
            Self::NoText => "no-text",
            Self::Unparsable(_) => "unparsable",
            Self::Obstacle(_) => "obstacle",
        }
    }

    /// Whether a [`Policy`] can resolve it.
    pub fn can_be_resolved(&self) -> bool {
        !matches!(self, Self::Obstacle(_))
    }

    /// Whether both texts can be written into the file, as far as it is known.
    pub fn can_be_marked(&self) -> bool {
        self.can_be_resolved() && !matches!(self, Self::Markers(_) | Self::NoText)
    }

    /// Whether the conflict is an edit of a generated file, into which both sides can be written.
    pub fn is_edit(&self) -> bool {
        matches!(self, Self::Edited | Self::EditedOnBranch(_) | Self::Overlap)
    }

    /// The reason, as a fragment after the path.
    pub fn reason(&self) -> String {
        match self {
            Self::Exists => "exists already, and is not part of the project".to_owned(),
            Self::Foreign { what, .. } => what.clone(),
            Self::Edited => "was edited by hand, and its generated text has changed".to_owned(),
            Self::EditedOnBranch(Some(_)) => {
                "was edited on one of the merged branches, in lines whose generated text has changed".to_owned()
            }
            Self::EditedOnBranch(None) => {
                "was edited on both merged branches, in lines whose generated text has changed".to_owned()
            }
            Self::Overlap => "has edits in the same lines as its new text".to_owned(),
            Self::Markers(line) => {
                format!("has conflict markers (line {line}): resolve them first")
            }
            Self::NoText => "is not UTF-8 text".to_owned(),
            Self::Unparsable(how) => format!("would not parse after the merge: {how}"),
            Self::Obstacle(what) => format!("cannot be written: {what}"),
        }
    }
}

/// The resolution of conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Refuse the command.
    #[default]
    Abort,
    /// Keep the file, and count the desired text as applied.
    Keep,
    /// Replace it.
    Take,
    /// Write both texts, with conflict markers around the differences.
    Markers,
}

/// Every change of a command, before any is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// The changes, by path.
    pub changes: Vec<Change>,
    /// The changes of `PROJECT` and `.operator-forge/`, which are written last.
    pub record: Vec<Change>,
    /// The old path of each file that moves, by its new one. The files keep their modes.
    pub moved: BTreeMap<RelPath, RelPath>,
    /// For a person, after the command.
    pub notes: Vec<Note>,
    /// For a person, before anything is written.
    pub conflicts: Vec<Conflict>,
}

impl ChangeSet {
    /// Every change, in the order in which they are made.
    pub fn all(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().chain(&self.record)
    }

    /// The changes that a user sees: all but those under `.operator-forge/`.
    pub fn visible(&self) -> impl Iterator<Item = &Change> {
        self.all()
            .filter(|change| !change.path.as_str().starts_with(".operator-forge/"))
    }

    /// The visible changes as reports show them.
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

    /// The commands that make room for files, each once. Nothing is written before there is room.
    #[must_use]
    pub fn makes_room(&self) -> Vec<Script> {
        let obstacles = self.conflicts.iter().filter_map(|it| match &it.why {
            ConflictKind::Obstacle(obstacle) => Some(obstacle),
            _ => None,
        });
        let obstacles: BTreeSet<&Obstacle> = obstacles.collect();
        obstacles.into_iter().map(Obstacle::makes_room).collect()
    }
}
