//! The changes of one process, which holds the lock meanwhile; and the recovery after the last holder.
//!
//! Invariant: the kernel releases the lock when its holder ends, so a lock is never stale; its text only names the holder.

use std::{io, path::Path};

use super::{
    Disk, FileType, Held, JOURNAL, LOCAL, Lock, Recovered, STAGE, UNDO,
    error::{Error, Result, cannot},
    kind,
    recover::{exists, finish, mend, read},
};
use crate::{
    memory,
    tree::{Found, Obstacle, ObstacleKind, RelPath},
};

static MEMORY: RelPath = RelPath::constant(memory::DIRECTORY);
static MEMORY_LOCK: RelPath = RelPath::constant(memory::LOCK);
static LOCK: RelPath = RelPath::constant(".operator-forge/local/lock");
static IGNORE: RelPath = RelPath::constant(".operator-forge/local/.gitignore");
const IGNORED: &str =
    "# For this checkout only: the journal, and the record for `operator-forge undo`.\n*\n";

/// The right to write to a project.
pub struct Transaction<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) command: &'a str,
    /// The killed command that was completed first.
    pub recovered: Option<Recovered>,
    claim: Claim,
}

/// The claim on the lock file.
enum Claim {
    Locked {
        held: Box<dyn Held>,
        /// The boot ID of the last holder.
        boot: String,
    },
    /// There is no lock file: no command has ever written here.
    Absent,
    /// The lock file cannot be written, so nothing else can.
    Denied(Error),
}

impl<'a> Transaction<'a> {
    /// Takes the lock if any command has run before, and recovers if the last one was killed. Before the first command, nothing is
    /// written until there is a change to apply.
    ///
    /// Errors: another process is at work; the journal cannot be read.
    pub fn begin(disk: &'a dyn Disk, command: &'a str) -> Result<Self> {
        let mut transaction = Self::take(disk, command)?;
        let mut made_root = false;
        if let Claim::Locked { held, boot } = &mut transaction.claim {
            sign(disk, held.as_mut(), command, boot)?;
            (transaction.recovered, made_root) = finish(disk)?;
        }
        if came_to_nothing(disk)? {
            // At most the project's own directory: no journal may lead out of the project.
            Made::all(usize::from(made_root)).revert(disk);
            transaction.claim = Claim::Absent;
        }
        let Claim::Locked { held, boot } = &mut transaction.claim else {
            return Ok(transaction);
        };
        let now = disk.boot();
        if *boot != now {
            // Only a power cut tears a file, and only once.
            mend(disk)?;
            sign(disk, held.as_mut(), command, &now)?;
        }
        Ok(transaction)
    }

    /// Takes the lock alone, to find out whether another process is at work. Writes nothing.
    pub(super) fn take(disk: &'a dyn Disk, command: &'a str) -> Result<Self> {
        for directory in [&MEMORY, &LOCAL] {
            // A symbolic link could lead out of the project.
            let there = kind(disk, directory)?;
            if !matches!(there, FileType::Directory | FileType::Absent) {
                let obstacle = match disk.find(directory)? {
                    Found::Obstacle(obstacle) => obstacle,
                    _ => Obstacle {
                        path: directory.to_string(),
                        kind: ObstacleKind::File,
                    },
                };
                return Err(Error::NoDirectory(directory.as_str(), obstacle));
            }
        }
        let claim = match disk.lock(&LOCK, false) {
            Ok(Lock::Ours(held, last)) => Claim::Locked {
                held,
                boot: last.lines().nth(1).unwrap_or_default().to_owned(),
            },
            Ok(Lock::Theirs(text)) => return Err(busy(&text)),
            Ok(Lock::Linked) => return Err(Error::Linked(LOCK.as_str())),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Claim::Absent,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Claim::Denied(cannot(disk, "write", &LOCK)(error))
                }
                _ => return Err(cannot(disk, "lock", &LOCK)(error)),
            },
        };
        Ok(Self {
            disk,
            command,
            recovered: None,
            claim,
        })
    }

    /// Refuses if another process has created the lock meanwhile: the files that were read may be half of its work.
    pub fn check_alone(&self) -> Result<()> {
        match self.claim {
            Claim::Absent if exists(self.disk, &LOCK)? => Err(busy("")),
            _ => Ok(()),
        }
    }

    /// Takes the lock before the first write, and creates its file if it is missing.
    pub(super) fn claim(&mut self, made: &mut Made) -> Result<()> {
        let disk = self.disk;
        match &self.claim {
            Claim::Locked { .. } => return Ok(()),
            Claim::Denied(error) => return Err(error.clone()),
            Claim::Absent => {}
        }
        let made_root = disk.make_root();
        made.root = made_root.map_err(cannot(disk, "create", &MEMORY))?;
        for directory in [&MEMORY, &LOCAL] {
            let is_new = disk.make_directory(directory);
            if is_new.map_err(cannot(disk, "create", directory))? {
                made.directories.push(directory);
            }
        }
        let ignored = disk.write(&IGNORE, IGNORED.as_bytes(), None, false);
        if !matches!(&ignored, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            // A write that fails may leave a part of the file.
            made.files.push(&IGNORE);
            ignored.map_err(cannot(disk, "create", &IGNORE))?;
        }
        match disk.lock(&LOCK, true) {
            Ok(Lock::Ours(mut held, _)) => {
                made.files.push(&LOCK);
                let boot = disk.boot();
                sign(disk, held.as_mut(), self.command, &boot)?;
                self.claim = Claim::Locked { held, boot };
                Ok(())
            }
            Ok(Lock::Theirs(text)) => Err(busy(&text)),
            Ok(Lock::Linked) => Err(Error::Linked(LOCK.as_str())),
            // Another process created it after this command had read the project.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(busy("")),
            Err(error) => Err(cannot(disk, "create", &LOCK)(error)),
        }
    }
}

/// Refuses a command that only reads, if a killed command has to be completed first.
pub fn pending(disk: &dyn Disk) -> Result<()> {
    let Some(journal) = read(disk, &JOURNAL)? else {
        return Ok(());
    };
    // A command that is at work has a journal, too.
    Transaction::take(disk, "")?;
    Err(Error::Interrupted(journal.command))
}

/// Completes or drops a killed command, if there is one, in a transaction of its own.
pub fn recover(disk: &dyn Disk) -> Result<Option<Recovered>> {
    if exists(disk, &JOURNAL)? || exists(disk, &STAGE)? || came_to_nothing(disk)? {
        Ok(Transaction::begin(disk, "recovery")?.recovered)
    } else {
        Ok(None)
    }
}

/// Whether a first command was killed early: there is no project, and no file of the command may remain.
fn came_to_nothing(disk: &dyn Disk) -> Result<bool> {
    Ok(exists(disk, &MEMORY)? && !exists(disk, &MEMORY_LOCK)? && !exists(disk, &UNDO)?)
}

/// The files and directories that the first transaction of a project creates besides its change set.
#[derive(Default)]
pub struct Made {
    /// The number of directories: the project's own and those around it.
    pub root: usize,
    directories: Vec<&'static RelPath>,
    files: Vec<&'static RelPath>,
}

impl Made {
    /// All files and directories that a first transaction may create.
    fn all(root: usize) -> Self {
        Self {
            root,
            directories: vec![&MEMORY, &LOCAL],
            files: vec![&IGNORE, &LOCK],
        }
    }

    /// Removes them. What cannot be removed does no harm.
    pub fn revert(&self, disk: &dyn Disk) {
        for file in &self.files {
            let _ = disk.remove(file);
        }
        for directory in self.directories.iter().rev() {
            let _ = disk.remove_directory(directory);
        }
        if self.root > 0 {
            let _ = disk.remove_root(self.root);
        }
    }
}

/// Writes the holder and the boot ID into the lock file.
fn sign(disk: &dyn Disk, held: &mut dyn Held, command: &str, boot: &str) -> Result<()> {
    let process = std::process::id();
    held.write(&format!("{process} operator-forge {command}\n{boot}\n"))
        .map_err(cannot(disk, "write", &LOCK))
}

/// Whether a process may be alive, which only Linux can rule out. The text of a process that has ended does not name the holder.
fn may_live(process: u32) -> bool {
    let all = Path::new("/proc");
    !all.join("self").exists() || all.join(process.to_string()).exists()
}

/// The error for a lock of another process, with the text of the lock file.
fn busy(holder: &str) -> Error {
    let line = holder.lines().next().and_then(|line| line.split_once(' '));
    let alive = line.filter(|(process, _)| process.parse().is_ok_and(may_live));
    Error::Busy(alive.map(|(process, command)| {
        let command = command.escape_debug().to_string();
        (process.to_owned(), command)
    }))
}
