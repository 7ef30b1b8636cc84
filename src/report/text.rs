//! For people: a verb column as cargo has it, then what needs attention, then what to do next.

use std::{collections::BTreeMap, fmt::Write};

use super::Outcome;
use crate::{
    change::{Action, Change, ChangeSet},
    error::Failure,
};

/// More files than this in one new top-level directory are told in one line.
const FOLD_ABOVE: usize = 4;

const GREEN: &str = "\x1b[1;32m";
const YELLOW: &str = "\x1b[1;33m";
const RED: &str = "\x1b[1;31m";
const CYAN: &str = "\x1b[1;36m";
const RESET: &str = "\x1b[0m";

fn paint(text: &str, style: &str, color: bool) -> String {
    if color {
        format!("{style}{text}{RESET}")
    } else {
        text.to_owned()
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Create => "Create",
        Action::Restore => "Restore",
        Action::Update => "Update",
        Action::Merge => "Merge",
        Action::Overwrite => "Overwrite",
        Action::Delete => "Delete",
    }
}

fn line(verb: &str, style: &str, rest: &str, color: bool) -> String {
    format!("{} {rest}\n", paint(&format!("{verb:>12}"), style, color))
}

/// The whole text of a command that went well.
pub fn outcome(outcome: &Outcome<'_>, dry_run: bool, quiet: bool, color: bool) -> String {
    let mut text = String::new();
    if !quiet {
        for remark in outcome.remarks {
            let _ = writeln!(text, "{}: {remark}", paint("note", CYAN, color));
        }
        text += &verbs(outcome.set, color);
    }
    for note in &outcome.set.notes {
        let _ = writeln!(
            text,
            "{}: `{}` {}",
            paint("warning", YELLOW, color),
            note.path,
            note.what.sentence()
        );
    }
    if quiet {
        return text;
    }
    let files = outcome.set.visible().count();
    let summary = match (files, dry_run) {
        (0, _) => "nothing to change".to_owned(),
        (1, false) => "1 file".to_owned(),
        (1, true) => "1 file would change; nothing was written".to_owned(),
        (n, false) => format!("{n} files"),
        (n, true) => format!("{n} files would change; nothing was written"),
    };
    text += &line(
        if dry_run { "Dry run" } else { "Done" },
        GREEN,
        &summary,
        color,
    );
    if !dry_run && files > 0 && !outcome.next.is_empty() {
        text += "\nNext:\n";
        for (sentence, paste) in outcome.next {
            let _ = writeln!(text, "  {sentence}");
            if let Some(paste) = paste {
                let _ = writeln!(text, "    {paste}");
            }
        }
    }
    text
}

/// What needs attention, a line each.
pub fn warnings(sentences: &[String], color: bool) -> String {
    sentences
        .iter()
        .map(|sentence| format!("{}: {sentence}\n", paint("warning", YELLOW, color)))
        .collect()
}

/// One line a file; new files of a crowded directory share a line.
fn verbs(set: &ChangeSet, color: bool) -> String {
    let mut crowds: BTreeMap<&str, usize> = BTreeMap::new();
    for change in set
        .visible()
        .filter(|change| change.action == Action::Create)
    {
        if let Some(top) = top(change) {
            *crowds.entry(top).or_default() += 1;
        }
    }
    crowds.retain(|_, count| *count > FOLD_ABOVE);
    let mut text = String::new();
    let mut told = None;
    for change in set.visible() {
        let crowd = top(change)
            .filter(|_| change.action == Action::Create)
            .and_then(|top| crowds.get_key_value(top));
        match crowd {
            Some((top, count)) if told != Some(*top) => {
                text += &line("Create", GREEN, &format!("{top}/ ({count} files)"), color);
                told = Some(*top);
            }
            Some(_) => {}
            None => {
                let style = if matches!(change.action, Action::Delete | Action::Overwrite) {
                    YELLOW
                } else {
                    GREEN
                };
                text += &line(verb(change.action), style, change.path.as_str(), color);
            }
        }
    }
    text
}

fn top(change: &Change) -> Option<&str> {
    change.path.as_str().split_once('/').map(|(top, _)| top)
}

/// Unified diffs of all changes, as `git apply` reads them.
pub fn diffs(set: &ChangeSet) -> String {
    set.visible().map(diff).collect()
}

/// The diffs of what is replaced whatever it held: those are shown unasked.
pub fn overwritten(set: &ChangeSet) -> String {
    set.visible()
        .filter(|change| change.action == Action::Overwrite)
        .map(diff)
        .collect()
}

/// The unified diff of one change; a line that says so where a file is not text.
pub fn diff(change: &Change) -> String {
    let side =
        |bytes: Option<&[u8]>| std::str::from_utf8(bytes.unwrap_or_default()).map(str::to_owned);
    let (Ok(before), Ok(after)) = (
        side(change.before.as_deref()),
        side(change.after.as_deref()),
    ) else {
        return format!("Binary file {} differs\n", change.path);
    };
    let old = if change.before.is_some() {
        format!("a/{}", change.path)
    } else {
        "/dev/null".to_owned()
    };
    let new = if change.after.is_some() {
        format!("b/{}", change.path)
    } else {
        "/dev/null".to_owned()
    };
    diffy::DiffOptions::new()
        .set_original_filename(old)
        .set_modified_filename(new)
        .create_patch(&before, &after)
        .to_string()
}

/// `error:`, then each `note:`, then each `help:`.
pub fn failure(failure: &Failure, color: bool) -> String {
    let mut text = format!("{}: {}\n", paint("error", RED, color), failure.error);
    for note in &failure.notes {
        let _ = writeln!(text, "{}: {note}", paint("note", CYAN, color));
    }
    for help in &failure.help {
        let _ = writeln!(text, "{}: {help}", paint("help", GREEN, color));
    }
    text
}
