//! The interface for every call to the file system that applying makes: tests fail it or stop it at any call.
//!
//! Invariant: a call names a [`RelPath`], so none leaves the project, and none follows a symbolic link at the end of its path.

mod real;

use std::{io, time::SystemTime};

pub use self::real::Real;
use crate::tree::{self, Found, RelPath};

/// The type of a file, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Its permission bits; `None` where the system has none.
        mode: Option<u32>,
        /// Nobody may write it.
        read_only: bool,
        /// When it was last written; `None` where the system does not say.
        modified: Option<SystemTime>,
    },
    /// A directory.
    Directory,
    /// A symbolic link, device, socket or pipe.
    Other,
}

/// The answer to a request for the lock.
pub enum Lock {
    /// Held until the value is dropped or the process ends, however it ends; with the text of the last holder.
    Ours(Box<dyn Held>, String),
    /// Held by another process, which wrote this text.
    Theirs(String),
}

/// A lock that is held.
pub trait Held {
    /// Replaces the text of the lock file.
    fn write(&mut self, text: &str) -> io::Result<()>;
}

/// The calls. Each does one thing, and an error leaves at most a half-written new file behind.
pub trait Disk {
    /// Reads `path`; symbolic links are not followed.
    fn find(&self, path: &RelPath) -> Result<Found, tree::Error>;
    /// The type of the file at `path`.
    fn kind(&self, path: &RelPath) -> io::Result<FileType>;
    /// Writes a file that must not be there; `durable` outlives a power cut once it returns.
    fn write(
        &self,
        path: &RelPath,
        bytes: &[u8],
        mode: Option<u32>,
        durable: bool,
    ) -> io::Result<()>;
    /// Moves a file over what is there, in one step.
    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Deletes a file.
    fn remove(&self, path: &RelPath) -> io::Result<()>;
    /// Makes a directory; `false` if it is there already.
    fn make_directory(&self, path: &RelPath) -> io::Result<bool>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &RelPath) -> io::Result<()>;
    /// Makes the entries of a directory outlive a power cut.
    fn sync_directory(&self, path: &RelPath) -> io::Result<()>;
    /// The names in a directory, sorted.
    fn list(&self, path: &RelPath) -> io::Result<Vec<String>>;
    /// Makes the project's own directory and those that are missing around it; how many that were, all or none.
    fn make_root(&self) -> io::Result<usize>;
    /// Removes as many directories, from the project's own outwards, while they are empty.
    fn remove_root(&self, made: usize) -> io::Result<()>;
    /// Locks a file: a new one, or one that is there.
    fn lock(&self, path: &RelPath, new: bool) -> io::Result<Lock>;
    /// Which run of the machine this is; empty where the system does not say.
    fn boot(&self) -> String;
    /// `path` as errors name it.
    fn show(&self, path: &RelPath) -> String;
}
