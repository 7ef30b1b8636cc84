//! Change sets that are not applied.

use std::{io, path::Path};

use crate::{
    advice::{Advice, Script},
    apply::Error,
    error::Failure,
    tree::RelPath,
};

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
                .note("rename the kind or group of one of them")
                .advise(Script::forge("status")),
            Error::Changed(_) => failure.advise(Advice::Again),
            Error::NoDirectory(_, obstacle) => failure
                .note("it is where operator-forge keeps its record")
                .advise(obstacle.makes_room()),
            Error::Busy(holder) => {
                let failure = Self::busy(failure.what);
                let failure = match holder {
                    Some((process, command)) => {
                        failure.note(format!("process {process}: {command}"))
                    }
                    None => failure,
                };
                failure.note("wait until it has ended").advise(Advice::Again)
            }
            Error::Interrupted(_) => failure
                .note("some files are as they were before it, some as they are after it")
                .note("the next command that writes finishes it")
                .advise(Script::forge("sync")),
            Error::Journal { path, why } => failure
                .note(why)
                .note("it holds what the last command replaced")
                .note("look at what git says has changed before you put it aside")
                .advise(Script::put_aside(path)),
            Error::NothingToUndo => failure
                .note("`undo` takes back what the last command did to this copy of the project; git keeps what was committed")
                .advise(Script::forge("status")),
            Error::CannotUndo { changed, .. } => changed
                .iter()
                .fold(failure, |failure, path| {
                    failure.note(format!("`{path}` was changed since"))
                })
                .note("nothing was changed")
                .note("put them back as they were, or edit `PROJECT` and run `operator-forge sync`")
                .advise(Script::forge("status")),
            Error::Reverted(error) => Self::from(*error).note("nothing was changed"),
            Error::Unfinished(error, left) => left
                .into_iter()
                .fold(Self::from(*error), Self::note)
                .note("the next command finishes what this one began"),
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
            .note("a file belongs there")
            .advise(Script::put_aside(shown))
            .advise(Advice::Again),
        _ => failure
            .note("remove what is in the way first")
            .advise(Advice::Again),
    }
}
