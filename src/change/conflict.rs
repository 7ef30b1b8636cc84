//! What stands in the way of a change.

use crate::{shell, tree::RelPath};

/// Something in the way: nothing is written until it is settled.
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
    /// A file that is not part of the project stands where one is to be created: the tool did not make it, or the user edited
    /// it and it stayed when its entry went.
    Exists,
    /// A manifest that was there says what the project cannot be built with.
    Foreign {
        /// What it says, as a fragment after the path.
        what: String,
        /// A line that helps.
        help: Option<String>,
    },
    /// A Tool file was edited by hand, and has to change.
    Edited,
    /// A Tool file was edited on a branch that git merged, with this text, and the edit does not go together with what is
    /// generated now; `None` where both branches have an edit.
    EditedOnBranch(Option<String>),
    /// Both sides changed the same lines of a Shared file.
    Overlap,
    /// It has conflict markers already, the first in this line, and they have to go before something else comes.
    Markers(usize),
    /// It cannot be merged, as it is no text.
    NoText,
    /// The merged text would no longer parse; the text says how.
    Unparsable(String),
    /// A directory, link or device stands where a file belongs; the text names it.
    Obstacle(String),
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

    /// Whether a [`Policy`](super::Policy) can settle it.
    pub fn can_be_settled(&self) -> bool {
        !matches!(self, Self::Obstacle(_))
    }

    /// The line that makes room where something stands that is no file: a link becomes what it leads to, which stays the
    /// content; anything else is put aside.
    pub fn makes_room(&self) -> Option<String> {
        let Self::Obstacle(what) = self else {
            return None;
        };
        let path = what.split('`').nth(1)?;
        if !what.ends_with("a symbolic link") {
            return Some(shell::put_aside(path));
        }
        let (at, copy) = (shell::word(path), shell::word(&format!("{path}.former")));
        Some(format!(
            "cp -RLi {at} {copy} && rm {at} && mv -i {copy} {at}"
        ))
    }

    /// Whether both texts can be written into the file, as far as is known.
    pub fn can_be_marked(&self) -> bool {
        self.can_be_settled() && !matches!(self, Self::Markers(_) | Self::NoText)
    }

    /// Whether edits of a generated file stand in the way, and both sides can be written into it.
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
