//! Writes a change set to disk, all of it or nothing; recovers after a killed process; takes the last change set back.
//!
//! Invariants: one process at a time; nothing outside of [`LOCAL`] is written before the journal is there, durable and
//! whole; a file is replaced in one step, and only while it holds what the plan saw; when a step fails, the steps before
//! it are taken back.

mod disk;
mod error;
mod journal;
mod recover;
mod step;
mod transaction;
mod undo;

use std::collections::{BTreeMap, BTreeSet};

pub use self::{
    disk::{Disk, FileType, Held, Lock, Real},
    error::{Error, Result},
    recover::Recovered,
    step::{Side, Step},
    transaction::{Transaction, pending, recover},
    undo::{Undo, last},
};
use self::{error::cannot, journal::Journal, step::Observed, transaction::Made};
use crate::tree::RelPath;

/// The directory for this copy of the project only: the lock between processes, the journal, the record for `undo`. It has a
/// `.gitignore` of its own.
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
    let reverted = |error: Error, made: &Made| {
        made.take_back(disk);
        Err(Error::Reverted(Box::new(error)))
    };
    if let Err(error) = turn.claim(&mut made) {
        return reverted(error, &made);
    }
    let journal = match commit(turn, steps, &made) {
        Ok(journal) => journal,
        Err(error) => {
            let _ = recover::clear_stage(disk);
            return reverted(error, &made);
        }
    };
    let Err(error) = carry_out(disk, &journal) else {
        return Ok(());
    };
    match recover::take_back(disk, &journal) {
        left if left.is_empty() => reverted(error, &made),
        left => Err(Error::Unfinished(Box::new(error), left)),
    }
}

/// The checks of [`apply`] before it writes anything, for a dry run; the steps get the modes of their files.
pub fn check(disk: &dyn Disk, steps: &mut [Step]) -> Result<()> {
    refuse_clashes(steps)?;
    keep_modes(disk, steps).map_err(|error| Error::Reverted(Box::new(error)))
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
    step::make_directory(disk, &RelPath::parse(STAGE)?)?;
    for (at, step) in journal.steps.iter().enumerate() {
        step.stage(disk, at, false)?;
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
        if kind(disk, &parent)? == FileType::Absent {
            absent.push(parent);
        }
    }
    Ok(absent)
}

/// The type of the file at `path`.
fn kind(disk: &dyn Disk, path: &RelPath) -> Result<FileType> {
    disk.kind(path)
        .map_err(|error| cannot(disk, "read", path, &error))
}

/// Puts the journal in its place: from here on the next command finishes what this one does not.
fn publish(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    let (draft, path) = (
        RelPath::parse(&format!("{STAGE}/journal"))?,
        RelPath::parse(JOURNAL)?,
    );
    // The one file that has to outlive a power cut: whatever is torn later is written again from it.
    disk.write(&draft, &journal.write(), None, true)
        .and_then(|()| disk.rename(&draft, &path))
        // No replaced file may be on disk before the journal with its old text.
        .and_then(|()| disk.sync_directory(&RelPath::parse(LOCAL).expect("a constant")))
        .map_err(|error| {
            let _ = disk.remove(&path);
            cannot(disk, "write", &path, &error)
        })
}

/// Replaces every file.
fn carry_out(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    for directory in &journal.directories {
        step::make_directory(disk, directory)?;
    }
    for (at, step) in journal.steps.iter().enumerate() {
        verify(disk, step)?;
        step.forward(disk, at)?;
    }
    recover::retire(disk, journal)
}

/// Refuses if the file is no longer what the plan saw.
fn verify(disk: &dyn Disk, step: &Step) -> Result<()> {
    match step.observe(&disk.find(&step.path)?) {
        Observed::Old => Ok(()),
        _ => Err(Error::Changed(step.path.clone())),
    }
}

/// A file keeps its mode; one that nobody may write is left alone.
fn keep_modes(disk: &dyn Disk, steps: &mut [Step]) -> Result<()> {
    for step in steps {
        let Some(before) = &mut step.before else {
            continue;
        };
        if let FileType::File {
            mode, read_only, ..
        } = kind(disk, &step.path)?
        {
            if read_only {
                let (path, shown) = (step.path.clone(), disk.show(&step.path));
                return Err(Error::ReadOnly { path, shown });
            }
            before.mode = mode;
            if let Some(after) = &mut step.after {
                after.mode = after.mode.or(mode);
            }
        }
    }
    Ok(())
}

/// A file that moves keeps its mode. `moved` has its former path by the new one.
pub fn carry_modes(
    disk: &dyn Disk,
    steps: &mut [Step],
    moved: &BTreeMap<RelPath, RelPath>,
) -> Result<()> {
    for step in steps {
        let (Some(from), Some(after)) = (moved.get(&step.path), &mut step.after) else {
            continue;
        };
        if let FileType::File { mode, .. } = kind(disk, from)? {
            after.mode = mode;
        }
    }
    Ok(())
}

/// Refuses two paths that differ by case only: on macOS and Windows they are one file.
fn refuse_clashes(steps: &[Step]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for step in steps.iter().filter(|step| step.after.is_some()) {
        for path in step.path.parents().chain([step.path.as_str()]) {
            let other = *seen.entry(path.to_lowercase()).or_insert(path);
            if other != path {
                return Err(Error::Case(path.to_owned(), other.to_owned()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
