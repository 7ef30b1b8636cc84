//! The errors of applying.

use std::{fmt, io};

use super::Disk;
use crate::tree::{self, Obstacle, RelPath};

/// The result of applying, recovering and undoing.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason that a change set is not applied, recovered or undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A path or a file is not usable.
    Tree(tree::Error),
    /// The operating system refuses a call.
    System {
        /// The call: `write`.
        verb: &'static str,
        /// The file or directory.
        path: RelPath,
        /// The path as errors name it.
        shown: String,
        /// The kind of the operating system's error.
        kind: io::ErrorKind,
        /// The operating system's error.
        why: String,
    },
    /// A file is read-only.
    ReadOnly {
        /// The file.
        path: RelPath,
        /// The path as errors name it.
        shown: String,
    },
    /// Two paths differ only by case.
    Case(String, String),
    /// A file has changed since the plan read it.
    Changed(RelPath),
    /// Another kind of file is in the place of the tool's own directory.
    NoDirectory(&'static str, Obstacle),
    /// Another process is at work; with its ID and its command if they are known.
    Busy(Option<(String, String)>),
    /// This command was killed, and no other one has completed it yet.
    Interrupted(String),
    /// A journal or record cannot be read.
    Journal {
        /// The file.
        path: &'static str,
        /// The cause.
        why: String,
    },
    /// A journal or record describes the files of another checkout.
    OtherCheckout(&'static str),
    /// A file that is written in place has another name.
    Linked(&'static str),
    /// There is no record.
    NothingToUndo,
    /// Files have changed since the command of the record.
    CannotUndo {
        /// The command.
        command: String,
        /// The files.
        changed: Vec<RelPath>,
    },
    /// The command failed, and changed nothing.
    Reverted(Box<Self>),
    /// The command failed, and some of its changes could not be reverted.
    Unfinished(Box<Self>, Vec<String>),
}

/// Makes the error for a call that the operating system refuses.
pub fn cannot(disk: &dyn Disk, verb: &'static str, path: &RelPath) -> impl Fn(io::Error) -> Error {
    move |error| Error::System {
        verb,
        path: path.clone(),
        shown: disk.show(path),
        kind: error.kind(),
        why: error.to_string(),
    }
}

impl From<tree::Error> for Error {
    fn from(error: tree::Error) -> Self {
        Self::Tree(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree(error) => error.fmt(f),
            Self::System {
                verb, shown, why, ..
            } => write!(f, "cannot {verb} `{shown}`: {why}"),
            Self::ReadOnly { path, .. } => write!(f, "cannot write `{path}`: it is read-only"),
            Self::Case(path, other) => write!(f, "`{path}` and `{other}` differ only by case"),
            Self::Changed(path) => write!(f, "`{path}` changed while the command ran"),
            Self::NoDirectory(path, _) => write!(f, "`{path}` is not a directory"),
            Self::Busy(_) => f.write_str("another operator-forge is at work in this project"),
            Self::Interrupted(command) => write!(f, "`{command}` was interrupted"),
            Self::Journal { path, .. } => write!(f, "cannot read `{path}`"),
            Self::OtherCheckout(path) => write!(f, "`{path}` is from another checkout"),
            Self::Linked(path) => write!(f, "`{path}` has another name"),
            Self::NothingToUndo => f.write_str("there is nothing to undo"),
            Self::CannotUndo { command, .. } => write!(f, "cannot undo `{command}`"),
            Self::Reverted(error) | Self::Unfinished(error, _) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
