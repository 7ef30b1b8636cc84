//! For people: a verb column as cargo has it, then warnings, then next steps.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    Outcome,
    caller::{Caller, Next, is_plain},
};
use crate::{
    change::{Action, ChangeSet, Shown},
    cli::Global,
    error::Failure,
    tree::RelPath,
};

/// More files than this of one top-level directory share a line, if the same happens to them.
const FOLD_ABOVE: usize = 4;

pub const GREEN: &str = "\x1b[1;32m";
pub const YELLOW: &str = "\x1b[1;33m";
pub const RED: &str = "\x1b[1;31m";
const CYAN: &str = "\x1b[1;36m";
const RESET: &str = "\x1b[0m";

/// Lines for a person. No text in them begins a line of its own, has colors, or moves the cursor.
pub struct Page<'a> {
    /// Where lines are pasted.
    pub caller: &'a Caller,
    color: bool,
    text: String,
}

impl<'a> Page<'a> {
    /// An empty page, with or without colors.
    pub fn new(caller: &'a Caller, color: bool) -> Self {
        Self {
            caller,
            color,
            text: String::new(),
        }
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.text
    }

    /// Adds a line of the verb column.
    pub fn line(&mut self, verb: &str, style: &str, rest: &str) {
        self.add(&format!("{verb:>12}"), style, " ", rest);
    }

    /// Adds `note: …` for each remark.
    pub fn remarks(&mut self, remarks: &[String]) {
        for remark in remarks {
            self.add("note", GREEN, ": ", remark);
        }
    }

    /// Adds `warning: …` for each sentence.
    pub fn warnings(&mut self, sentences: impl IntoIterator<Item = String>) {
        for sentence in sentences {
            self.add("warning", YELLOW, ": ", &sentence);
        }
    }

    /// Adds `error: …`, then each `note: …`, then each `help: …`.
    pub fn failure(&mut self, failure: &Failure) {
        self.add("error", RED, ": ", &failure.what);
        self.remarks(&failure.notes);
        for advice in &failure.advice {
            self.add("help", CYAN, ": ", &self.caller.text(advice));
        }
    }

    /// Adds a warning for each note and conflict.
    pub fn attention(&mut self, set: &ChangeSet) {
        let caller = self.caller;
        let notes = set.notes.iter();
        self.warnings(notes.map(|note| format!("`{}` {}", note.path, caller.sentence(note))));
        let conflicts = set.conflicts.iter();
        self.warnings(conflicts.map(|it| format!("`{}` {}", it.path, it.why.reason())));
    }

    /// Adds the outcome of a command: remarks, changes, warnings, and the failure or a summary with next steps.
    pub fn outcome(
        &mut self,
        outcome: &Outcome<'_>,
        next: &[Next],
        failed: Option<&Failure>,
        flags: &Global,
    ) {
        if !flags.quiet {
            self.remarks(outcome.remarks);
            self.changes(outcome, !flags.diff);
        }
        self.attention(outcome.set);
        if flags.quiet {
            self.warnings(outcome.left.iter().cloned());
        }
        if let Some(failure) = failed {
            return self.failure(failure);
        }
        if flags.quiet {
            return;
        }
        let verb = if flags.dry_run { "Dry run" } else { "Done" };
        self.line(verb, GREEN, &summary(outcome.set, flags.dry_run));
        if flags.dry_run || next.is_empty() {
            return;
        }
        self.text += "\nNext:\n";
        for (sentence, paste) in next {
            self.text += &format!("  {}\n", one_line(sentence));
            if let Some(paste) = paste {
                self.text += &format!("    {}\n", one_line(paste));
            }
        }
    }

    /// Adds a line for each file; many files of a directory share one, if `folds`.
    fn changes(&mut self, outcome: &Outcome<'_>, folds: bool) {
        // What the user edits next has a line of its own.
        let is_next = |path: &RelPath| {
            let mut next = outcome.next.iter();
            next.any(|step| step.what.contains(path.as_str()))
        };
        let changes = outcome.set.shown();
        let changes = changes.iter().map(|shown| {
            let group = group(shown).filter(|_| folds && !is_next(&shown.change.path));
            (shown, group)
        });
        let mut groups: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for (shown, group) in changes.clone() {
            let path = shown.change.path.as_str();
            groups.entry(group).or_default().push(path);
        }
        groups.retain(|group, paths| group.is_some() && paths.len() > FOLD_ABOVE);
        for (shown, group) in changes {
            let path = &shown.change.path;
            let rest = match (groups.get_mut(&group), shown.from) {
                // The first file has the line of all.
                (Some(paths), _) if paths.is_empty() => continue,
                (Some(paths), _) => {
                    let paths = std::mem::take(paths);
                    format!("{} ({} files)", directory_of(&paths), paths.len())
                }
                (None, Some(from)) => format!("{} -> {path}", from.path),
                (None, None) => path.to_string(),
            };
            let style = match shown.change.action {
                Action::Delete | Action::Overwrite | Action::Edit => YELLOW,
                _ => GREEN,
            };
            self.line(&title(shown.action().word()), style, &rest);
        }
    }

    fn add(&mut self, title: &str, style: &str, separator: &str, text: &str) {
        let title = match self.color {
            true => &format!("{style}{title}{RESET}"),
            false => title,
        };
        self.text += &format!("{title}{separator}{}\n", one_line(text));
    }
}

/// A number of things: `1 file`, `2 files`.
pub fn counted(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        n => format!("{n} {thing}s"),
    }
}

/// A word of JSON as a title: `in-the-way` is `In the way`.
pub fn title(word: &str) -> String {
    let mut title = word.replace('-', " ");
    title[..1].make_ascii_uppercase();
    title
}

/// `text` with the characters escaped that a terminal would obey or hide.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return text.into();
    }
    let mut printable = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        // A line of a file from Windows ends so.
        match is_plain(c) || text[at..].starts_with("\r\n") {
            true => printable.push(c),
            false => printable.extend(c.escape_default()),
        }
    }
    printable.into()
}

/// `text` as a part of one line.
pub fn one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n")
}

/// The number of files that were created, updated, …; in a dry run, of those that would be.
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

/// The action and the top-level directory of a change that may share a line: any but a change of the user's own text.
fn group<'a>(shown: &Shown<'a>) -> Option<(Action, &'a str)> {
    let is_of_user = matches!(
        shown.change.action,
        Action::Merge | Action::Overwrite | Action::Edit
    );
    let (top, _) = shown.change.path.as_str().split_once('/')?;
    (!is_of_user).then_some((shown.action(), top))
}

/// The innermost directory that holds all of `paths`, which are sorted.
fn directory_of<'a>(paths: &[&'a str]) -> &'a str {
    let (first, last) = (paths[0], paths[paths.len() - 1]);
    let same = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b);
    let same = &first.as_bytes()[..same.count()];
    let end = same.iter().rposition(|byte| *byte == b'/');
    end.map_or("", |end| &first[..=end])
}

/// The unified diffs of changes, as `git apply` reads them.
pub fn diffs(set: &ChangeSet, is_shown: impl Fn(Action) -> bool) -> String {
    let shown = set.shown();
    let shown = shown.iter().filter(|it| is_shown(it.change.action));
    shown.map(diff).collect()
}

/// The unified diff of one change, as git shows it: with the former path of a file that moves.
pub fn diff(shown: &Shown<'_>) -> String {
    let Shown { change, from } = *shown;
    let text = |bytes: Option<&[u8]>| str::from_utf8(bytes.unwrap_or_default()).map(str::to_owned);
    let side = |side: &str, path: &RelPath, is_there: bool| match is_there {
        true => format!("{side}/{path}"),
        false => "/dev/null".to_owned(),
    };
    let before = from.unwrap_or(change);
    let (old, new) = (&before.path, &change.path);
    let head = match from {
        Some(_) => format!("diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n"),
        None => String::new(),
    };
    match (
        text(before.before.as_deref()),
        text(change.after.as_deref()),
    ) {
        (Ok(ours), Ok(theirs)) if from.is_none() || ours != theirs => {
            let patch = diffy::DiffOptions::new()
                .set_original_filename(side("a", old, before.before.is_some()))
                .set_modified_filename(side("b", new, change.after.is_some()))
                .create_patch(&ours, &theirs)
                .to_string();
            head + &patch
        }
        _ if from.is_some() => head,
        _ => format!("Binary file {new} differs\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_no_colors_of_its_own() {
        let check = |text: &str, expected: &str| assert_eq!(printable(text), expected);
        check("a\tb\nc é\n", "a\tb\nc é\n");
        check("\x1b[1;31ma\x1b[2Jb\0", "\\u{1b}[1;31ma\\u{1b}[2Jb\\u{0}");
        check("\x1b[1;31ma\u{9b}", "\\u{1b}[1;31ma\\u{9b}");
    }

    #[test]
    fn text_that_turns_or_hides_is_escaped() {
        let check = |text: &str, expected: &str| assert_eq!(printable(text), expected);
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
    fn no_text_begins_a_line() {
        let caller = Caller::new(&[], std::path::Path::new(""));
        let mut page = Page::new(&caller, true);
        page.warnings(["a\nerror: b\x1b[0m".to_owned()]);
        let expected = "\x1b[1;33mwarning\x1b[0m: a\\nerror: b\\u{1b}[0m\n";
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn a_group_is_named_after_the_directory_of_all_its_files() {
        let check = |paths: &[&str], expected: &str| assert_eq!(directory_of(paths), expected);
        check(&["a/b/c", "a/b/d"], "a/b/");
        check(&["a/bc", "a/bd"], "a/");
        check(&["a/b/c", "a/b/c/d"], "a/b/");
        check(&["a/b", "a/b/c"], "a/");
    }
}
