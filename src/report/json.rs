//! For programs: one object on one line of standard output, the same in a dry run.

use serde_json::{Value, json};

use super::{Outcome, text};
use crate::error::Failure;

/// `{command, dryRun, changes, notes, remarks, next}`; `diffs` adds a unified diff to every change.
pub fn outcome(outcome: &Outcome<'_>, dry_run: bool, diffs: bool) -> String {
    let changes: Vec<Value> = outcome
        .set
        .visible()
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
        .collect();
    let notes: Vec<Value> = outcome
        .set
        .notes
        .iter()
        .map(|note| json!({ "kind": note.what.word(), "path": note.path.as_str(), "text": note.sentence() }))
        .collect();
    let next: Vec<Value> = outcome
        .next
        .iter()
        .map(|(sentence, paste)| json!({ "text": sentence, "command": paste }))
        .collect();
    let object = json!({
        "command": outcome.command,
        "dryRun": dry_run,
        "changes": changes,
        "notes": notes,
        "remarks": outcome.remarks,
        "next": next,
    });
    format!("{object}\n")
}

/// `{error: {message, notes, help, exitCode}}`.
pub fn failure(failure: &Failure) -> String {
    let object = json!({
        "error": {
            "message": failure.error,
            "notes": failure.notes,
            "help": failure.help,
            "exitCode": failure.exit_code(),
        }
    });
    format!("{object}\n")
}
