//! Every call to the file system that applying makes, as one small interface: the tests fail or stop it at any of them.
//!
//! Invariant: a call names a [`RelPath`], so none reaches outside of the project, and none follows a symbolic link that
//! stands at its end.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, Write},
    path::PathBuf,
    time::SystemTime,
};

use crate::{
    error::Result,
    tree::{self, Found, RelPath},
};

/// What stands at a path, without its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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

/// What came of asking for the lock.
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
    /// What stands at `path`, with its contents; symbolic links are not followed.
    fn find(&self, path: &RelPath) -> Result<Found>;
    /// What stands at `path`.
    fn kind(&self, path: &RelPath) -> io::Result<Kind>;
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
    /// Makes the project's own directory; `false` if it is there already.
    fn make_root(&self) -> io::Result<bool>;
    /// Removes the project's own directory if it is empty.
    fn remove_root(&self) -> io::Result<()>;
    /// Locks a file: a new one, or one that is there.
    fn lock(&self, path: &RelPath, new: bool) -> io::Result<Lock>;
    /// Which run of the machine this is; empty where the system does not say.
    fn boot(&self) -> String;
    /// `path` as errors name it.
    fn show(&self, path: &RelPath) -> String;
}

/// The real one, below a directory.
#[derive(Clone, Debug)]
pub struct Real {
    root: PathBuf,
}

impl Real {
    /// Below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn full(&self, path: &RelPath) -> PathBuf {
        self.root.join(path.as_str())
    }
}

impl Disk for Real {
    fn find(&self, path: &RelPath) -> Result<Found> {
        tree::find(&self.root, path)
    }

    fn kind(&self, path: &RelPath) -> io::Result<Kind> {
        match fs::symlink_metadata(self.full(path)) {
            Ok(meta) if meta.is_dir() => Ok(Kind::Directory),
            Ok(meta) if meta.is_file() => Ok(Kind::File {
                mode: mode(&meta),
                read_only: meta.permissions().readonly(),
                modified: meta.modified().ok(),
            }),
            Ok(_) => Ok(Kind::Other),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(Kind::Absent)
            }
            Err(error) => Err(error),
        }
    }

    fn write(
        &self,
        path: &RelPath,
        bytes: &[u8],
        mode: Option<u32>,
        durable: bool,
    ) -> io::Result<()> {
        // A new file only: `.operator-forge/` may come from a repository in which a link stands in its place.
        let mut file = File::create_new(self.full(path))?;
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            set_mode(&file, mode)?;
        }
        if durable { file.sync_all() } else { Ok(()) }
    }

    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        fs::rename(self.full(from), self.full(to))
    }

    fn remove(&self, path: &RelPath) -> io::Result<()> {
        fs::remove_file(self.full(path))
    }

    fn make_directory(&self, path: &RelPath) -> io::Result<bool> {
        match fs::create_dir(self.full(path)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match self.kind(path)? {
                Kind::Directory => Ok(false),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    fn remove_directory(&self, path: &RelPath) -> io::Result<()> {
        fs::remove_dir(self.full(path))
    }

    fn sync_directory(&self, path: &RelPath) -> io::Result<()> {
        // Windows opens no directories, and its file systems write their own journal first.
        if cfg!(windows) {
            return Ok(());
        }
        File::open(self.full(path))?.sync_all()
    }

    fn list(&self, path: &RelPath) -> io::Result<Vec<String>> {
        let mut names = fs::read_dir(self.full(path))?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn make_root(&self) -> io::Result<bool> {
        if self.root.is_dir() {
            return Ok(false);
        }
        fs::create_dir_all(&self.root).map(|()| true)
    }

    fn remove_root(&self) -> io::Result<()> {
        fs::remove_dir(&self.root)
    }

    fn lock(&self, path: &RelPath, new: bool) -> io::Result<Lock> {
        let full = self.full(path);
        if !new && self.kind(path)? == Kind::Other {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it is no file",
            ));
        }
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(new)
            .open(&full)?;
        let taken = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            // Some network file systems know no locks; that each file is looked at before it is replaced still holds.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => true,
            Err(TryLockError::Error(error)) => return Err(error),
        };
        let mut text = String::new();
        // On Windows nobody else can read a locked file: then the holder has no name.
        let _ = (&mut file).take(256).read_to_string(&mut text);
        // A first command that fails removes its lock file, perhaps after this process had opened it.
        Ok(if taken && is_at(&file, &full)? {
            Lock::Ours(Box::new(file), text)
        } else {
            Lock::Theirs(text)
        })
    }

    fn boot(&self) -> String {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        id.map(|id| id.trim().to_owned()).unwrap_or_default()
    }

    fn show(&self, path: &RelPath) -> String {
        let full = self.full(path);
        full.strip_prefix(".")
            .unwrap_or(&full)
            .display()
            .to_string()
    }
}

impl Held for File {
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.rewind()?;
        self.write_all(text.as_bytes())?;
        self.set_len(text.len() as u64)
    }
}

/// Whether `path` still names `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &std::path::Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, there) = (file.metadata()?, fs::symlink_metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &std::path::Path) -> io::Result<bool> {
    Ok(path.is_file())
}

#[cfg(unix)]
fn mode(meta: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(meta.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}
