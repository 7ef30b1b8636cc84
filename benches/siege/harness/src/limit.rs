//! The memory limit of a process, as the kubelet sets it: a cgroup.

use std::{fs, io, path::PathBuf, process};

use anyhow::{Context, Result};

/// A cgroup of its own, until it is dropped.
pub struct Limit(PathBuf);

impl Limit {
    /// A cgroup with this limit in bytes, of version 2 or 1.
    pub fn new(bytes: u64) -> Result<Self> {
        const ROOT: &str = "/sys/fs/cgroup";
        let name = format!("siege-{}", process::id());
        let unified = PathBuf::from(ROOT).join("cgroup.controllers");
        let (group, file) = match unified.exists() {
            true => (PathBuf::from(ROOT).join(name), "memory.max"),
            false => (
                PathBuf::from(ROOT).join("memory").join(name),
                "memory.limit_in_bytes",
            ),
        };
        let make = || -> io::Result<()> {
            fs::create_dir(&group)?;
            fs::write(group.join(file), bytes.to_string())
        };
        make().with_context(|| {
            let group = group.display();
            format!(
                "cannot limit memory with the cgroup `{group}`; nothing else is the limit that a Pod has, so run this as root \
                 on Linux with the memory controller"
            )
        })?;
        Ok(Self(group))
    }

    /// The file that takes the ids of processes.
    pub fn processes(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // It is empty, unless the operator does not stop.
        _ = fs::remove_dir(&self.0);
    }
}
