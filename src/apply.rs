//! Writes a change set to disk, all of it or nothing; recovers after a killed process; undoes the last change set.
//!
//! Invariants: one process at a time; nothing outside of [`LOCAL`] is written before the journal is complete and durable; a file
//! is replaced in one step, and only if its content is the one that the plan read; if a step fails, the previous steps are
//! reverted.

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

/// The directory with the files of this checkout: the lock between processes, the journal, the record for `undo`. It has a
/// `.gitignore` of its own.
pub static LOCAL: RelPath = RelPath::constant(".operator-forge/local");
static STAGE: RelPath = RelPath::constant(".operator-forge/local/stage");
static DRAFT: RelPath = RelPath::constant(".operator-forge/local/stage/journal");
static JOURNAL: RelPath = RelPath::constant(".operator-forge/local/journal");
static UNDO: RelPath = RelPath::constant(".operator-forge/local/undo");

/// Applies all of `steps`, or nothing. Creates the project's directory if it is missing.
pub fn apply(transaction: &mut Transaction<'_>, mut steps: Vec<Step>) -> Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let disk = transaction.disk;
    check(disk, &mut steps)?;
    let mut made = Made::default();
    let reverted = |error: Error, made: &Made| {
        made.revert(disk);
        Err(Error::Reverted(Box::new(error)))
    };
    if let Err(error) = transaction.claim(&mut made) {
        return reverted(error, &made);
    }
    let journal = match commit(transaction, steps, &made) {
        Ok(journal) => journal,
        Err(error) => {
            let _ = recover::clear_stage(disk);
            return reverted(error, &made);
        }
    };
    let Err(error) = carry_out(disk, &journal) else {
        return Ok(());
    };
    match recover::revert(disk, &journal) {
        left if left.is_empty() => reverted(error, &made),
        left => Err(Error::Unfinished(Box::new(error), left)),
    }
}

/// The checks of [`apply`] before it writes anything, for a dry run. Gives the steps the modes of their files.
pub fn check(disk: &dyn Disk, steps: &mut [Step]) -> Result<()> {
    refuse_clashes(steps)?;
    keep_modes(disk, steps).map_err(|error| Error::Reverted(Box::new(error)))
}

/// Writes the new texts, so that a full disk is found before anything is replaced, and then the journal.
fn commit(transaction: &Transaction<'_>, steps: Vec<Step>, made: &Made) -> Result<Journal> {
    let disk = transaction.disk;
    let journal = Journal {
        command: transaction.command.to_owned(),
        checkout: disk.checkout().map_err(cannot(disk, "read", &LOCAL))?,
        made_root: made.root > 0,
        directories: new_directories(disk, &steps)?,
        steps,
    };
    step::make_directory(disk, &STAGE)?;
    for (at, step) in journal.steps.iter().enumerate() {
        step.stage(disk, at, false)?;
    }
    publish(disk, &journal)?;
    Ok(journal)
}

/// The missing directories of new files, outermost first.
fn new_directories(disk: &dyn Disk, steps: &[Step]) -> Result<Vec<RelPath>> {
    let made = steps.iter().filter(|step| step.after.is_some());
    let parents: BTreeSet<RelPath> = made.flat_map(|step| step.path.directories()).collect();
    let mut absent = Vec::new();
    for parent in parents {
        if kind(disk, &parent)? == FileType::Absent {
            absent.push(parent);
        }
    }
    Ok(absent)
}

/// The type of the file at `path`.
fn kind(disk: &dyn Disk, path: &RelPath) -> Result<FileType> {
    disk.kind(path).map_err(cannot(disk, "read", path))
}

/// Publishes the journal: from here on, the next command completes an interrupted change set.
fn publish(disk: &dyn Disk, journal: &Journal) -> Result<()> {
    // The one file that has to survive a power cut: files that are torn later are written again from it.
    disk.write(&DRAFT, &journal.write(), None, true)
        .and_then(|()| disk.rename(&DRAFT, &JOURNAL))
        // No replaced file may reach the disk before the journal with its old text.
        .and_then(|()| disk.sync_directory(&LOCAL))
        .map_err(|error| {
            let _ = disk.remove(&JOURNAL);
            cannot(disk, "write", &JOURNAL)(error)
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

/// Refuses if the file has changed since the plan read it.
fn verify(disk: &dyn Disk, step: &Step) -> Result<()> {
    match step.observe(&disk.find(&step.path)?) {
        Observed::Old => Ok(()),
        _ => Err(Error::Changed(step.path.clone())),
    }
}

/// Gives each step the mode of its file; refuses a read-only file.
fn keep_modes(disk: &dyn Disk, steps: &mut [Step]) -> Result<()> {
    for step in steps {
        if let Some(before) = &mut step.before
            && let FileType::File {
                mode, read_only, ..
            } = kind(disk, &step.path)?
        {
            if read_only {
                let (path, shown) = (step.path.clone(), disk.show(&step.path));
                return Err(Error::ReadOnly { path, shown });
            }
            // A mode that is not the one that the undone command left is a user's.
            let is_users = before.mode.is_some() && before.mode != mode;
            before.mode = mode;
            if let Some(after) = &mut step.after
                && (is_users || after.mode.is_none())
            {
                after.mode = mode;
            }
        }
    }
    Ok(())
}

/// Gives each moved file its mode. `moved` maps new paths to former ones.
pub fn carry_modes(
    disk: &dyn Disk,
    steps: &mut [Step],
    moved: &BTreeMap<RelPath, RelPath>,
) -> Result<()> {
    for step in steps {
        if let (Some(from), Some(after)) = (moved.get(&step.path), &mut step.after)
            && let FileType::File { mode, .. } = kind(disk, from)?
        {
            after.mode = mode;
        }
    }
    Ok(())
}

/// Refuses two paths that differ only by case: on macOS and Windows, they are one file.
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
