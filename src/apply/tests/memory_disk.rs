//! A disk in memory that fails, dies or loses power at a chosen call.

mod view;

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    rc::Rc,
    time::{Duration, SystemTime},
};

use super::super::{Disk, FileType, Held, Lock};
use crate::tree::{self, Found, RelPath};

/// The fault at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails, once.
    Error,
    /// The process ends: a write stops halfway, and every later call fails.
    Death,
    /// The machine stops: in addition, files that were not synced lose parts.
    PowerCut,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    bytes: Vec<u8>,
    durable: bool,
    /// The number of the write.
    modified: u64,
}

/// The disk; a clone is the same disk.
#[derive(Clone, Default)]
pub struct MemoryDisk(Rc<Inner>);

impl std::ops::Deref for MemoryDisk {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

struct HeldInMemory {
    disk: MemoryDisk,
    path: String,
}

impl Held for HeldInMemory {
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.disk.call()?;
        self.disk.put(&self.path, text.as_bytes().to_vec(), false);
        Ok(())
    }
}

/// The content of a disk.
#[derive(Default)]
pub struct Inner {
    files: RefCell<BTreeMap<String, File>>,
    directories: RefCell<BTreeSet<String>>,
    root: Cell<bool>,
    fault: Cell<Option<(usize, Fault)>>,
    calls: Cell<usize>,
    dead: Cell<bool>,
    writes: Cell<u64>,
    boots: Cell<u64>,
}

impl MemoryDisk {
    /// Sets the fault for the call number `at` from here on.
    pub fn fault_at(&self, at: usize, fault: Fault) {
        self.fault.set(Some((at, fault)));
        self.calls.set(0);
    }

    /// The number of calls since [`MemoryDisk::fault_at`].
    pub fn calls(&self) -> usize {
        self.calls.get()
    }

    /// Starts the next process, or the machine again.
    pub fn revive(&self) {
        if let Some((_, Fault::PowerCut)) = self.fault.take()
            && self.dead.get()
        {
            self.boots.set(self.boots.get() + 1);
            for (at, file) in self
                .files
                .borrow_mut()
                .values_mut()
                .filter(|file| !file.durable)
                .enumerate()
            {
                match at % 3 {
                    0 => file.bytes.clear(),
                    1 => file.bytes.fill(0),
                    _ => {}
                }
            }
        }
        self.fault.set(None);
        self.dead.set(false);
    }

    /// Writes everything to disk, as the system does after half a minute.
    pub fn write_back(&self) {
        for file in self.files.borrow_mut().values_mut() {
            file.durable = true;
        }
    }

    /// Edits or deletes a file, as another process would.
    pub fn edit(&self, path: &str, text: Option<&str>) {
        match text {
            Some(text) => self.put(path, text.as_bytes().to_vec(), true),
            None => drop(self.files.borrow_mut().remove(path)),
        }
    }

    /// Counts a call. `Some` if a write has to stop halfway.
    fn call(&self) -> io::Result<()> {
        if self.dead.get() {
            return Err(io::Error::other("dead"));
        }
        let number = self.calls.replace(self.calls.get() + 1);
        match self.fault.get() {
            Some((at, fault)) if at == number => {
                self.dead.set(fault != Fault::Error);
                Err(io::Error::other("injected"))
            }
            _ => Ok(()),
        }
    }

    fn put(&self, path: &str, bytes: Vec<u8>, durable: bool) {
        let modified = self.writes.get() + 1;
        self.writes.set(modified);
        let file = File {
            bytes,
            durable,
            modified,
        };
        self.files.borrow_mut().insert(path.to_owned(), file);
    }

    fn parent_is_there(&self, path: &RelPath) -> io::Result<()> {
        let directories = self.directories.borrow();
        match path.parents().next_back() {
            Some(parent) if !directories.contains(parent) => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }

    fn is_empty(&self, directory: &str) -> bool {
        let below = |path: &String| path.starts_with(&format!("{directory}/"));
        !self.files.borrow().keys().any(below) && !self.directories.borrow().iter().any(below)
    }
}

impl Disk for MemoryDisk {
    fn find(&self, path: &RelPath) -> Result<Found, tree::Error> {
        self.call().map_err(|error| tree::Error::Unreadable {
            root: PathBuf::new(),
            path: path.to_string(),
            why: error.to_string(),
        })?;
        Ok(match self.files.borrow().get(path.as_str()) {
            Some(file) => Found::File(file.bytes.clone()),
            None => Found::Absent,
        })
    }

    fn kind(&self, path: &RelPath) -> io::Result<FileType> {
        self.call()?;
        Ok(if let Some(file) = self.files.borrow().get(path.as_str()) {
            FileType::File {
                mode: None,
                read_only: false,
                modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(file.modified)),
            }
        } else if self.directories.borrow().contains(path.as_str()) {
            FileType::Directory
        } else {
            FileType::Absent
        })
    }

    fn write(&self, path: &RelPath, bytes: &[u8], _: Option<u32>, durable: bool) -> io::Result<()> {
        let result = self.call();
        if result.is_err() && (self.dead.get() && self.calls.get() == 0) {
            return result;
        }
        self.parent_is_there(path)?;
        if self.files.borrow().contains_key(path.as_str()) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // A write that fails may have written a part.
        let bytes = match &result {
            Ok(()) => bytes.to_vec(),
            Err(error) if error.to_string() == "injected" => bytes[..bytes.len() / 2].to_vec(),
            Err(_) => return result,
        };
        let durable = durable && result.is_ok();
        self.put(path.as_str(), bytes, durable);
        result
    }

    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.call()?;
        self.parent_is_there(to)?;
        let file = self
            .files
            .borrow_mut()
            .remove(from.as_str())
            .ok_or(io::ErrorKind::NotFound)?;
        self.files.borrow_mut().insert(to.to_string(), file);
        Ok(())
    }

    fn remove(&self, path: &RelPath) -> io::Result<()> {
        self.call()?;
        self.files
            .borrow_mut()
            .remove(path.as_str())
            .map(drop)
            .ok_or(io::ErrorKind::NotFound.into())
    }

    fn make_directory(&self, path: &RelPath) -> io::Result<bool> {
        self.call()?;
        self.parent_is_there(path)?;
        Ok(self.directories.borrow_mut().insert(path.to_string()))
    }

    fn remove_directory(&self, path: &RelPath) -> io::Result<()> {
        self.call()?;
        if !self.is_empty(path.as_str()) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if self.directories.borrow_mut().remove(path.as_str()) {
            Ok(())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn sync_directory(&self, _: &RelPath) -> io::Result<()> {
        self.call()
    }

    fn list(&self, path: &RelPath) -> io::Result<Vec<String>> {
        self.call()?;
        let start = format!("{path}/");
        let files = self.files.borrow();
        Ok(files
            .keys()
            .filter_map(|file| file.strip_prefix(&start))
            .map(str::to_owned)
            .collect())
    }

    fn make_root(&self) -> io::Result<usize> {
        self.call()?;
        Ok(usize::from(!self.root.replace(true)))
    }

    fn remove_root(&self, _: usize) -> io::Result<()> {
        self.call()?;
        self.root.set(false);
        Ok(())
    }

    fn lock(&self, path: &RelPath, new: bool) -> io::Result<Lock> {
        self.call()?;
        let there = self.files.borrow().contains_key(path.as_str());
        match (new, there) {
            (true, true) => return Err(io::ErrorKind::AlreadyExists.into()),
            (false, false) => return Err(io::ErrorKind::NotFound.into()),
            (true, false) => self.put(path.as_str(), Vec::new(), false),
            (false, true) => {}
        }
        let text = self.files.borrow()[path.as_str()].bytes.clone();
        let held = HeldInMemory {
            disk: self.clone(),
            path: path.to_string(),
        };
        Ok(Lock::Ours(
            Box::new(held),
            String::from_utf8_lossy(&text).into_owned(),
        ))
    }

    fn boot(&self) -> String {
        self.boots.get().to_string()
    }

    fn checkout(&self) -> io::Result<Option<u64>> {
        self.call()?;
        Ok(Some(1))
    }

    fn is_tracked(&self, _: &RelPath) -> bool {
        false
    }

    fn show(&self, path: &RelPath) -> String {
        path.to_string()
    }
}
