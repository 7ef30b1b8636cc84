//! The Python program: its files, which are compiled in, and the private directory that it runs from.

use std::{
    env,
    fs::{self, DirBuilder, File},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, getuid, kill_process, waitpid};

/// The variable in the environment of every process of a fork server, with its directory.
pub(crate) const MARK: &str = "OPERATOR_ANSIBLE";

const PREFIX: &str = "operator-ansible-";

/// How long killed processes may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

macro_rules! files {
    ($($path:literal => $source:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../python/", $source)))),*]
    };
}

/// The path of each file in the directory, and its text.
const FILES: [(&str, &str); 10] = files![
    "python/operator_ansible/__init__.py" => "operator_ansible/__init__.py",
    "python/operator_ansible/server.py" => "operator_ansible/server.py",
    "python/operator_ansible/run.py" => "operator_ansible/run.py",
    "python/operator_ansible/events.py" => "operator_ansible/events.py",
    "python/operator_ansible/in_process.py" => "operator_ansible/in_process.py",
    "collections/ansible_collections/operator_sdk/util/galaxy.yml" => "collections/ansible_collections/operator_sdk/util/galaxy.yml",
    "collections/ansible_collections/operator_sdk/util/meta/runtime.yml" =>
        "collections/ansible_collections/operator_sdk/util/meta/runtime.yml",
    "collections/ansible_collections/operator_sdk/util/plugins/modules/k8s_status.py" =>
        "collections/ansible_collections/operator_sdk/util/plugins/modules/k8s_status.py",
    "collections/ansible_collections/operator_sdk/util/plugins/modules/osdk_metric.py" =>
        "collections/ansible_collections/operator_sdk/util/plugins/modules/osdk_metric.py",
    "collections/ansible_collections/operator_sdk/util/plugins/modules/requeue_after.py" =>
        "collections/ansible_collections/operator_sdk/util/plugins/modules/requeue_after.py",
];

/// A private directory with the program. Its lock says that the operator which made it is alive.
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Writes the program. Directories of operators that were killed go first, with the processes that they left.
    pub(crate) fn new() -> io::Result<Self> {
        let base = env::temp_dir();
        remove_stale(&base)?;
        let name = format!("{PREFIX}{}", random(8)?);
        // A directory has its lock before it has its name: nobody takes it for one that was left.
        let hidden = base.join(format!(".{name}"));
        let path = base.join(name);
        DirBuilder::new().mode(0o700).create(&hidden)?;
        let written = || {
            let lock = File::create(hidden.join("lock"))?;
            lock.lock()?;
            for (file, text) in FILES {
                let file = hidden.join(file);
                fs::create_dir_all(file.parent().unwrap_or(&hidden))?;
                fs::write(file, text)?;
            }
            fs::rename(&hidden, &path)?;
            Ok(lock)
        };
        match written() {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                _ = fs::remove_dir_all(&hidden);
                Err(error)
            }
        }
    }

    /// The socket for the events of runs.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("events")
    }

    /// Kills what runs from this directory. May take seconds.
    pub(crate) fn kill(&self) {
        kill_marked(&self.path);
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories that no living operator has, and kills the processes that run from them.
fn remove_stale(base: &Path) -> io::Result<()> {
    for entry in fs::read_dir(base)? {
        let entry = entry?;
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry
                .metadata()
                .is_ok_and(|it| it.is_dir() && it.uid() == getuid().as_raw());
        let path = entry.path();
        let Some(lock) = is_ours
            .then(|| File::open(path.join("lock")).ok())
            .flatten()
        else {
            continue;
        };
        if lock.try_lock().is_ok() {
            tracing::info!(path = %path.display(), "removing what a killed operator left");
            kill_marked(&path);
            _ = fs::remove_dir_all(&path);
        }
    }
    Ok(())
}

/// Kills every process of the fork server of this directory, until none is left.
fn kill_marked(directory: &Path) {
    let begin = Instant::now();
    loop {
        let found = marked(directory);
        if found.is_empty() {
            return;
        }
        if begin.elapsed() > PATIENCE {
            tracing::warn!(?found, "these processes do not end");
            return;
        }
        for pid in &found {
            _ = kill_process(*pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(2));
        for pid in found {
            // In a container, the operator may be the parent of all orphans. Of others, it is not, which is no failure.
            _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// The processes of the fork server of this directory.
pub(crate) fn marked(directory: &Path) -> Vec<Pid> {
    let mark = format!("{MARK}={}", directory.display());
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_marked = |pid: &i32| {
        // That of a zombie is empty.
        let environment = fs::read(format!("/proc/{pid}/environ"));
        environment.is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == mark.as_bytes()))
    };
    let pids = pids.filter(is_marked);
    pids.filter_map(Pid::from_raw).collect()
}

/// A random text of this many bytes, in hexadecimal.
pub(crate) fn random(bytes: usize) -> io::Result<String> {
    let mut all = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut all)?;
    Ok(data_encoding::HEXLOWER.encode(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_program_is_compiled_in() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
        let mut left = vec![source.clone()];
        let mut found = Vec::new();
        while let Some(path) = left.pop() {
            if path.is_dir() {
                let entries = fs::read_dir(&path).unwrap();
                left.extend(entries.map(|entry| entry.unwrap().path()));
            } else if path.extension().is_some_and(|it| it == "py" || it == "yml") {
                found.push(path.strip_prefix(&source).unwrap().to_path_buf());
            }
        }
        let mut compiled: Vec<_> = FILES.iter().map(|(path, _)| PathBuf::from(path)).collect();
        for path in &mut compiled {
            if let Ok(file) = path.strip_prefix("python") {
                *path = file.to_path_buf();
            }
        }
        found.sort();
        compiled.sort();
        assert_eq!(found, compiled);
    }

    #[test]
    fn the_license_of_the_program_is_in_its_files() {
        for (path, text) in FILES.iter().filter(|(path, _)| path.ends_with(".py")) {
            assert!(
                text.contains("SPDX-License-Identifier: GPL-3.0-or-later"),
                "{path}"
            );
        }
    }
}
