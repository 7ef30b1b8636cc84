//! A change set: every change of a command as a value, before any is made.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Content, Obstacle, Owner, RelPath};

/// The change of one file. A dry run, a real one and JSON use the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A new file.
    Create,
    /// A deleted file comes back: a Tool file, or with `undo` any.
    Restore,
    /// An unedited file gets its new content.
    Update,
    /// A file moves, because its template has another path now.
    Move,
    /// A file with edits gets the new content merged in.
    Merge,
    /// A file is replaced because the command line said so.
    Overwrite,
    /// A User file changes where the command names it.
    Edit,
    /// A file is deleted.
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

    /// The past participle, for summaries.
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

/// A change as reports show it: a move is one change, not two.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The change.
    pub change: &'a Change,
    /// The change of the former path, if the file moves.
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
    /// The file's owner; `None` for `PROJECT` and the memory, which come from no template.
    pub owner: Option<Owner>,
    /// The content when the change was planned; applying refuses if the file has changed since.
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
    /// The generated lines that an edited or kept file does not have.
    pub lacks: Vec<String>,
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
    /// An edited file is no longer part of the project; it stays, and belongs to the user.
    Orphaned,
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
}

/// A decision that a person has to make before anything is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: RelPath,
    /// Why the tool will not write there.
    pub why: ConflictKind,
}

/// The kinds of [`Conflict`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A file that is not part of the project stands where one is to be created: it never was, or it was edited and stayed when
    /// its entry was deleted.
    Exists,
    /// A manifest from before the project has something with which the project does not build.
    Foreign {
        /// A fragment after the path.
        what: String,
        /// The name that the project could have instead, if that is all.
        name: Option<String>,
    },
    /// A Tool file was edited by hand, and has to change.
    Edited,
    /// A Tool file has this text on a branch that git merged, and the edit does not merge with the desired text; `None` where both
    /// branches have an edit.
    EditedOnBranch(Option<String>),
    /// Both sides changed the same lines of a Shared file.
    Overlap,
    /// The file has conflict markers already, the first in this line; they have to go first.
    Markers(usize),
    /// The file cannot be merged, because it is not UTF-8.
    NoText,
    /// The merged text would not parse, with the parser's error.
    Unparsable(String),
    /// A directory, link or device stands where a file belongs.
    Obstacle(Obstacle),
}

impl ConflictKind {
    /// One word for JSON.
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

    /// Whether a [`Policy`] can settle it.
    pub fn can_be_settled(&self) -> bool {
        !matches!(self, Self::Obstacle(_))
    }

    /// Whether both texts can be written into the file, as far as is known.
    pub fn can_be_marked(&self) -> bool {
        self.can_be_settled() && !matches!(self, Self::Markers(_) | Self::NoText)
    }

    /// Whether the conflict is an edit of a generated file, into which both sides can be written.
    pub fn is_edit(&self) -> bool {
        matches!(self, Self::Edited | Self::EditedOnBranch(_) | Self::Overlap)
    }

    /// The reason, as a fragment after the path.
    pub fn reason(&self) -> String {
        match self {
            Self::Exists => "exists already and is not part of the project".to_owned(),
            Self::Foreign { what, .. } => what.clone(),
            Self::Edited => "is generated, was edited by hand, and has to change now".to_owned(),
            Self::EditedOnBranch(Some(_)) => {
                "is generated, and was edited on one of the branches that git merged, in the lines that have to change now"
                    .to_owned()
            }
            Self::EditedOnBranch(None) => {
                "is generated, and was edited on both branches that git merged, in the lines that have to change now"
                    .to_owned()
            }
            Self::Overlap => "was edited in the lines that have to change now".to_owned(),
            Self::Markers(line) => {
                format!("has conflict markers (line {line}); choose between their sides first")
            }
            Self::NoText => "holds no text (it is not UTF-8)".to_owned(),
            Self::Unparsable(how) => format!("would not parse after merging: {how}"),
            Self::Obstacle(what) => format!("cannot be written: {what}"),
        }
    }
}

/// The decision about a file in the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Refuse the command.
    #[default]
    Abort,
    /// Leave the file as it is, and remember the desired text as applied.
    Keep,
    /// Replace it.
    Take,
    /// Write both, with conflict markers around what differs.
    Markers,
}

/// Every change of a command, before any is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// In the order of their paths.
    pub changes: Vec<Change>,
    /// `PROJECT` and the memory, which are written last.
    pub record: Vec<Change>,
    /// The former paths of files that move, by their new ones: they keep their modes.
    pub moved: BTreeMap<RelPath, RelPath>,
    /// For a person, afterwards.
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
}
