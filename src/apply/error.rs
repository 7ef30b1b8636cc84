//! The errors of applying.

use std::{fmt, io, path::Path};

use super::Disk;
use crate::advice::{Advice, Script};
use crate::error::Failure;
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

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::refused(error.to_string());
        match error {
            Error::Tree(error) => error.into(),
            Error::System {
                verb,
                path,
                shown,
                kind,
                ..
            } => of_system(failure, verb, &path, &shown, kind),
            Error::ReadOnly { shown, .. } => {
                failure.advise(Script::anywhere("chmod u+w").arg(shown))
            }
            Error::Case(..) => failure
                .note("where case does not count, as on macOS and Windows, they are one file")
                .note("rename the kind or the group of one of them")
                .advise(Script::forge("status")),
            Error::Changed(_) => failure.advise(Advice::Again),
            Error::NoDirectory(_, obstacle) => failure
                .note("operator-forge keeps its record there")
                .advise(obstacle.makes_room()),
            Error::Busy(holder) => {
                let holder = holder.map(|(process, command)| format!("process {process}: {command}"));
                let failure = holder.into_iter().fold(Self::busy(failure.what), Self::note);
                failure.note("wait until it has ended").advise(Advice::Again)
            }
            Error::Interrupted(_) => failure
                .note("some of its files are written, and others are not")
                .note("the next command that writes completes it")
                .advise(Script::forge("sync")),
            Error::Journal { path, why } => failure
                .note(why)
                .note("it has the texts that the last command replaced")
                .note("see in git what has changed before you put it aside")
                .advise(Script::put_aside(path)),
            Error::OtherCheckout(path) => failure
                .note("only a command of this checkout writes this file, and git does not track it")
                .note("it may overwrite files, so it is not used")
                .advise(Script::put_aside(path)),
            Error::Linked(path) => failure
                .note("it is a hard link, so the command would write to another file, which may be anywhere")
                .advise(Script::put_aside(path)),
            Error::NothingToUndo => failure
                .note("`undo` reverts the last command in this working tree; for what is committed, use git")
                .advise(Script::forge("status")),
            Error::CannotUndo { changed, .. } => changed
                .iter()
                .map(|path| format!("`{path}` was changed since"))
                .fold(failure, Self::note)
                .note("nothing was changed")
                .note("restore these files first, or edit `PROJECT` and apply it with `sync`")
                .advise(Script::forge("status")),
            Error::Reverted(error) => Self::from(*error).note("nothing was changed"),
            Error::Unfinished(error, left) => left
                .into_iter()
                .fold(Self::from(*error), Self::note)
                .note("the next command completes this one"),
        }
    }
}

fn of_system(
    failure: Failure,
    verb: &str,
    path: &RelPath,
    shown: &str,
    kind: io::ErrorKind,
) -> Failure {
    let directory = Path::new(shown).parent().unwrap_or(Path::new("."));
    let directory = directory.to_string_lossy();
    match kind {
        io::ErrorKind::PermissionDenied if path.parents().next().is_some() => {
            failure.advise(match verb {
                "read" => Script::anywhere("chmod u+r").arg(shown),
                _ => Script::anywhere("chmod u+w").arg(directory),
            })
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => failure
            .note("`-C` names a directory that you may write to")
            .advise(Script::anywhere("ls -ld").arg(directory)),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.note("free some space first").advise(Advice::Again)
        }
        io::ErrorKind::IsADirectory => failure
            .note("it is a directory, in the place of a file")
            .advise(Script::put_aside(shown))
            .advise(Advice::Again),
        _ => failure
            .note("remove the obstacle first")
            .advise(Advice::Again),
    }
}
