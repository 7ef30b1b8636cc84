//! Recovery after a killed command: its change set is completed if it had replaced a file, and dropped otherwise.
//!
//! Invariant: a file is written only if it has the old content or a part of the new content that a power cut left; any other
//! content is somebody's work, and is kept and reported.

use super::{
    Disk, FileType, JOURNAL, LOCAL, STAGE, Step, UNDO,
    error::{Error, Result, cannot},
    journal::Journal,
    kind,
    step::{Observed, make_directory},
};
use crate::tree::{Found, RelPath};

/// A killed command that was completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The command.
    pub command: String,
    /// The files that were changed since then, and were kept.
    pub kept: Vec<RelPath>,
}

impl Recovered {
    /// A sentence for the command and for each kept file.
    pub fn sentences(&self) -> Vec<String> {
        let finished = format!(
            "`{}` was interrupted, and has been completed first",
            self.command
        );
        let kept = self.kept.iter().map(|path| {
            format!(
                "`{path}` was changed after `{}` was interrupted; the change was kept",
                self.command
            )
        });
        std::iter::once(finished).chain(kept).collect()
    }
}

/// Whether any file is at `path`.
pub fn exists(disk: &dyn Disk, path: &RelPath) -> Result<bool> {
    Ok(kind(disk, path)? != FileType::Absent)
}

/// Completes a killed command, or drops it if it had replaced no file or somebody reverted all of it. The caller holds the lock.
/// Returns the completed command, and whether a dropped one had created the project's own directory.
pub fn finish(disk: &dyn Disk) -> Result<(Option<Recovered>, bool)> {
    clear_stage(disk)?;
    let Some(journal) = read(disk, &JOURNAL)? else {
        return Ok((None, false));
    };
    let observe = |step: &Step| Ok(step.observe(&disk.find(&step.path)?));
    let observed: Vec<Observed> = journal.steps.iter().map(observe).collect::<Result<_>>()?;
    let is_ours = |it: &Observed| matches!(it, Observed::New | Observed::Torn);
    if !observed.iter().any(is_ours) {
        drop_journal(disk, &journal)?;
        return Ok((None, journal.made_root));
    }
    let mut kept = Vec::new();
    for ((at, step), observed) in journal.steps.iter().enumerate().zip(observed) {
        match observed {
            Observed::New => {}
            Observed::Other => kept.push(step.path.clone()),
            Observed::Old | Observed::Torn => redo(disk, step, at)?,
        }
    }
    retire(disk, &journal)?;
    let command = journal.command;
    Ok((Some(Recovered { command, kept }), false))
}

/// Replaces the file of a step, durably.
fn redo(disk: &dyn Disk, step: &Step, at: usize) -> Result<()> {
    make_directory(disk, &STAGE)?;
    step.stage(disk, at, true)?;
    step.make_parents(disk)?;
    step.forward(disk, at)
}

/// Rewrites files that a power cut tore after the last command had ended. New contents are not synced, because syncing three files
/// takes as long as a whole command. A file that was written later is kept.
pub fn mend(disk: &dyn Disk) -> Result<()> {
    let record = match read(disk, &UNDO) {
        Ok(Some(record)) => record,
        Ok(None) | Err(Error::OtherCheckout(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let modified = |path: &RelPath| match disk.kind(path) {
        Ok(FileType::File { modified, .. }) => modified,
        _ => None,
    };
    let written = modified(&UNDO);
    for (at, step) in record.steps.iter().enumerate() {
        let is_torn = step.observe(&disk.find(&step.path)?) == Observed::Torn;
        if is_torn && modified(&step.path) <= written {
            redo(disk, step, at)?;
        }
    }
    clear_stage(disk)
}

/// Reverts the changes of `journal`. Returns a sentence for each change that remains.
pub fn revert(disk: &dyn Disk, journal: &Journal) -> Vec<String> {
    let mut left = Vec::new();
    for (at, step) in journal.steps.iter().enumerate().rev() {
        let back = || match step.observe(&disk.find(&step.path)?) {
            Observed::New | Observed::Torn => step.back(disk, at),
            Observed::Old | Observed::Other => Ok(()),
        };
        if let Err(error) = back() {
            left.push(format!("`{}` could not be restored: {error}", step.path));
        }
    }
    if left.is_empty()
        && let Err(error) = drop_journal(disk, journal)
    {
        left.push(error.to_string());
    }
    left
}

/// Turns the journal of a completed command into the record for `undo`. The rename is not synced: a file system that loses it
/// keeps the journal, and every file is in its place.
pub fn retire(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    for step in journal.steps.iter().filter(|step| step.after.is_none()) {
        remove_empty_parents(disk, step);
    }
    disk.rename(&JOURNAL, &UNDO)
        .map_err(cannot(disk, "write", &UNDO))?;
    let _ = clear_stage(disk);
    Ok(())
}

fn drop_journal(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    for directory in journal.directories.iter().rev() {
        remove_if_empty(disk, directory);
    }
    clear_stage(disk)?;
    disk.remove(&JOURNAL)
        .map_err(cannot(disk, "delete", &JOURNAL))
}

fn remove_empty_parents(disk: &dyn Disk, step: &Step) {
    for parent in step.path.directories().rev() {
        // The interrupted command may have removed some already.
        let is_gone = matches!(disk.kind(&parent), Ok(FileType::Absent));
        if !is_gone && !remove_if_empty(disk, &parent) {
            break;
        }
    }
}

/// Removes an empty directory of the project, but not behind a symbolic link.
fn remove_if_empty(disk: &dyn Disk, path: &RelPath) -> bool {
    let is_directory = |parent| matches!(disk.kind(&parent), Ok(FileType::Directory));
    path.directories().all(is_directory) && disk.remove_directory(path).is_ok()
}

/// Removes the stage.
pub fn clear_stage(disk: &dyn Disk) -> Result<()> {
    let clear = || match disk.kind(&STAGE)? {
        FileType::Absent => Ok(()),
        FileType::Directory => {
            for name in disk.list(&STAGE)? {
                if let Ok(path) = format!("{STAGE}/{name}").parse::<RelPath>() {
                    disk.remove(&path)?;
                }
            }
            disk.remove_directory(&STAGE)
        }
        _ => disk.remove(&STAGE),
    };
    clear().map_err(cannot(disk, "delete", &STAGE))
}

/// The journal or record at `path`, if there is one. One of another checkout, or one that git tracks, is refused: whoever made a
/// repository may have put it there, and a copy of a checkout has files of its own.
pub fn read(disk: &dyn Disk, path: &'static RelPath) -> Result<Option<Journal>> {
    let why = match disk.find(path)? {
        Found::Absent => return Ok(None),
        Found::File(bytes) => match Journal::parse(&bytes) {
            Ok(journal) => {
                let checkout = disk.checkout().map_err(cannot(disk, "read", &LOCAL))?;
                let is_ours = journal.checkout == checkout && !disk.is_tracked(path);
                return match is_ours {
                    true => Ok(Some(journal)),
                    false => Err(Error::OtherCheckout(path.as_str())),
                };
            }
            Err(why) => why.to_owned(),
        },
        Found::Obstacle(obstacle) => obstacle.to_string(),
    };
    let path = path.as_str();
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
            checkout: Real::new(&root).checkout().unwrap(),
            made_root: false,
            directories: vec![RelPath::constant("link/empty")],
            steps: Vec::new(),
        };
        for file in [memory::LOCK, ".operator-forge/local/lock"] {
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(root.join(JOURNAL.as_str()), journal.write()).unwrap();
        crate::apply::recover(&Real::new(&root)).unwrap();
        assert!(!root.join(JOURNAL.as_str()).exists());
        assert!(outside.join("empty").is_dir());
    }
}
