//! Recovery after a killed command: it is finished if it had replaced a file, and dropped if it had not.
//!
//! Invariant: only a file with the old text, the new one, or a part of the new one that a power cut left is written; any other is
//! somebody's work, and is kept and reported.

use super::{
    Disk, FileType, JOURNAL, STAGE, Step, UNDO,
    error::{Error, Result, cannot},
    journal::Journal,
    kind,
    step::{Observed, make_directory},
};
use crate::tree::{Found, RelPath};

/// A command that was killed, and is finished now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The command.
    pub command: String,
    /// Files that somebody changed since, which are kept.
    pub kept: Vec<RelPath>,
}

impl Recovered {
    /// One sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let finished = format!(
            "`{}` had been interrupted, and was finished first",
            self.command
        );
        let kept = self.kept.iter().map(|path| {
            format!(
                "`{path}` was changed after `{}` had been interrupted; it was kept as it is",
                self.command
            )
        });
        std::iter::once(finished).chain(kept).collect()
    }
}

/// The end of a killed command.
pub enum Left {
    /// There was none.
    Nothing,
    /// It had replaced no file, or somebody took all of it back.
    Dropped {
        /// Whether it made the project's own directory.
        made_root: bool,
    },
    /// It is finished.
    Finished(Recovered),
}

/// Whether something is at `path`.
pub fn exists(disk: &dyn Disk, path: &str) -> Result<bool> {
    Ok(kind(disk, &RelPath::parse(path)?)? != FileType::Absent)
}

/// Finishes or drops a killed command. The lock is held.
pub fn finish(disk: &dyn Disk) -> Result<Left> {
    clear_stage(disk)?;
    let Some(journal) = read(disk, JOURNAL)? else {
        return Ok(Left::Nothing);
    };
    let observe = |step: &Step| Ok(step.observe(&disk.find(&step.path)?));
    let observed: Vec<Observed> = journal.steps.iter().map(observe).collect::<Result<_>>()?;
    let is_ours = |it: &Observed| matches!(it, Observed::New | Observed::Torn);
    if !observed.iter().any(is_ours) {
        drop_journal(disk, &journal)?;
        let made_root = journal.made_root;
        return Ok(Left::Dropped { made_root });
    }
    make_directory(disk, &RelPath::parse(STAGE)?)?;
    let mut kept = Vec::new();
    for ((at, step), observed) in journal.steps.iter().enumerate().zip(observed) {
        match observed {
            Observed::New => {}
            Observed::Other => kept.push(step.path.clone()),
            Observed::Old | Observed::Torn => {
                step.stage(disk, at, true)?;
                step.make_parents(disk)?;
                step.forward(disk, at)?;
            }
        }
    }
    retire(disk, &journal)?;
    let command = journal.command;
    Ok(Left::Finished(Recovered { command, kept }))
}

/// Writes the files again that a power cut tore after the last command had ended: new texts are not synced, because that takes as
/// long as the command itself for every three files. A file that was written since is somebody's work.
pub fn mend(disk: &dyn Disk) -> Result<()> {
    let Some(record) = read(disk, UNDO)? else {
        return Ok(());
    };
    let modified = |path: &RelPath| match disk.kind(path) {
        Ok(FileType::File { modified, .. }) => modified,
        _ => None,
    };
    let written = modified(&RelPath::parse(UNDO)?);
    for (at, step) in record.steps.iter().enumerate() {
        let is_torn = step.observe(&disk.find(&step.path)?) == Observed::Torn;
        if is_torn && modified(&step.path) <= written {
            make_directory(disk, &RelPath::parse(STAGE)?)?;
            step.stage(disk, at, true)?;
            step.forward(disk, at)?;
        }
    }
    clear_stage(disk)
}

/// Takes the changes of `journal` back. Returns a sentence for each that stays.
pub fn take_back(disk: &dyn Disk, journal: &Journal) -> Vec<String> {
    let mut left = Vec::new();
    for (at, step) in journal.steps.iter().enumerate().rev() {
        let back = || match step.observe(&disk.find(&step.path)?) {
            Observed::New | Observed::Torn => step.back(disk, at),
            Observed::Old | Observed::Other => Ok(()),
        };
        if let Err(error) = back() {
            left.push(format!("`{}` could not be put back: {error}", step.path));
        }
    }
    if left.is_empty()
        && let Err(error) = drop_journal(disk, journal)
    {
        left.push(error.to_string());
    }
    left
}

/// Turns the journal of a finished command into the record for `undo`. It is not synced: a file system that loses this rename
/// finds the journal, and every file in its place.
pub fn retire(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    for step in journal.steps.iter().filter(|step| step.after.is_none()) {
        remove_empty_parents(disk, step)?;
    }
    let (from, to) = (RelPath::parse(JOURNAL)?, RelPath::parse(UNDO)?);
    disk.rename(&from, &to)
        .map_err(|error| cannot(disk, "write", &to, &error))?;
    let _ = clear_stage(disk);
    Ok(())
}

fn drop_journal(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    for directory in journal.directories.iter().rev() {
        remove_if_empty(disk, directory);
    }
    clear_stage(disk)?;
    let path = RelPath::parse(JOURNAL)?;
    disk.remove(&path)
        .map_err(|error| cannot(disk, "delete", &path, &error))
}

fn remove_empty_parents(disk: &dyn Disk, step: &Step) -> Result<()> {
    for parent in step.path.parents().rev() {
        let parent = RelPath::parse(parent)?;
        // The command that was interrupted may have removed some already.
        let is_gone = matches!(disk.kind(&parent), Ok(FileType::Absent));
        if !is_gone && !remove_if_empty(disk, &parent) {
            break;
        }
    }
    Ok(())
}

/// Removes an empty directory of the project, but none behind a link.
fn remove_if_empty(disk: &dyn Disk, path: &RelPath) -> bool {
    let is_directory = |parent| {
        let kind = RelPath::parse(parent).map(|parent| disk.kind(&parent));
        matches!(kind, Ok(Ok(FileType::Directory)))
    };
    path.parents().all(is_directory) && disk.remove_directory(path).is_ok()
}

/// Removes staged texts and their directory.
pub fn clear_stage(disk: &dyn Disk) -> Result<()> {
    let stage = RelPath::parse(STAGE)?;
    let clear = || match disk.kind(&stage)? {
        FileType::Absent => Ok(()),
        FileType::Directory => {
            for name in disk.list(&stage)? {
                if let Ok(path) = RelPath::parse(&format!("{STAGE}/{name}")) {
                    disk.remove(&path)?;
                }
            }
            disk.remove_directory(&stage)
        }
        _ => disk.remove(&stage),
    };
    clear().map_err(|error| cannot(disk, "delete", &stage, &error))
}

/// The journal or record at `path`, if there is one.
pub fn read(disk: &dyn Disk, path: &'static str) -> Result<Option<Journal>> {
    let why = match disk.find(&RelPath::parse(path)?)? {
        Found::Absent => return Ok(None),
        Found::File(bytes) => match Journal::parse(&bytes) {
            Ok(journal) => return Ok(Some(journal)),
            Err(why) => why.to_owned(),
        },
        Found::Obstacle(obstacle) => obstacle.to_string(),
    };
    Err(Error::Journal { path, why })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::{super::Real, *};
    use crate::memory;

    #[test]
    fn no_directory_behind_a_link_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let (root, outside) = (home.path().join("project"), home.path().join("outside"));
        fs::create_dir_all(outside.join("empty")).unwrap();
        fs::create_dir_all(root.join(".operator-forge/local")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let journal = Journal {
            command: "create api".into(),
            made_root: false,
            directories: vec![RelPath::parse("link/empty").unwrap()],
            steps: Vec::new(),
        };
        for file in [memory::LOCK, ".operator-forge/local/lock"] {
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(root.join(JOURNAL), journal.write()).unwrap();
        crate::apply::recover(&Real::new(&root)).unwrap();
        assert!(!root.join(JOURNAL).exists());
        assert!(outside.join("empty").is_dir());
    }
}
