//! What the operating system refused, with what to do about it.

use std::{io, path::Path};

use super::Disk;
use crate::{advice::Advice, error::Failure, shell, tree::RelPath};

/// `verb` could not be done to `path`.
pub fn cannot(disk: &dyn Disk, verb: &str, path: &RelPath, error: &io::Error) -> Failure {
    let failure = Failure::refused(format!("cannot {verb} `{}`: {error}", disk.show(path)));
    match error.kind() {
        io::ErrorKind::PermissionDenied if path.parents().next().is_some() => {
            let directory = path.parents().next_back().unwrap_or_default();
            let directory = RelPath::parse(directory).map(|directory| disk.show(&directory));
            failure.advise(match verb {
                "read" => format!("chmod u+r {}", shell::word(&disk.show(path))),
                _ => format!("chmod u+w {}", shell::word(&directory.unwrap_or_default())),
            })
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            let shown = disk.show(path);
            let directory = Path::new(&shown).parent().unwrap_or(Path::new("."));
            failure
                .note("`-C` names a directory that you may write to")
                .advise(format!(
                    "ls -ld {}",
                    shell::word(&directory.to_string_lossy())
                ))
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.note("free some space first").advise(Advice::Again)
        }
        io::ErrorKind::IsADirectory => {
            let aside = shell::put_aside(&disk.show(path));
            failure
                .note("a file belongs there")
                .advise(aside)
                .advise(Advice::Again)
        }
        _ => failure
            .note("remove what is in the way first")
            .advise(Advice::Again),
    }
}
