//! For programs: one object on one line of standard output, the same in a dry run.

use serde_json::{Value, json};

use super::{
    Outcome,
    caller::{Caller, Next, is_plain},
    text,
};
use crate::{change::ChangeSet, error::Failure};

/// The version of `docs/output.schema.json`: higher where something goes or changes its meaning, not where something is added.
pub const SCHEMA: u32 = 1;

/// The object on a line of its own, with the characters escaped that a terminal would obey or hide.
pub fn line(object: &Value) -> String {
    let mut line = String::new();
    for c in object.to_string().chars() {
        if is_plain(c) {
            line.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            line += &format!("\\u{unit:04x}");
        }
    }
    line + "\n"
}

/// `{command, dryRun, changes, notes, remarks, next}`; `diffs` adds a unified diff to every change.
pub fn outcome(
    outcome: &Outcome<'_>,
    next: &[Next],
    caller: &Caller,
    dry_run: bool,
    diffs: bool,
) -> Value {
    let next = next.iter();
    let next = next.map(|(text, command)| json!({ "text": text, "command": command }));
    json!({
        "command": outcome.command,
        "dryRun": dry_run,
        "changes": changes(outcome.set, diffs),
        "notes": notes(outcome.set, caller),
        "remarks": outcome.remarks,
        "next": next.collect::<Value>(),
    })
}

/// `[{action, path, from, owner, diff}]`.
pub fn changes(set: &ChangeSet, diffs: bool) -> Value {
    let value = |shown: &crate::change::Shown<'_>| {
        let (action, path) = (shown.action().word(), shown.change.path.as_str());
        let mut value = json!({ "action": action, "path": path });
        if let Some(from) = shown.from {
            value["from"] = from.path.as_str().into();
        }
        if let Some(owner) = shown.change.owner {
            value["owner"] = owner.word().into();
        }
        if diffs {
            value["diff"] = text::diff(shown).into();
        }
        value
    };
    set.shown().iter().map(value).collect()
}

/// `[{kind, path, text}]`.
pub fn notes(set: &ChangeSet, caller: &Caller) -> Value {
    let notes = set.notes.iter();
    notes
        .map(|note| json!({ "kind": note.what.word(), "path": note.path.as_str(), "text": caller.sentence(note) }))
        .collect()
}

/// `[{kind, path, text}]`.
pub fn conflicts(set: &ChangeSet) -> Value {
    let conflicts = set.conflicts.iter();
    conflicts
        .map(|it| json!({ "kind": it.why.word(), "path": it.path.as_str(), "text": it.why.reason() }))
        .collect()
}

/// `{message, notes, help, exitCode}`.
pub fn error(failure: &Failure, caller: &Caller) -> Value {
    let help = failure.advice.iter().map(|advice| caller.text(advice));
    json!({
        "message": failure.what,
        "notes": failure.notes,
        "help": help.collect::<Value>(),
        "exitCode": failure.exit_code(),
    })
}
