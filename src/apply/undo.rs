//! Takes the last change set back: exactly, or not at all.

use super::{Disk, Step, UNDO, journal::Journal, recover::read, step::State};
use crate::{
    change::{Action, Change, ChangeSet},
    error::{Failure, Result},
};

/// The inverse of a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The command that it takes back.
    pub command: String,
    /// What it does, as it is told.
    pub set: ChangeSet,
    /// What it does.
    pub steps: Vec<Step>,
}

/// The inverse of what the last command did here.
///
/// Errors: there is no record; a file is no longer what the command left.
pub fn last(disk: &dyn Disk) -> Result<Undo> {
    let Some(journal) = read(disk, UNDO)? else {
        return Err(Failure::refused("there is nothing to undo")
            .note("`undo` takes back what the last command did to this copy of the project; git keeps what was committed")
            .advise("operator-forge status"));
    };
    let mut changed = Vec::new();
    for step in &journal.steps {
        if step.state(&disk.find(&step.path)?) != State::New {
            changed.push(&step.path);
        }
    }
    if changed.is_empty() {
        return Ok(inverse(journal));
    }
    let failure = Failure::refused(format!("cannot undo `{}`", journal.command));
    Err(changed
        .iter()
        .fold(failure, |failure, path| {
            failure.note(format!("`{path}` was changed since"))
        })
        .note("nothing was changed")
        .note("put them back as they were, or edit `PROJECT` and run `operator-forge sync`")
        .advise("operator-forge status"))
}

fn inverse(journal: Journal) -> Undo {
    let steps: Vec<Step> = journal
        .steps
        .into_iter()
        .map(|step| Step {
            before: step.after,
            after: step.before,
            ..step
        })
        .collect();
    let changes = steps
        .iter()
        .map(|step| Change {
            path: step.path.clone(),
            action: match (&step.before, &step.after) {
                (None, _) => Action::Restore,
                (Some(_), Some(_)) => Action::Update,
                (Some(_), None) => Action::Delete,
            },
            owner: step.owner,
            before: step.before.as_ref().map(|side| side.bytes.clone()),
            after: step.after.as_ref().map(|side| side.bytes.clone().into()),
        })
        .collect();
    let set = ChangeSet {
        changes,
        ..ChangeSet::default()
    };
    Undo {
        command: journal.command,
        set,
        steps,
    }
}
