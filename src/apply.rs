//! Makes a change set true on disk, all of it or nothing; finishes what a killed process began; takes the last one back.
//!
//! Invariants: one process at a time; nothing outside of [`LOCAL`] is written before the journal is there, durable and
//! whole; a file is replaced in one step, and only while it holds what the plan saw; when a step fails, the steps before
//! it are taken back.

mod disk;
mod failure;
mod journal;
mod recover;
mod step;
mod swap;
mod transaction;
mod undo;

use std::collections::{BTreeMap, BTreeSet};

pub use self::{
    disk::{Disk, FileType, Held, Lock, Real},
    recover::{Recovered, pending, settle},
    step::{Side, Step},
    transaction::Transaction,
    undo::{Undo, last},
};
use self::{failure::cannot, journal::Journal, step::State, transaction::Made};
use crate::{
    advice::Advice,
    error::{Failure, Result},
    shell,
    tree::RelPath,
};

/// What is of this copy of the project only: the lock between processes, the journal, the record that `undo` goes by. It
/// holds a `.gitignore` of its own, so that no project's has to name it.
pub const LOCAL: &str = ".operator-forge/local";
const STAGE: &str = ".operator-forge/local/stage";
const JOURNAL: &str = ".operator-forge/local/journal";
const UNDO: &str = ".operator-forge/local/undo";

/// Applies all of `steps`, or nothing. The project's directory is made if it is not there.
pub fn apply(turn: &mut Transaction<'_>, mut steps: Vec<Step>) -> Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let disk = turn.disk;
    check(disk, &mut steps)?;
    let mut made = Made::default();
    if let Err(failure) = turn.claim(&mut made) {
        made.take_back(disk);
        return Err(failure.note("nothing was changed"));
    }
    let journal = match commit(turn, steps, &made) {
        Ok(journal) => journal,
        Err(failure) => {
            let _ = recover::clear_stage(disk);
            made.take_back(disk);
            return Err(failure.note("nothing was changed"));
        }
    };
    let Err(failure) = carry_out(disk, &journal) else {
        return Ok(());
    };
    let left = recover::take_back(disk, &journal);
    if left.is_empty() {
        made.take_back(disk);
        return Err(failure.note("nothing was changed"));
    }
    Err(left
        .into_iter()
        .fold(failure, Failure::note)
        .note("the next command finishes what this one began"))
}

/// Refuses what [`apply`] refuses before it writes anything, so that a dry run does, too; the steps learn the modes of their
/// files.
pub fn check(disk: &dyn Disk, steps: &mut [Step]) -> Result<()> {
    refuse_clashes(steps)?;
    keep_modes(disk, steps).map_err(|failure| failure.note("nothing was changed"))
}

/// Writes the new texts, so that a full disk is found before anything is replaced, and then the journal.
fn commit(turn: &Transaction<'_>, steps: Vec<Step>, made: &Made) -> Result<Journal> {
    let disk = turn.disk;
    let journal = Journal {
        command: turn.command.to_owned(),
        made_root: made.root > 0,
        directories: new_directories(disk, &steps)?,
        steps,
    };
    swap::make_directory(disk, &RelPath::parse(STAGE)?)?;
    for (at, step) in journal.steps.iter().enumerate() {
        swap::stage(disk, at, step, false)?;
    }
    publish(disk, &journal)?;
    Ok(journal)
}

/// The directories that hold a new file and are not there, outermost first.
fn new_directories(disk: &dyn Disk, steps: &[Step]) -> Result<Vec<RelPath>> {
    let made = steps.iter().filter(|step| step.after.is_some());
    let parents: BTreeSet<&str> = made.flat_map(|step| step.path.parents()).collect();
    let mut absent = Vec::new();
    for parent in parents {
        let parent = RelPath::parse(parent)?;
        let kind = disk
            .kind(&parent)
            .map_err(|error| cannot(disk, "read", &parent, &error))?;
        if kind == FileType::Absent {
            absent.push(parent);
        }
    }
    Ok(absent)
}

/// From here on the next command finishes what this one does not.
fn publish(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    let (draft, path) = (
        RelPath::parse(&format!("{STAGE}/journal"))?,
        RelPath::parse(JOURNAL)?,
    );
    // The one file that has to outlive a power cut: whatever is torn later is written again from it.
    disk.write(&draft, &journal.write(), None, true)
        .and_then(|()| disk.rename(&draft, &path))
        // A replaced file must not be on disk before the journal that says what it was.
        .and_then(|()| disk.sync_directory(&RelPath::parse(LOCAL).expect("a constant")))
        .map_err(|error| {
            let _ = disk.remove(&path);
            cannot(disk, "write", &path, &error)
        })
}

/// Replaces every file.
fn carry_out(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    for directory in &journal.directories {
        swap::make_directory(disk, directory)?;
    }
    for (at, step) in journal.steps.iter().enumerate() {
        verify(disk, step)?;
        swap::forward(disk, at, step)?;
    }
    recover::retire(disk, journal)
}

/// Refuses if the file is no longer what the plan saw.
fn verify(disk: &dyn Disk, step: &Step) -> Result<()> {
    if step.state(&disk.find(&step.path)?) == State::Old {
        return Ok(());
    }
    Err(
        Failure::refused(format!("`{}` changed while the command ran", step.path))
            .advise(Advice::Again),
    )
}

/// A file keeps its mode; one that nobody may write is left alone.
fn keep_modes(disk: &dyn Disk, steps: &mut [Step]) -> Result<()> {
    for step in steps {
        let Some(before) = &mut step.before else {
            continue;
        };
        let kind = disk
            .kind(&step.path)
            .map_err(|error| cannot(disk, "read", &step.path, &error))?;
        if let FileType::File {
            mode, read_only, ..
        } = kind
        {
            if read_only {
                return Err(Failure::refused(format!(
                    "cannot write `{}`: it is read-only",
                    step.path
                ))
                .advise(format!("chmod u+w {}", shell::word(&disk.show(&step.path)))));
            }
            before.mode = mode;
            if let Some(after) = &mut step.after {
                after.mode = after.mode.or(mode);
            }
        }
    }
    Ok(())
}

/// A file that moves keeps its mode: `moved` says where it was, by the path where it goes.
pub fn carry_modes(
    disk: &dyn Disk,
    steps: &mut [Step],
    moved: &BTreeMap<RelPath, RelPath>,
) -> Result<()> {
    for step in steps {
        let (Some(from), Some(after)) = (moved.get(&step.path), &mut step.after) else {
            continue;
        };
        let kind = disk
            .kind(from)
            .map_err(|error| cannot(disk, "read", from, &error))?;
        if let FileType::File { mode, .. } = kind {
            after.mode = mode;
        }
    }
    Ok(())
}

/// Refuses two paths that are one where case does not count, as on macOS and Windows.
fn refuse_clashes(steps: &[Step]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for step in steps.iter().filter(|step| step.after.is_some()) {
        for path in step.path.parents().chain([step.path.as_str()]) {
            let other = *seen.entry(path.to_lowercase()).or_insert(path);
            if other != path {
                return Err(Failure::refused(format!(
                    "`{path}` and `{other}` differ only by case"
                ))
                .note("where case does not count, as on macOS and Windows, they are one file")
                .note("rename the kind or group of one of them")
                .advise("operator-forge status"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
