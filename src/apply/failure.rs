//! What the operating system refused, with what to do about it.

use std::io;

use super::Disk;
use crate::{error::Failure, tree::RelPath};

/// `verb` could not be done to `path`.
pub fn cannot(disk: &dyn Disk, verb: &str, path: &RelPath, error: &io::Error) -> Failure {
    let failure = Failure::refused(format!("cannot {verb} `{}`: {error}", disk.show(path)));
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            failure.help("choose a directory that you may write to: operator-forge -C DIR …")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.help("make room, then run the command again")
        }
        _ => failure.help("remove what is in the way, then run the command again"),
    }
}
