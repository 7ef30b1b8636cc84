//! A process's turn to write: the lock, and whatever a process that died in its turn left behind.
//!
//! Invariant: the kernel lets go of the lock when its holder ends, so a lock is never stale; its text only gives a name.

use std::{io, path::Path};

use super::{
    Disk, FileType, Held, LOCAL, Lock, Recovered, UNDO,
    failure::cannot,
    recover::{Left, mend, recover, stands},
};
use crate::{
    advice::Advice,
    change::ConflictKind,
    error::{Failure, Result},
    memory,
    tree::{Found, RelPath},
};

const LOCK: &str = ".operator-forge/local/lock";
const IGNORE: &str = ".operator-forge/local/.gitignore";
const IGNORED: &str =
    "# Of this copy of the project only: the journal, and what `operator-forge undo` goes by.\n*\n";

/// The right to write to a project.
pub struct Transaction<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) command: &'a str,
    /// What was found and settled when it began.
    pub recovered: Option<Recovered>,
    state: State,
}

enum State {
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
    /// Takes the lock where a command has run before, and settles what an interrupted one left. Where none has run,
    /// nothing is written until there is something to apply.
    ///
    /// Errors: another process is at work, and its name; a journal that cannot be settled.
    pub fn begin(disk: &'a dyn Disk, command: &'a str) -> Result<Self> {
        let mut turn = Self::take(disk, command)?;
        let mut made_root = false;
        if let State::Locked { held, boot } = &mut turn.state {
            sign(disk, held.as_mut(), command, boot)?;
            match recover(disk)? {
                Left::Nothing => {}
                Left::Dropped { made_root: made } => made_root = made,
                Left::Finished(recovered) => turn.recovered = Some(recovered),
            }
        }
        if came_to_nothing(disk)? {
            // Only its own directory: no journal may lead out of the project.
            Made::all(usize::from(made_root))?.take_back(disk);
            turn.state = State::Absent;
        }
        let State::Locked { held, boot } = &mut turn.state else {
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
            let kind = disk
                .kind(&path)
                .map_err(|error| cannot(disk, "read", &path, &error))?;
            // A link could lead out of the project.
            if !matches!(kind, FileType::Directory | FileType::Absent) {
                let failure = Failure::refused(format!("`{directory}` is not a directory"))
                    .note("it is where operator-forge keeps its record");
                let what = match disk.find(&path)? {
                    Found::Obstacle(what) => what,
                    _ => format!("`{directory}` is a file"),
                };
                let room = ConflictKind::Obstacle(what).makes_room();
                return Err(room.into_iter().fold(failure, Failure::advise));
            }
        }
        let lock = RelPath::parse(LOCK)?;
        let state = match disk.lock(&lock, false) {
            Ok(Lock::Ours(held, last)) => State::Locked {
                held,
                boot: last.lines().nth(1).unwrap_or_default().to_owned(),
            },
            Ok(Lock::Theirs(text)) => return Err(busy(&text)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => State::Absent,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    State::Denied(error)
                }
                _ => return Err(cannot(disk, "lock", &lock, &error)),
            },
        };
        Ok(Self {
            disk,
            command,
            recovered: None,
            state,
        })
    }

    /// Refuses if another process took the lock of a project that had none when this turn began: what was read since may be
    /// half of its work.
    pub fn check_alone(&self) -> Result<()> {
        match self.state {
            State::Absent if stands(self.disk, LOCK)? => Err(busy("")),
            _ => Ok(()),
        }
    }

    /// Makes sure of the lock before the first write.
    pub(super) fn claim(&mut self, made: &mut Made) -> Result<()> {
        let lock = RelPath::parse(LOCK)?;
        match &self.state {
            State::Locked { .. } => return Ok(()),
            State::Denied(error) => return Err(cannot(self.disk, "write", &lock, error)),
            State::Absent => {}
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
                self.state = State::Locked { held, boot };
                Ok(())
            }
            Ok(Lock::Theirs(text)) => Err(busy(&text)),
            // It was not there when the command read the project.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(busy("")),
            Err(error) => Err(refused(&lock, error)),
        }
    }
}

/// Whether what is here is of a first command that did not get far: no project is here, and nothing of ours may stay.
pub fn came_to_nothing(disk: &dyn Disk) -> Result<bool> {
    Ok(stands(disk, memory::DIRECTORY)? && !stands(disk, memory::LOCK)? && !stands(disk, UNDO)?)
}

/// What was made for a first turn, in case it comes to nothing.
#[derive(Default)]
pub struct Made {
    /// The project's own directory and those around it: how many.
    pub root: usize,
    directories: Vec<RelPath>,
    files: Vec<RelPath>,
}

impl Made {
    /// Everything that a first turn makes.
    fn all(root: usize) -> Result<Self> {
        let paths = |paths: [&str; 2]| paths.into_iter().map(RelPath::parse).collect::<Result<_>>();
        Ok(Self {
            root,
            directories: paths([memory::DIRECTORY, LOCAL])?,
            files: paths([IGNORE, LOCK])?,
        })
    }

    /// Removes it again. What cannot be removed is in the way of nobody.
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
            Err(failure) => failure,
        })
}

/// Whether a process may be there; where the system does not tell, it may. The text of one that has ended says nothing of who
/// took the lock since.
fn may_live(process: u32) -> bool {
    let all = Path::new("/proc");
    !all.join("self").exists() || all.join(process.to_string()).exists()
}

fn busy(holder: &str) -> Failure {
    let failure = Failure::busy("another operator-forge is at work in this project");
    let named = holder
        .lines()
        .next()
        .and_then(|line| line.split_once(' '))
        .filter(|(process, _)| process.parse().is_ok_and(may_live));
    match named {
        Some((process, command)) => {
            failure.note(format!("process {process}: {}", command.escape_debug()))
        }
        None => failure,
    }
    .note("wait until it has ended")
    .advise(Advice::Again)
}
