//! What an interrupted command left: finished if it had begun to replace files, dropped if it had not.
//!
//! Invariant: only a file that holds the old text, the new one, or what a power cut left of the new one is written; any
//! other is somebody's work, and is kept and told.

use super::{
    Disk, FileType, JOURNAL, STAGE, Step, Transaction, UNDO, failure::cannot, journal::Journal,
    step::State, swap, transaction::came_to_nothing,
};
use crate::{
    error::{Failure, Result},
    shell,
    tree::{Found, RelPath},
};

/// What was done about an interrupted command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The command.
    pub command: String,
    /// Files that were changed since, and were kept as they are.
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

/// What was found of an interrupted command.
pub enum Left {
    /// Nothing.
    Nothing,
    /// It had replaced no file, or somebody took all of it back: it never was.
    Dropped {
        /// Whether the project's own directory was made for it.
        made_root: bool,
    },
    /// It is done now.
    Finished(Recovered),
}

/// For commands that write nothing: refuses where an interrupted command left work.
pub fn pending(disk: &dyn Disk) -> Result<()> {
    if !stands(disk, JOURNAL)? {
        return Ok(());
    }
    let Some(journal) = read(disk, JOURNAL)? else {
        return Ok(());
    };
    // A command that is at work has a journal too.
    Transaction::take(disk, "")?;
    Err(
        Failure::refused(format!("`{}` was interrupted", journal.command))
            .note("some files are as they were before it, some as they are after it")
            .note("the next command that writes finishes it")
            .advise("operator-forge sync"),
    )
}

/// Takes a turn to finish what an interrupted command left, if there is something.
pub fn settle(disk: &dyn Disk) -> Result<Option<Recovered>> {
    if stands(disk, JOURNAL)? || stands(disk, STAGE)? || came_to_nothing(disk)? {
        Ok(Transaction::begin(disk, "recovery")?.recovered)
    } else {
        Ok(None)
    }
}

/// Whether something is at `path`.
pub fn stands(disk: &dyn Disk, path: &str) -> Result<bool> {
    let path = RelPath::parse(path)?;
    disk.kind(&path)
        .map(|kind| kind != FileType::Absent)
        .map_err(|error| cannot(disk, "read", &path, &error))
}

/// Settles what is there. The lock is held.
pub fn recover(disk: &dyn Disk) -> Result<Left> {
    clear_stage(disk)?;
    let Some(journal) = read(disk, JOURNAL)? else {
        return Ok(Left::Nothing);
    };
    let states = journal
        .steps
        .iter()
        .map(|step| Ok(step.state(&disk.find(&step.path)?)))
        .collect::<Result<Vec<_>>>()?;
    if !states
        .iter()
        .any(|state| matches!(state, State::New | State::Torn))
    {
        drop_journal(disk, &journal)?;
        let made_root = journal.made_root;
        return Ok(Left::Dropped { made_root });
    }
    let stage = RelPath::parse(STAGE)?;
    disk.make_directory(&stage)
        .map_err(|error| cannot(disk, "create", &stage, &error))?;
    let mut kept = Vec::new();
    for ((at, step), state) in journal.steps.iter().enumerate().zip(states) {
        match state {
            State::New => {}
            State::Other => kept.push(step.path.clone()),
            State::Old | State::Torn => {
                swap::stage(disk, at, step, true)?;
                swap::make_parents(disk, step)?;
                swap::forward(disk, at, step)?;
            }
        }
    }
    retire(disk, &journal)?;
    let command = journal.command;
    Ok(Left::Finished(Recovered { command, kept }))
}

/// Writes again what a power cut tore after the last command had ended: new texts are not synced, because that takes as
/// long as the command itself for every three files. A file that was written since is somebody's, whatever it holds.
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
        let torn = step.state(&disk.find(&step.path)?) == State::Torn;
        if torn && modified(&step.path) <= written {
            swap::make_directory(disk, &RelPath::parse(STAGE)?)?;
            swap::stage(disk, at, step, true)?;
            swap::forward(disk, at, step)?;
        }
    }
    clear_stage(disk)
}

/// Puts everything of `journal` back; says what could not be.
pub fn take_back(disk: &dyn Disk, journal: &Journal) -> Vec<String> {
    let mut left = Vec::new();
    for (at, step) in journal.steps.iter().enumerate().rev() {
        let result = disk
            .find(&step.path)
            .and_then(|found| match step.state(&found) {
                State::New | State::Torn => swap::back(disk, at, step),
                State::Old | State::Other => Ok(()),
            });
        if let Err(failure) = result {
            left.push(format!("`{}` could not be put back: {failure}", step.path));
        }
    }
    if left.is_empty()
        && let Err(failure) = drop_journal(disk, journal)
    {
        left.push(failure.what);
    }
    left
}

/// Every file is as it should be: the journal becomes what `undo` goes by. It is not synced: a file system that loses
/// this rename finds the journal, and every file in its place.
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

/// Removes a directory of the project, and none that a link leads to.
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
        Found::Obstacle(what) => what,
    };
    Err(Failure::refused(format!("cannot read `{path}`"))
        .note(why)
        .note("it holds what the last command replaced")
        .note("look at what git says has changed before you put it aside")
        .advise(shell::put_aside(path)))
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
        settle(&Real::new(&root)).unwrap();
        assert!(!root.join(JOURNAL).exists());
        assert!(outside.join("empty").is_dir());
    }
}
