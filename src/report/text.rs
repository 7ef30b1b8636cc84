//! For people: a verb column as cargo has it, then what needs attention, then what to do next.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write};

use super::{
    Outcome,
    caller::{Explained, Next, is_plain},
    notes,
};
use crate::{
    change::{Action, Change, ChangeSet, Shown},
    tree::RelPath,
};

/// More files than this of one top-level directory share a line, if the same happens to them.
const FOLD_ABOVE: usize = 4;

/// How words are printed.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether files share lines.
    pub folds: bool,
    /// Whether there are colors.
    pub color: bool,
}

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

/// `text` with the characters escaped that are not plain: only colors of ours reach a terminal.
pub fn printable(text: &str, color: bool) -> Cow<'_, str> {
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
            // The end of a line of a file from Windows is one in a diff, too.
            false if rest.starts_with("\r\n") => printable.push(c),
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
    let verb = paint(&format!("{verb:>12}"), style, color);
    format!("{verb} {}\n", one_line(rest))
}

/// A message after its title: `help: …`. No text in it begins a line, which would read as another message.
fn message(title: &str, style: &str, text: &str, color: bool) -> String {
    format!("{}: {}\n", paint(title, style, color), one_line(text))
}

/// `text` with its line ends escaped.
fn one_line(text: &str) -> Cow<'_, str> {
    match text.contains('\n') {
        true => text.replace('\n', "\\n").into(),
        false => text.into(),
    }
}

/// The whole text of a command that went well.
pub fn outcome(
    outcome: &Outcome<'_>,
    next: &[Next],
    dry_run: bool,
    quiet: bool,
    style: Style,
) -> String {
    let color = style.color;
    let mut text = String::new();
    if !quiet {
        text += &remarks(outcome.remarks, color);
        text += &verbs(outcome, style);
    }
    text += &attention(outcome.set, color);
    if quiet {
        return text;
    }
    let verb = if dry_run { "Dry run" } else { "Done" };
    text += &line(verb, GREEN, &summary(outcome.set, dry_run), color);
    if !dry_run && !next.is_empty() {
        text += "\nNext:\n";
        for (sentence, paste) in next {
            let _ = writeln!(text, "  {}", one_line(sentence));
            if let Some(paste) = paste {
                let _ = writeln!(text, "    {}", one_line(paste));
            }
        }
    }
    text
}

/// How many files were created, updated, …; in a dry run, how many would be.
fn summary(set: &ChangeSet, dry_run: bool) -> String {
    let mut counts: BTreeMap<Action, usize> = BTreeMap::new();
    for shown in set.shown() {
        *counts.entry(shown.action()).or_default() += 1;
    }
    let count = |(action, count): (&Action, &usize)| match dry_run {
        true => format!("{count} to {}", action.word()),
        false => format!("{count} {}", action.done()),
    };
    let counts: Vec<String> = counts.iter().map(count).collect();
    match (counts.is_empty(), dry_run) {
        (true, _) => "nothing to change".to_owned(),
        (false, true) => counts.join(", ") + "; nothing was written",
        (false, false) => counts.join(", "),
    }
}

/// The whole text of `check`: what would change and what needs attention, then why it fails, if it does.
pub fn check(
    outcome: &Outcome<'_>,
    failed: Option<&Explained<'_>>,
    quiet: bool,
    style: Style,
) -> String {
    let color = style.color;
    let mut text = String::new();
    if !quiet {
        text += &remarks(outcome.remarks, color);
        text += &verbs(outcome, style);
    }
    text += &attention(outcome.set, color);
    match failed {
        Some(failed) => text += &failure(failed, color),
        None if quiet => {}
        None => text += &line("Done", GREEN, "nothing to change", color),
    }
    text
}

/// Remarks, a line each.
pub fn remarks(remarks: &[String], color: bool) -> String {
    let note = |remark: &String| message("note", GREEN, remark, color);
    remarks.iter().map(note).collect()
}

/// What needs a human, one line each.
pub fn attention(set: &ChangeSet, color: bool) -> String {
    let notes = set
        .notes
        .iter()
        .map(|note| (&note.path, notes::sentence(note)));
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
    let warning = |sentence: &String| message("warning", YELLOW, sentence, color);
    sentences.iter().map(warning).collect()
}

/// One line a file, or a line for a crowd of them.
fn verbs(outcome: &Outcome<'_>, style: Style) -> String {
    let changes = outcome.set.shown();
    // What the user edits next has a line of its own.
    let is_next = |path: &RelPath| {
        let mut next = outcome.next.iter();
        next.any(|step| step.what.contains(path.as_str()))
    };
    let mut crowds: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for shown in changes.iter().filter(|_| style.folds) {
        let path = &shown.change.path;
        if let Some(crowd) = crowd(shown).filter(|_| !is_next(path)) {
            crowds.entry(crowd).or_default().push(path.as_str());
        }
    }
    crowds.retain(|_, paths| paths.len() > FOLD_ABOVE);
    let mut text = String::new();
    for shown in &changes {
        let shade = match shown.change.action {
            Action::Delete | Action::Overwrite | Action::Edit => YELLOW,
            _ => GREEN,
        };
        let crowd = crowd(shown).filter(|_| !is_next(&shown.change.path));
        let rest = match crowd.and_then(|crowd| crowds.get_mut(&crowd)) {
            // The first of them has the line of all.
            Some(paths) if paths.is_empty() => continue,
            Some(paths) => {
                let paths = std::mem::take(paths);
                format!("{} ({} files)", directory_of(&paths), paths.len())
            }
            None => match shown.from {
                Some(from) => format!("{} -> {}", from.path, shown.change.path),
                None => shown.change.path.to_string(),
            },
        };
        text += &line(verb(shown.action()), shade, &rest, style.color);
    }
    text
}

/// What happens, and the directory at the top, of a change that may share its line: any but one of what the user wrote.
fn crowd<'a>(shown: &Shown<'a>) -> Option<(Action, &'a str)> {
    let is_of_user = match shown.change.action {
        Action::Merge | Action::Overwrite | Action::Edit => true,
        Action::Create | Action::Restore | Action::Update | Action::Move | Action::Delete => false,
    };
    let (top, _) = shown.change.path.as_str().split_once('/')?;
    (!is_of_user).then_some((shown.action(), top))
}

/// The innermost directory that holds all of `paths`.
fn directory_of<'a>(paths: &[&'a str]) -> &'a str {
    let (first, last) = (paths[0], paths[paths.len() - 1]);
    // They are sorted, so what these two share, all do.
    let same = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b);
    let end = first.as_bytes()[..same.count()]
        .iter()
        .rposition(|byte| *byte == b'/');
    end.map_or("", |end| &first[..=end])
}

/// Unified diffs of all changes, as `git apply` reads them.
pub fn diffs(outcome: &Outcome<'_>) -> String {
    outcome.set.shown().iter().map(diff_of).collect()
}

/// The diffs of what is replaced whatever it held, and of the user's own files: those are shown unasked.
pub fn overwritten(outcome: &Outcome<'_>) -> String {
    let is_shown =
        |shown: &&Shown<'_>| matches!(shown.change.action, Action::Overwrite | Action::Edit);
    outcome
        .set
        .shown()
        .iter()
        .filter(is_shown)
        .map(diff_of)
        .collect()
}

/// The unified diff of one change; that of a file that moves is as git shows it.
pub fn diff_of(shown: &Shown<'_>) -> String {
    let Some(left) = shown.from else {
        return diff(shown.change);
    };
    let (from, to) = (&left.path, &shown.change.path);
    let head = format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    let text = |bytes: Option<&[u8]>| str::from_utf8(bytes.unwrap_or_default()).map(str::to_owned);
    match (
        text(left.before.as_deref()),
        text(shown.change.after.as_deref()),
    ) {
        (Ok(before), Ok(after)) if before != after => {
            head + &patch(format!("a/{from}"), format!("b/{to}"), &before, &after)
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
pub fn failure(explained: &Explained<'_>, color: bool) -> String {
    let failure = explained.failure;
    let mut text = message("error", RED, &failure.what, color);
    text += &remarks(&failure.notes, color);
    for help in &explained.help {
        text += &message("help", CYAN, help, color);
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

    #[test]
    fn what_turns_or_hides_text_is_escaped() {
        let check = |text: &str, expected: &str| assert_eq!(printable(text, true), expected);
        check("a\u{202e}txt.rs", "a\\u{202e}txt.rs");
        check(
            "a\u{200b}\u{feff}\u{2066}\u{ad}\u{e0041}",
            "a\\u{200b}\\u{feff}\\u{2066}\\u{ad}\\u{e0041}",
        );
        check("a\r\nb\rc\x7f", "a\r\nb\\rc\\u{7f}");
        let letters = "Ünïcödé Привет 日本語 العربية עברית हिन्दी ไทย 🦀 e\u{301}";
        check(letters, letters);
    }

    #[test]
    fn a_crowd_is_named_after_the_directory_of_them_all() {
        let check = |paths: &[&str], expected: &str| assert_eq!(directory_of(paths), expected);
        check(&["a/b/c", "a/b/d"], "a/b/");
        check(&["a/bc", "a/bd"], "a/");
        check(&["a/b/c", "a/b/c/d"], "a/b/");
        check(&["a/b", "a/b/c"], "a/");
    }
}
