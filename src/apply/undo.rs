//! Undoes the last change set: exactly, or not at all.

use super::{
    Disk, Step, UNDO,
    error::{Error, Result},
    journal::Journal,
    recover::read,
    step::Observed,
};
use crate::change::{Action, Change, ChangeSet};

/// The inverse of a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The command that is undone.
    pub command: String,
    /// The changes as reports show them.
    pub set: ChangeSet,
    /// The changes as they are applied.
    pub steps: Vec<Step>,
}

/// The inverse of the last change set.
///
/// Errors: there is no record; a file has changed since the command.
pub fn last(disk: &dyn Disk) -> Result<Undo> {
    let journal = read(disk, &UNDO)?.ok_or(Error::NothingToUndo)?;
    let mut changed = Vec::new();
    for step in &journal.steps {
        if step.observe(&disk.find(&step.path)?) != Observed::New {
            changed.push(step.path.clone());
        }
    }
    let command = journal.command.clone();
    match changed.is_empty() {
        true => Ok(inverse(journal)),
        false => Err(Error::CannotUndo { command, changed }),
    }
}

fn inverse(journal: Journal) -> Undo {
    let back = |step: Step| Step {
        before: step.after,
        after: step.before,
        ..step
    };
    let change = |step: &Step| Change {
        path: step.path.clone(),
        action: match (&step.before, &step.after) {
            (None, _) => Action::Restore,
            (Some(_), Some(_)) => Action::Update,
            (Some(_), None) => Action::Delete,
        },
        owner: step.owner,
        before: step.before.as_ref().map(|side| side.bytes.clone()),
        after: step.after.as_ref().map(|side| side.bytes.clone().into()),
    };
    let steps: Vec<Step> = journal.steps.into_iter().map(back).collect();
    let set = ChangeSet {
        changes: steps.iter().map(change).collect(),
        ..ChangeSet::default()
    };
    Undo {
        command: journal.command,
        set,
        steps,
    }
}
