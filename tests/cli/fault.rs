//! A real disk on which one call goes wrong.

use std::{cell::Cell, io};

use operator_forge::{
    apply::{Disk, FileType, Lock, Real},
    tree::{Found, RelPath},
};

/// What goes wrong at the call.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// It fails, once.
    Error(io::ErrorKind),
    /// The process ends: a write is done by half, and every later call fails.
    Death,
}

/// The disk. Calls are counted from 0.
pub struct Faulty {
    real: Real,
    fault: Option<(usize, Fault)>,
    calls: Cell<usize>,
}

impl Faulty {
    pub fn new(real: Real, fault: Option<(usize, Fault)>) -> Self {
        let calls = Cell::new(0);
        Self { real, fault, calls }
    }

    pub fn calls(&self) -> usize {
        self.calls.get()
    }

    fn call(&self) -> io::Result<()> {
        let number = self.calls.replace(self.calls.get() + 1);
        match self.fault {
            Some((at, Fault::Error(kind))) if at == number => Err(kind.into()),
            Some((at, Fault::Death)) if at <= number => Err(io::Error::other("dead")),
            _ => Ok(()),
        }
    }
}

impl Disk for Faulty {
    fn find(&self, path: &RelPath) -> Result<Found, operator_forge::tree::Error> {
        self.call()
            .map_err(|error| operator_forge::tree::Error::Unreadable {
                root: std::path::PathBuf::new(),
                path: path.to_string(),
                why: error.to_string(),
            })?;
        self.real.find(path)
    }

    fn kind(&self, path: &RelPath) -> io::Result<FileType> {
        self.call()?;
        self.real.kind(path)
    }

    fn write(
        &self,
        path: &RelPath,
        bytes: &[u8],
        mode: Option<u32>,
        durable: bool,
    ) -> io::Result<()> {
        let first = self.calls();
        let result = self.call();
        if result.is_err() && self.fault.is_some_and(|(at, _)| at == first) {
            let _ = self
                .real
                .write(path, &bytes[..bytes.len() / 2], mode, false);
        }
        result?;
        self.real.write(path, bytes, mode, durable)
    }

    fn rename(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        self.call()?;
        self.real.rename(from, to)
    }

    fn remove(&self, path: &RelPath) -> io::Result<()> {
        self.call()?;
        self.real.remove(path)
    }

    fn make_directory(&self, path: &RelPath) -> io::Result<bool> {
        self.call()?;
        self.real.make_directory(path)
    }

    fn remove_directory(&self, path: &RelPath) -> io::Result<()> {
        self.call()?;
        self.real.remove_directory(path)
    }

    fn sync_directory(&self, path: &RelPath) -> io::Result<()> {
        self.call()?;
        self.real.sync_directory(path)
    }

    fn list(&self, path: &RelPath) -> io::Result<Vec<String>> {
        self.call()?;
        self.real.list(path)
    }

    fn make_root(&self) -> io::Result<usize> {
        self.call()?;
        self.real.make_root()
    }

    fn remove_root(&self, made: usize) -> io::Result<()> {
        self.call()?;
        self.real.remove_root(made)
    }

    fn lock(&self, path: &RelPath, new: bool) -> io::Result<Lock> {
        self.call()?;
        self.real.lock(path, new)
    }

    fn checkout(&self) -> io::Result<Option<u64>> {
        self.call()?;
        self.real.checkout()
    }

    fn boot(&self) -> String {
        self.real.boot()
    }

    fn is_tracked(&self, path: &RelPath) -> bool {
        self.real.is_tracked(path)
    }

    fn show(&self, path: &RelPath) -> String {
        self.real.show(path)
    }
}
