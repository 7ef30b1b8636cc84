//! One step on disk: staged, carried out, taken back.

use super::{Disk, STAGE, Side, Step, failure::cannot};
use crate::{error::Result, tree::RelPath};

/// Writes the new text of the step `at` beside where it belongs; `durable` outlives a power cut.
pub fn stage(disk: &dyn Disk, at: usize, step: &Step, durable: bool) -> Result<()> {
    match &step.after {
        Some(after) => write(disk, &waiting(at)?, step, after, durable),
        None => Ok(()),
    }
}

/// Puts the staged text of the step `at` in its place, or deletes the file.
pub fn forward(disk: &dyn Disk, at: usize, step: &Step) -> Result<()> {
    if step.after.is_none() {
        return delete(disk, step);
    }
    place(disk, &waiting(at)?, step)
}

/// Puts the text from before the step `at` back, or deletes the file that it made.
pub fn back(disk: &dyn Disk, at: usize, step: &Step) -> Result<()> {
    let Some(before) = &step.before else {
        return delete(disk, step);
    };
    let waiting = RelPath::parse(&format!("{STAGE}/back-{at}"))?;
    write(disk, &waiting, step, before, false)?;
    make_parents(disk, step)?;
    place(disk, &waiting, step)
}

/// Makes the directories that hold the file of a step, where they are not there.
pub fn make_parents(disk: &dyn Disk, step: &Step) -> Result<()> {
    step.path
        .parents()
        .try_for_each(|parent| make_directory(disk, &RelPath::parse(parent)?))
}

/// Makes one directory, if it is not there.
pub fn make_directory(disk: &dyn Disk, path: &RelPath) -> Result<()> {
    disk.make_directory(path)
        .map(drop)
        .map_err(|error| cannot(disk, "create", path, &error))
}

fn waiting(at: usize) -> Result<RelPath> {
    RelPath::parse(&format!("{STAGE}/{at}"))
}

fn write(
    disk: &dyn Disk,
    waiting: &RelPath,
    step: &Step,
    side: &Side,
    durable: bool,
) -> Result<()> {
    disk.write(waiting, &side.bytes, side.mode, durable)
        .map_err(|error| cannot(disk, "write", &step.path, &error))
}

fn place(disk: &dyn Disk, waiting: &RelPath, step: &Step) -> Result<()> {
    disk.rename(waiting, &step.path)
        .map_err(|error| cannot(disk, "write", &step.path, &error))
}

fn delete(disk: &dyn Disk, step: &Step) -> Result<()> {
    disk.remove(&step.path)
        .map_err(|error| cannot(disk, "delete", &step.path, &error))
}
