//! For programs: one object on one line of standard output, the same in a dry run.

use serde_json::{Value, json};

use super::{Drift, Outcome, text};
use crate::{change::ChangeSet, error::Failure};

/// `{command, dryRun, changes, notes, remarks, next}`; `diffs` adds a unified diff to every change.
pub fn outcome(outcome: &Outcome<'_>, dry_run: bool, diffs: bool) -> String {
    format!("{}\n", object(outcome, dry_run, diffs))
}

/// The same with `conflicts` and `attributes`, and with `error` where the check fails.
pub fn check(
    outcome: &Outcome<'_>,
    drifts: &[Drift],
    failed: Option<&Failure>,
    diffs: bool,
) -> String {
    let mut object = object(outcome, true, diffs);
    object["conflicts"] = conflicts(outcome.set).into();
    object["attributes"] = drifts.iter().map(Drift::json).collect();
    if let Some(failed) = failed {
        object["error"] = error(failed);
    }
    format!("{object}\n")
}

fn object(outcome: &Outcome<'_>, dry_run: bool, diffs: bool) -> Value {
    let next: Vec<Value> = outcome
        .next
        .iter()
        .map(|(sentence, paste)| json!({ "text": sentence, "command": paste }))
        .collect();
    json!({
        "command": outcome.command,
        "dryRun": dry_run,
        "changes": changes(outcome.set, diffs),
        "notes": notes(outcome.set),
        "remarks": outcome.remarks,
        "next": next,
    })
}

/// `[{action, path, owner, diff}]`.
pub fn changes(set: &ChangeSet, diffs: bool) -> Vec<Value> {
    set.visible()
        .map(|change| {
            let mut value = json!({ "action": change.action.word(), "path": change.path.as_str() });
            if let Some(owner) = change.owner {
                value["owner"] = json!(owner.word());
            }
            if diffs {
                value["diff"] = json!(text::diff(change));
            }
            value
        })
        .collect()
}

/// `[{kind, path, text}]`.
pub fn notes(set: &ChangeSet) -> Vec<Value> {
    set.notes
        .iter()
        .map(|note| json!({ "kind": note.what.word(), "path": note.path.as_str(), "text": note.sentence() }))
        .collect()
}

/// `[{kind, path, text}]`.
pub fn conflicts(set: &ChangeSet) -> Vec<Value> {
    set.conflicts
        .iter()
        .map(|conflict| json!({ "kind": conflict.why.word(), "path": conflict.path.as_str(), "text": conflict.why.reason() }))
        .collect()
}

/// `{error: {message, notes, help, exitCode}}`.
pub fn failure(failure: &Failure) -> String {
    format!("{}\n", json!({ "error": error(failure) }))
}

/// `{message, notes, help, exitCode}`.
pub fn error(failure: &Failure) -> Value {
    json!({
        "message": failure.error,
        "notes": failure.notes,
        "help": failure.help,
        "exitCode": failure.exit_code(),
    })
}
