//! The changes that one process makes while no other one can: the lock, and the recovery after the last holder.
//!
//! Invariant: the kernel lets go of the lock when its holder ends, so a lock is never stale; its text only gives a name.

use std::{io, path::Path};

use super::{
    Disk, FileType, Held, JOURNAL, LOCAL, Lock, Recovered, STAGE, UNDO,
    error::{Error, Result, cannot},
    kind,
    recover::{Left, exists, finish, mend, read},
};
use crate::{
    memory,
    tree::{Found, Obstacle, ObstacleKind, RelPath},
};

const LOCK: &str = ".operator-forge/local/lock";
const IGNORE: &str = ".operator-forge/local/.gitignore";
const IGNORED: &str =
    "# Of this copy of the project only: the journal, and what `operator-forge undo` goes by.\n*\n";

/// The right to write to a project.
pub struct Transaction<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) command: &'a str,
    /// The killed command that was finished first.
    pub recovered: Option<Recovered>,
    claim: Claim,
}

/// The claim on the lock file.
enum Claim {
    Locked {
        held: Box<dyn Held>,
        /// The run of the machine in which the last holder was.
        boot: String,
    },
    /// There was no lock file: nobody ever wrote here.
    Absent,
    /// The lock file cannot be written, so nothing else can.
    Denied(io::Error),
}

impl<'a> Transaction<'a> {
    /// Takes the lock where a command has run before, and recovers if one was killed. Where none has run, nothing is written until
    /// there is something to apply.
    ///
    /// Errors: another process is at work; a journal that cannot be read.
    pub fn begin(disk: &'a dyn Disk, command: &'a str) -> Result<Self> {
        let mut turn = Self::take(disk, command)?;
        let mut made_root = false;
        if let Claim::Locked { held, boot } = &mut turn.claim {
            sign(disk, held.as_mut(), command, boot)?;
            match finish(disk)? {
                Left::Nothing => {}
                Left::Dropped { made_root: made } => made_root = made,
                Left::Finished(recovered) => turn.recovered = Some(recovered),
            }
        }
        if came_to_nothing(disk)? {
            // Only its own directory: no journal may lead out of the project.
            Made::all(usize::from(made_root))?.take_back(disk);
            turn.claim = Claim::Absent;
        }
        let Claim::Locked { held, boot } = &mut turn.claim else {
            return Ok(turn);
        };
        let now = disk.boot();
        if *boot != now {
            // Only the end of the machine tears a file, and only once.
            mend(disk)?;
            sign(disk, held.as_mut(), command, &now)?;
        }
        Ok(turn)
    }

    /// The lock alone, which says whether another process is at work; nothing is written.
    pub(super) fn take(disk: &'a dyn Disk, command: &'a str) -> Result<Self> {
        for directory in [memory::DIRECTORY, LOCAL] {
            let path = RelPath::parse(directory)?;
            // A link could lead out of the project.
            if !matches!(kind(disk, &path)?, FileType::Directory | FileType::Absent) {
                let obstacle = match disk.find(&path)? {
                    Found::Obstacle(obstacle) => obstacle,
                    _ => Obstacle {
                        path: directory.to_owned(),
                        kind: ObstacleKind::File,
                    },
                };
                return Err(Error::NoDirectory(directory, obstacle));
            }
        }
        let lock = RelPath::parse(LOCK)?;
        let claim = match disk.lock(&lock, false) {
            Ok(Lock::Ours(held, last)) => Claim::Locked {
                held,
                boot: last.lines().nth(1).unwrap_or_default().to_owned(),
            },
            Ok(Lock::Theirs(text)) => return Err(busy(&text)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Claim::Absent,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Claim::Denied(error)
                }
                _ => return Err(cannot(disk, "lock", &lock, &error)),
            },
        };
        Ok(Self {
            disk,
            command,
            recovered: None,
            claim,
        })
    }

    /// Refuses if another process has taken the lock of a project that had none: the files read since may be half of its work.
    pub fn check_alone(&self) -> Result<()> {
        match self.claim {
            Claim::Absent if exists(self.disk, LOCK)? => Err(busy("")),
            _ => Ok(()),
        }
    }

    /// Makes sure of the lock before the first write.
    pub(super) fn claim(&mut self, made: &mut Made) -> Result<()> {
        let lock = RelPath::parse(LOCK)?;
        match &self.claim {
            Claim::Locked { .. } => return Ok(()),
            Claim::Denied(error) => return Err(cannot(self.disk, "write", &lock, error)),
            Claim::Absent => {}
        }
        let disk = self.disk;
        let refused = |path: &RelPath, error: io::Error| cannot(disk, "create", path, &error);
        let root = RelPath::parse(memory::DIRECTORY)?;
        made.root = disk.make_root().map_err(|error| refused(&root, error))?;
        for directory in [memory::DIRECTORY, LOCAL] {
            let directory = RelPath::parse(directory)?;
            if disk
                .make_directory(&directory)
                .map_err(|error| refused(&directory, error))?
            {
                made.directories.push(directory);
            }
        }
        let ignore = RelPath::parse(IGNORE)?;
        match disk.write(&ignore, IGNORED.as_bytes(), None, false) {
            Ok(()) => made.files.push(ignore),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                made.files.push(ignore.clone());
                return Err(refused(&ignore, error));
            }
        }
        match disk.lock(&lock, true) {
            Ok(Lock::Ours(mut held, _)) => {
                made.files.push(lock);
                let boot = disk.boot();
                sign(disk, held.as_mut(), self.command, &boot)?;
                self.claim = Claim::Locked { held, boot };
                Ok(())
            }
            Ok(Lock::Theirs(text)) => Err(busy(&text)),
            // It was not there when the command read the project.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(busy("")),
            Err(error) => Err(refused(&lock, error)),
        }
    }
}

/// Refuses a command that only reads where a killed one has to be finished first.
pub fn pending(disk: &dyn Disk) -> Result<()> {
    if !exists(disk, JOURNAL)? {
        return Ok(());
    }
    let Some(journal) = read(disk, JOURNAL)? else {
        return Ok(());
    };
    // A command that is at work has a journal too.
    Transaction::take(disk, "")?;
    Err(Error::Interrupted(journal.command))
}

/// Finishes or drops a killed command, if there is one, in a transaction of its own.
pub fn recover(disk: &dyn Disk) -> Result<Option<Recovered>> {
    if exists(disk, JOURNAL)? || exists(disk, STAGE)? || came_to_nothing(disk)? {
        Ok(Transaction::begin(disk, "recovery")?.recovered)
    } else {
        Ok(None)
    }
}

/// Whether a first command was killed early: there is no project, and nothing of it may stay.
fn came_to_nothing(disk: &dyn Disk) -> Result<bool> {
    Ok(exists(disk, memory::DIRECTORY)? && !exists(disk, memory::LOCK)? && !exists(disk, UNDO)?)
}

/// The files and directories of a first transaction, in case it comes to nothing.
#[derive(Default)]
pub struct Made {
    /// The number of directories: the project's own and those around it.
    pub root: usize,
    directories: Vec<RelPath>,
    files: Vec<RelPath>,
}

impl Made {
    /// Everything that a first transaction makes.
    fn all(root: usize) -> Result<Self> {
        let paths = |paths: [&str; 2]| {
            paths
                .iter()
                .map(|path| Ok(RelPath::parse(path)?))
                .collect::<Result<_>>()
        };
        Ok(Self {
            root,
            directories: paths([memory::DIRECTORY, LOCAL])?,
            files: paths([IGNORE, LOCK])?,
        })
    }

    /// Removes them again. A rest that cannot be removed is in nobody's way.
    pub fn take_back(&self, disk: &dyn Disk) {
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

/// Writes into the lock file who holds it, and in which run of the machine.
fn sign(disk: &dyn Disk, held: &mut dyn Held, command: &str, boot: &str) -> Result<()> {
    let process = std::process::id();
    held.write(&format!("{process} operator-forge {command}\n{boot}\n"))
        .map_err(|error| match RelPath::parse(LOCK) {
            Ok(lock) => cannot(disk, "write", &lock, &error),
            Err(error) => error.into(),
        })
}

/// Whether a process may be alive; where the system does not tell, it may. If it has ended, its text does not name the holder.
fn may_live(process: u32) -> bool {
    let all = Path::new("/proc");
    !all.join("self").exists() || all.join(process.to_string()).exists()
}

/// The error for a lock that another process holds, which wrote `holder` into it.
fn busy(holder: &str) -> Error {
    let line = holder.lines().next().and_then(|line| line.split_once(' '));
    let alive = line.filter(|(process, _)| process.parse().is_ok_and(may_live));
    Error::Busy(alive.map(|(process, command)| {
        let command = command.escape_debug().to_string();
        (process.to_owned(), command)
    }))
}
