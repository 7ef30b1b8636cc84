//! For people: a verb column as cargo has it, then what needs attention, then what to do next.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write};

use super::{Moved, Outcome};
use crate::{
    change::{Action, Change, ChangeSet},
    error::Failure,
    tree::Owner,
};

/// More files than this in one new top-level directory are told in one line.
const FOLD_ABOVE: usize = 4;

pub const GREEN: &str = "\x1b[1;32m";
pub const YELLOW: &str = "\x1b[1;33m";
pub const RED: &str = "\x1b[1;31m";
pub const CYAN: &str = "\x1b[1;36m";
const RESET: &str = "\x1b[0m";

fn paint(text: &str, style: &str, color: bool) -> String {
    if color {
        format!("{style}{text}{RESET}")
    } else {
        text.to_owned()
    }
}

/// `text` with the control characters written out that a hostile file put into it: only colors of ours reach a terminal.
pub fn printable(text: &str, color: bool) -> Cow<'_, str> {
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let ours = [GREEN, YELLOW, RED, CYAN, RESET];
    let (mut printable, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let known = ours.iter().find(|style| color && rest.starts_with(**style));
        let length = known.map_or(c.len_utf8(), |style| style.len());
        match known.is_some() || is_plain(c) {
            true => printable.push_str(&rest[..length]),
            false => printable.extend(c.escape_default()),
        }
        rest = &rest[length..];
    }
    Cow::Owned(printable)
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Create => "Create",
        Action::Restore => "Restore",
        Action::Update => "Update",
        Action::Move => "Move",
        Action::Merge => "Merge",
        Action::Overwrite => "Overwrite",
        Action::Edit => "Edit",
        Action::Delete => "Delete",
    }
}

/// A line of the verb column.
pub fn line(verb: &str, style: &str, rest: &str, color: bool) -> String {
    format!("{} {rest}\n", paint(&format!("{verb:>12}"), style, color))
}

/// The whole text of a command that went well.
pub fn outcome(outcome: &Outcome<'_>, dry_run: bool, quiet: bool, color: bool) -> String {
    let mut text = String::new();
    if !quiet {
        text += &remarks(outcome.remarks, color);
        text += &verbs(outcome.set, color);
    }
    text += &attention(outcome.set, color);
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
    if !dry_run && !outcome.next.is_empty() {
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

/// The whole text of `check`: what would change and what needs attention, then why it fails, if it does.
pub fn check(outcome: &Outcome<'_>, failed: Option<&Failure>, quiet: bool, color: bool) -> String {
    let mut text = String::new();
    if !quiet {
        text += &remarks(outcome.remarks, color);
        text += &verbs(outcome.set, color);
    }
    text += &attention(outcome.set, color);
    match failed {
        Some(failed) => text += &failure(failed, color),
        None if quiet => {}
        None => text += &line("Done", GREEN, "nothing to change", color),
    }
    text
}

/// What is worth knowing, one line each.
pub fn remarks(remarks: &[String], color: bool) -> String {
    let note = paint("note", CYAN, color);
    remarks
        .iter()
        .map(|remark| format!("{note}: {remark}\n"))
        .collect()
}

/// What needs a human, one line each.
pub fn attention(set: &ChangeSet, color: bool) -> String {
    let notes = set.notes.iter().map(|note| (&note.path, note.sentence()));
    let conflicts = set
        .conflicts
        .iter()
        .map(|conflict| (&conflict.path, conflict.why.reason()));
    let sentences: Vec<String> = notes
        .chain(conflicts)
        .map(|(path, what)| format!("`{path}` {what}"))
        .collect();
    warnings(&sentences, color)
}

/// What needs attention, a line each.
pub fn warnings(sentences: &[String], color: bool) -> String {
    sentences
        .iter()
        .map(|sentence| format!("{}: {sentence}\n", paint("warning", YELLOW, color)))
        .collect()
}

/// One line a file; files of a crowded directory that nobody has edited share one.
fn verbs(set: &ChangeSet, color: bool) -> String {
    let mut crowds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for crowd in set.visible().filter_map(crowd) {
        *crowds.entry(crowd).or_default() += 1;
    }
    crowds.retain(|_, count| *count > FOLD_ABOVE);
    let mut text = String::new();
    for change in set.visible() {
        let style = match change.action {
            Action::Delete | Action::Overwrite | Action::Edit => YELLOW,
            _ => GREEN,
        };
        let verb = verb(change.action);
        match crowd(change).filter(|crowd| crowds.contains_key(crowd)) {
            None => text += &line(verb, style, change.path.as_str(), color),
            // The first of them tells of all.
            Some(crowd) => {
                if let Some(count) = crowds.insert(crowd, 0).filter(|count| *count > 0) {
                    text += &line(verb, style, &format!("{}/ ({count} files)", crowd.0), color);
                }
            }
        }
    }
    text
}

/// The directory at the top and the verb of a change that may share its line: a new file, or one of the tool's own.
fn crowd(change: &Change) -> Option<(&str, &'static str)> {
    let shares = match change.action {
        Action::Create => true,
        Action::Update | Action::Delete => change.owner == Some(Owner::Tool),
        Action::Restore | Action::Move | Action::Merge | Action::Overwrite | Action::Edit => false,
    };
    let (top, _) = change.path.as_str().split_once('/')?;
    shares.then_some((top, verb(change.action)))
}

/// Unified diffs of all changes, as `git apply` reads them.
pub fn diffs(outcome: &Outcome<'_>) -> String {
    diffs_of(outcome, |_| true)
}

/// The diffs of what is replaced whatever it held, and of the user's own files: those are shown unasked.
pub fn overwritten(outcome: &Outcome<'_>) -> String {
    let is_shown = |change: &Change| matches!(change.action, Action::Overwrite | Action::Edit);
    diffs_of(outcome, is_shown)
}

/// The diffs of the changes that are `shown`, and of all files that move.
fn diffs_of(outcome: &Outcome<'_>, shown: impl Fn(&Change) -> bool) -> String {
    let mut text = String::new();
    for change in outcome.set.visible() {
        match outcome.moved.iter().find(|moved| moved.to == change.path) {
            Some(moved) => text += &diff_of_moved(moved),
            None if outcome.moved.iter().any(|it| it.from == change.path) => {}
            None if shown(change) => text += &diff(change),
            None => {}
        }
    }
    text
}

/// As git shows a file that was renamed.
fn diff_of_moved(moved: &Moved) -> String {
    let Moved { from, to, .. } = moved;
    let head = format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    match (str::from_utf8(&moved.before), str::from_utf8(&moved.after)) {
        (Ok(before), Ok(after)) if before != after => {
            head + &patch(format!("a/{from}"), format!("b/{to}"), before, after)
        }
        _ => head,
    }
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
    patch(old, new, &before, &after)
}

fn patch(old: String, new: String, before: &str, after: &str) -> String {
    diffy::DiffOptions::new()
        .set_original_filename(old)
        .set_modified_filename(new)
        .create_patch(before, after)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colors_reach_a_terminal() {
        let check =
            |text: &str, color, expected: &str| assert_eq!(printable(text, color), expected);
        check("a\tb\nc é\n", true, "a\tb\nc é\n");
        check(
            "\x1b[1;31merror\x1b[0m: a\x1b[2Jb\0",
            true,
            "\x1b[1;31merror\x1b[0m: a\\u{1b}[2Jb\\u{0}",
        );
        check("\x1b[1;31ma\u{9b}", false, "\\u{1b}[1;31ma\\u{9b}");
    }
}
