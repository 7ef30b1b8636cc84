//! What the operating system refused, with what to do about it.

use std::io;

use super::Disk;
use crate::{
    error::{AGAIN, Failure},
    shell,
    tree::RelPath,
};

/// `verb` could not be done to `path`.
pub fn cannot(disk: &dyn Disk, verb: &str, path: &RelPath, error: &io::Error) -> Failure {
    let failure = Failure::refused(format!("cannot {verb} `{}`: {error}", disk.show(path)));
    match error.kind() {
        io::ErrorKind::PermissionDenied if path.parents().next().is_some() => {
            let directory = path.parents().next_back().unwrap_or_default();
            let directory = RelPath::parse(directory).map(|directory| disk.show(&directory));
            failure.help(match verb {
                "read" => format!("chmod u+r {}", shell::word(&disk.show(path))),
                _ => format!("chmod u+w {}", shell::word(&directory.unwrap_or_default())),
            })
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            failure.help("choose a directory that you may write to: operator-forge -C DIR …")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.note("free some space first").help(AGAIN)
        }
        _ => failure.note("remove what is in the way first").help(AGAIN),
    }
}
