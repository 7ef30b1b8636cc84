//! The file system of the machine.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read, Seek, Write},
    path::{Path, PathBuf},
};

use super::{super::LOCAL, Disk, FileType, Held, Lock};
use crate::git;
use crate::tree::{self, Found, RelPath};

/// A project's directory on disk.
#[derive(Clone, Debug)]
pub struct Real {
    root: PathBuf,
}

impl Real {
    /// The project in `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn full(&self, path: &RelPath) -> PathBuf {
        self.root.join(path.as_str())
    }
}

impl Disk for Real {
    fn find(&self, path: &RelPath) -> Result<Found, tree::Error> {
        tree::find(&self.root, path)
    }

    fn kind(&self, path: &RelPath) -> io::Result<FileType> {
        match fs::symlink_metadata(self.full(path)) {
            Ok(meta) if meta.is_dir() => Ok(FileType::Directory),
            Ok(meta) if meta.is_file() => Ok(FileType::File {
                mode: mode(&meta),
                read_only: meta.permissions().readonly(),
                modified: meta.modified().ok(),
            }),
            Ok(_) => Ok(FileType::Other),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(FileType::Absent),
                _ => Err(error),
            },
        }
    }

    fn write(
        &self,
        path: &RelPath,
        bytes: &[u8],
        mode: Option<u32>,
        durable: bool,
    ) -> io::Result<()> {
        // Only a new file: a repository may contain a symbolic link in its place.
        let mut file = new_file(mode).open(self.full(path))?;
        file.write_all(bytes)?;
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
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match self.kind(path)? {
                FileType::Directory => Ok(false),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    fn remove_directory(&self, path: &RelPath) -> io::Result<()> {
        fs::remove_dir(self.full(path))
    }

    fn sync_directory(&self, path: &RelPath) -> io::Result<()> {
        // Windows cannot open directories, and its file systems write their own journal first.
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

    fn make_root(&self) -> io::Result<usize> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.is_dir();
        let missing: Vec<_> = self.root.ancestors().take_while(is_missing).collect();
        let mut made = 0;
        for directory in missing.into_iter().rev() {
            match fs::create_dir(directory) {
                Ok(()) => made += 1,
                // Created by another process meanwhile, or `..`: neither it nor the directories around it may be removed.
                Err(_) if directory.is_dir() => made = 0,
                Err(error) => {
                    let _ = directory.parent().map(|parent| remove(parent, made));
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    fn remove_root(&self, made: usize) -> io::Result<()> {
        remove(&self.root, made)
    }

    fn lock(&self, path: &RelPath, new: bool) -> io::Result<Lock> {
        let full = self.full(path);
        if !new && self.kind(path)? == FileType::Other {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "it is not a file"));
        }
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(new)
            .open(&full)?;
        if has_other_names(&file.metadata()?) {
            return Ok(Lock::Linked);
        }
        let taken = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            // Some network file systems have no locks. Each file is still verified before it is replaced.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => true,
            Err(TryLockError::Error(error)) => return Err(error),
        };
        let mut text = String::new();
        // On Windows, no other process can read a locked file: the holder remains unnamed.
        let _ = (&mut file).take(256).read_to_string(&mut text);
        if !taken {
            return Ok(Lock::Theirs(text));
        }
        let file = Locked(file);
        // A first command that fails removes its lock file, perhaps after this process has opened it.
        Ok(match is_at(&file.0, &full)? {
            true => Lock::Ours(Box::new(file), text),
            false => Lock::Theirs(text),
        })
    }

    fn boot(&self) -> String {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        id.map(|id| id.trim().to_owned()).unwrap_or_default()
    }

    fn checkout(&self) -> io::Result<Option<u64>> {
        Ok(number(&fs::symlink_metadata(self.full(&LOCAL))?))
    }

    fn is_tracked(&self, path: &RelPath) -> bool {
        git::is_tracked(&self.root, path)
    }

    fn show(&self, path: &RelPath) -> String {
        let full = self.full(path);
        full.strip_prefix(".")
            .unwrap_or(&full)
            .display()
            .to_string()
    }
}

/// Removes `levels` directories, from `directory` outwards, while they are empty.
fn remove(directory: &Path, levels: usize) -> io::Result<()> {
    directory
        .ancestors()
        .take(levels)
        .try_for_each(fs::remove_dir)
}

/// A locked file. It is unlocked explicitly, because a forked child of another thread may keep it open for a moment.
struct Locked(File);

impl Held for Locked {
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.0.rewind()?;
        self.0.write_all(text.as_bytes())?;
        self.0.set_len(text.len() as u64)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // If this fails, the lock is released when the last copy of the file is closed.
        let _ = self.0.unlock();
    }
}

/// Whether `path` still names `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, there) = (file.metadata()?, fs::symlink_metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    Ok(path.is_file())
}

#[cfg(unix)]
fn mode(meta: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(meta.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> Option<u32> {
    None
}

/// How a file is created: with the permission bits of `mode` that the umask allows.
#[cfg(unix)]
fn new_file(mode: Option<u32>) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.write(true).create_new(true);
    if let Some(mode) = mode {
        options.mode(mode & 0o777);
    }
    options
}

#[cfg(not(unix))]
fn new_file(_: Option<u32>) -> OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true);
    options
}

/// Whether another name leads to the same file: it may be any file of the user, and a lock is written in place.
#[cfg(unix)]
fn has_other_names(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &fs::Metadata) -> bool {
    false
}

/// The inode number. Unlike the number of the device, it stays the same when the machine starts again.
#[cfg(unix)]
fn number(meta: &fs::Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(meta.ino())
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_around_the_project_go_with_it() {
        let home = tempfile::tempdir().unwrap();
        let there = home.path().join("there");
        fs::create_dir(&there).unwrap();
        let disk = Real::new(there.join("a/b/c"));
        let made = disk.make_root().unwrap();
        assert_eq!(made, 3);
        assert_eq!(disk.make_root().unwrap(), 0);
        disk.remove_root(made).unwrap();
        assert_eq!(fs::read_dir(&there).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_with_something_in_it_stays() {
        let home = tempfile::tempdir().unwrap();
        let disk = Real::new(home.path().join("a/b/c"));
        let made = disk.make_root().unwrap();
        fs::write(home.path().join("a/other"), "").unwrap();
        disk.remove_root(made).unwrap_err();
        assert!(!home.path().join("a/b").exists());
        assert!(home.path().join("a/other").exists());
    }

    #[test]
    fn of_directories_that_cannot_all_be_made_none_stays() {
        let home = tempfile::tempdir().unwrap();
        let name = "x".repeat(300);
        let disk = Real::new(home.path().join("a/b").join(name));
        disk.make_root().unwrap_err();
        assert!(!home.path().join("a").exists());
    }
}
