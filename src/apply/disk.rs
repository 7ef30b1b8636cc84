//! The interface for all file system calls of applying, so that tests can fail or stop the process at any call.
//!
//! Invariant: a call names a [`RelPath`], so it does not leave the project, and it follows no symbolic link at the end of its path.

mod real;

use std::{io, time::SystemTime};

pub use self::real::Real;
use crate::tree::{self, Found, RelPath};

/// The type of a file, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// No file.
    Absent,
    /// A regular file.
    File {
        /// Its permission bits, of owner, group and others; `None` where the system has none.
        mode: Option<u32>,
        /// Whether nobody may write to it.
        read_only: bool,
        /// The time of the last write; `None` where the system has none.
        modified: Option<SystemTime>,
    },
    /// A directory.
    Directory,
    /// A symbolic link, device, socket or pipe.
    Other,
}

/// The answer to a request for the lock.
pub enum Lock {
    /// Held until the value is dropped or the process ends in any way; with the text of the last holder.
    Ours(Box<dyn Held>, String),
    /// Held by another process, which wrote this text.
    Theirs(String),
    /// The file has another name (a hard link), which may lead out of the project: it is not written.
    Linked,
}

/// A held lock.
pub trait Held {
    /// Replaces the text of the lock file.
    fn write(&mut self, text: &str) -> io::Result<()>;
}

/// The calls. A call that fails leaves at most a partial new file.
pub trait Disk {
    /// Reads `path`; symbolic links are not followed.
    fn find(&self, path: &RelPath) -> Result<Found, tree::Error>;
    /// The type of the file at `path`.
    fn kind(&self, path: &RelPath) -> io::Result<FileType>;
    /// Writes a new file, and fails if there is one; if `durable`, the file survives a power cut from then on. The process's umask
    /// limits the permission bits.
    fn write(
        &self,
        path: &RelPath,
        bytes: &[u8],
        mode: Option<u32>,
        durable: bool,
    ) -> io::Result<()>;
    /// Moves a file, and replaces the one at `to`, in one step.
    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Deletes a file.
    fn remove(&self, path: &RelPath) -> io::Result<()>;
    /// Creates a directory; `false` if it exists already.
    fn make_directory(&self, path: &RelPath) -> io::Result<bool>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &RelPath) -> io::Result<()>;
    /// Makes the entries of a directory survive a power cut.
    fn sync_directory(&self, path: &RelPath) -> io::Result<()>;
    /// The names in a directory, sorted.
    fn list(&self, path: &RelPath) -> io::Result<Vec<String>>;
    /// Creates the project's own directory and the missing ones around it, all or none; returns their number.
    fn make_root(&self) -> io::Result<usize>;
    /// Removes this number of directories, from the project's own outwards, while they are empty.
    fn remove_root(&self, made: usize) -> io::Result<()>;
    /// Locks a new file, or an existing one.
    fn lock(&self, path: &RelPath, new: bool) -> io::Result<Lock>;
    /// The boot ID of the machine; empty where the system has none.
    fn boot(&self) -> String;
    /// A number that tells this checkout from others, such as the one that a repository was cloned from; `None` where the system has
    /// none.
    fn checkout(&self) -> io::Result<Option<u64>>;
    /// Whether git tracks a file.
    fn is_tracked(&self, path: &RelPath) -> bool;
    /// The path as errors name it.
    fn show(&self, path: &RelPath) -> String;
}
