//! For programs: one object on one line of standard output, the same in a dry run.

use serde_json::{Value, json};

use super::{
    Drift, Outcome,
    caller::{Explained, Next, is_plain},
    notes, text,
};
use crate::change::ChangeSet;

/// The version of `docs/output.schema.json`: higher where something goes or changes its meaning, not where something is added.
pub const SCHEMA: u32 = 1;

/// The object on a line of its own; what a terminal would obey or hide is escaped, which means the same.
pub fn line(object: &Value) -> String {
    let mut line = String::new();
    for c in object.to_string().chars() {
        match is_plain(c) {
            true => line.push(c),
            false => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    line += &format!("\\u{unit:04x}");
                }
            }
        }
    }
    line + "\n"
}

/// The same with `conflicts` and `attributes`, and with `error` where the check fails.
pub fn check(
    outcome: &Outcome<'_>,
    drifts: &[Drift],
    failed: Option<&Explained<'_>>,
    diffs: bool,
) -> Value {
    let mut object = self::outcome(outcome, &[], true, diffs);
    object["conflicts"] = conflicts(outcome.set).into();
    object["attributes"] = drifts.iter().map(Drift::json).collect();
    if let Some(failed) = failed {
        object["error"] = error(failed);
    }
    object
}

/// `{command, dryRun, changes, notes, remarks, next}`; `diffs` adds a unified diff to every change.
pub fn outcome(outcome: &Outcome<'_>, next: &[Next], dry_run: bool, diffs: bool) -> Value {
    let next = next.iter();
    let next: Vec<Value> = next
        .map(|(what, how)| json!({ "text": what, "command": how }))
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

/// `[{action, path, from, owner, diff}]`.
pub fn changes(set: &ChangeSet, diffs: bool) -> Vec<Value> {
    let mut values = Vec::new();
    for shown in set.shown() {
        let (action, path) = (shown.action().word(), shown.change.path.as_str());
        let mut value = json!({ "action": action, "path": path });
        if let Some(from) = shown.from {
            value["from"] = json!(from.path.as_str());
        }
        if let Some(owner) = shown.change.owner {
            value["owner"] = json!(owner.word());
        }
        if diffs {
            value["diff"] = json!(text::diff_of(&shown));
        }
        values.push(value);
    }
    values
}

/// `[{kind, path, text}]`.
pub fn notes(set: &ChangeSet) -> Vec<Value> {
    set.notes
        .iter()
        .map(|note| json!({ "kind": note.what.word(), "path": note.path.as_str(), "text": notes::sentence(note) }))
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
pub fn failure(failure: &Explained<'_>) -> Value {
    json!({ "error": error(failure) })
}

/// `{message, notes, help, exitCode}`.
pub fn error(explained: &Explained<'_>) -> Value {
    let failure = explained.failure;
    json!({
        "message": failure.what,
        "notes": failure.notes,
        "help": explained.help,
        "exitCode": failure.exit_code(),
    })
}
