//! Everything the terminal shows: a verb column on standard error, diffs and JSON on standard output.
//!
//! Invariant: nothing else in the program writes to the terminal, so a quiet run is quiet, and with `--output json` standard
//! output has nothing but JSON. A process that runs commands itself collects their output instead.

mod caller;
mod compat;
mod drift;
mod json;
mod progress;
mod status;
mod text;

use std::{
    cell::{OnceCell, RefCell},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use indicatif::ProgressBar;
use serde_json::Value;

pub use self::compat::Comparison;
pub use self::drift::{Drift, DriftKind};
pub use self::status::{FileState, FileStatus, StatusReport};
pub use self::text::one_line;
pub use self::text::printable;
use self::{caller::Caller, text::Page};
use crate::{
    advice::{NextStep, Script},
    change::{Action, Change, ChangeSet, Shown},
    cli::{Color, Global, Output},
    error::Failure,
};

/// What a command did or would do.
#[derive(Clone, Copy)]
pub struct Outcome<'a> {
    /// The command: `create api`.
    pub command: &'static str,
    /// Its changes, notes and conflicts.
    pub set: &'a ChangeSet,
    /// Remarks, also about what is left to a person.
    pub remarks: &'a [String],
    /// What is left to a person, beside notes and conflicts: a quiet run has nothing else that says it.
    pub left: &'a [String],
    /// What to do next.
    pub next: &'a [NextStep],
}

/// The output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub error: String,
}

/// The terminal, as the flags of the command line want it.
#[derive(Clone, Debug)]
pub struct Report {
    flags: Global,
    progress: ProgressBar,
    caller: Caller,
    /// What happened before the command began, for the first report of it.
    before: Vec<String>,
    /// The output, where it does not go to the terminal.
    collected: Option<RefCell<Captured>>,
    /// Why a part of the output is lost.
    lost: OnceCell<String>,
}

impl Report {
    /// A report for the flags and words of a command line.
    pub fn new(flags: &Global, words: &[String]) -> Self {
        let is_shown = flags.output == Output::Text && !flags.quiet;
        Self {
            flags: flags.clone(),
            progress: match is_shown && !is_dumb() && io::stderr().is_terminal() {
                true => progress::begin(),
                false => ProgressBar::hidden(),
            },
            caller: Caller::new(words, &flags.directory),
            before: Vec::new(),
            collected: None,
            lost: OnceCell::new(),
        }
    }

    /// A report that collects the output, for [`Report::captured`].
    pub fn collecting(flags: &Global, words: &[String]) -> Self {
        Self {
            collected: Some(RefCell::default()),
            ..Self::new(flags, words)
        }
    }

    /// The output so far; empty where it went to the terminal.
    pub fn captured(&self) -> Captured {
        let collected = self.collected.as_ref();
        collected.map_or_else(Captured::default, |all| all.borrow().clone())
    }

    /// Adds what happened before the command began: it comes first in the report of the command.
    pub fn add_remarks(&mut self, remarks: Vec<String>) {
        self.before.extend(remarks);
    }

    /// Sets the directory of the project.
    pub fn set_project(&mut self, directory: PathBuf) {
        self.caller.project = directory;
    }

    /// Reports the project that was found above the directory that the command was started in.
    pub fn entered(&self, project: &Path) {
        if !self.is_json() && !self.flags.quiet {
            self.page(|page| page.line("Project", text::GREEN, &project.display().to_string()));
        }
    }

    /// Reports what was done, or would be.
    pub fn outcome(&self, outcome: &Outcome<'_>) {
        if self.is_json() {
            let next = self.caller.next(outcome.command, outcome.next);
            let remarks = [&self.before, outcome.remarks].concat();
            let outcome = Outcome {
                remarks: &remarks,
                ..*outcome
            };
            let Global { dry_run, diff, .. } = self.flags;
            return self.json(json::outcome(&outcome, &next, &self.caller, dry_run, diff));
        }
        self.page(|page| page.warnings(self.before.clone()));
        // The changes of the user's own text are shown unasked.
        let is_users = |action| matches!(action, Action::Overwrite | Action::Edit);
        if self.flags.diff || !self.flags.quiet {
            let is_shown = |action| self.flags.diff || is_users(action);
            self.patch(&text::diffs(outcome.set, is_shown));
        }
        self.done(outcome);
    }

    /// Reports what was done after a [`Report::proposal`], which showed the diffs.
    pub fn done(&self, outcome: &Outcome<'_>) {
        let next = self.caller.next(outcome.command, outcome.next);
        self.page(|page| page.outcome(outcome, &next, None, &self.flags));
    }

    /// Shows how files differ from what is generated.
    pub fn differences(&self, outcome: &Outcome<'_>) {
        match self.flags.output {
            Output::Json => self.json(json::outcome(outcome, &[], &self.caller, true, true)),
            Output::Text => self.patch(&text::diffs(outcome.set, |_| true)),
        }
    }

    /// Shows the changes that a question is about, as a dry run with diffs does.
    pub fn proposal(&self, outcome: &Outcome<'_>) {
        let mut shown = self.clone();
        (shown.flags.dry_run, shown.flags.diff) = (true, true);
        shown.outcome(outcome);
    }

    /// Reports what `check` found; it fails if `failed` says why.
    pub fn check(&self, outcome: &Outcome<'_>, drifts: &[Drift], failed: Option<&Failure>) {
        if !self.is_json() {
            if self.flags.diff {
                self.patch(&text::diffs(outcome.set, |_| true));
            }
            return self.page(|page| page.outcome(outcome, &[], failed, &self.flags));
        }
        let mut object = json::outcome(outcome, &[], &self.caller, true, self.flags.diff);
        object["conflicts"] = json::conflicts(outcome.set);
        object["attributes"] = drift::attributes(drifts);
        object["spokes"] = drift::spokes(drifts);
        if let Some(failure) = failed {
            object["error"] = json::error(failure, &self.caller);
        }
        self.json(object);
    }

    /// Reports what `check --crds` found; it fails if `failed` says why.
    pub fn comparison(&self, comparison: &Comparison<'_>, failed: Option<&Failure>) {
        match self.flags.output {
            Output::Json => self.json(comparison.json(failed, &self.caller)),
            Output::Text => self.page(|page| comparison.text(page, failed, self.flags.quiet)),
        }
    }

    /// Shows the state of each file.
    pub fn status(&self, status: &StatusReport<'_>) {
        if self.is_json() {
            return self.json(status.json(&self.caller));
        }
        let mut page = Page::new(&self.caller, self.wants_color(&io::stdout()));
        status.text(&mut page, self.flags.quiet);
        self.put(&page.finish());
    }

    /// Reports why nothing was done.
    pub fn failure(&self, failure: &Failure) {
        let failure = &self.before.iter().fold(failure.clone(), Failure::note);
        match self.flags.output {
            Output::Json => {
                self.json(serde_json::json!({ "error": json::error(failure, &self.caller) }))
            }
            Output::Text => self.page(|page| page.failure(failure)),
        }
    }

    /// Shows the change that a question is about.
    pub fn diff(&self, change: &Change) {
        self.patch(&text::diff(&Shown { change, from: None }));
    }

    /// Prints a question, or what is wrong with its answer.
    pub fn question(&self, text: &str) {
        self.eprint(&text::printable(text));
    }

    /// Shows the step of a command that takes long: `Writing`, `40 files`.
    pub fn at(&self, verb: &'static str, what: String) {
        self.progress.set_prefix(verb);
        self.progress.set_message(what);
    }

    /// Prints a requested text (a version, a script) on standard output.
    pub fn text(&self, text: &str) {
        self.put(text);
    }

    /// Prints the one object of `--output json`.
    pub fn json(&self, mut object: Value) {
        object["schema"] = json::SCHEMA.into();
        self.put(&json::line(&object));
    }

    /// Whether the caller asked for JSON.
    pub fn is_json(&self) -> bool {
        self.flags.output == Output::Json
    }

    /// The exit code of a command that ended with `code`: 1 where a part of its output is lost, which is reported.
    pub fn exit_code(&self, code: u8) -> u8 {
        let Some(why) = self.lost.get() else {
            return code;
        };
        let failure = Failure::refused(format!("cannot write to {why}"))
            .note("the command has run, and a part of its output is lost")
            .note("free some space, or redirect the output to another place")
            .advise(Script::forge("status"));
        self.page(|page| page.failure(&failure));
        1
    }

    /// Prints lines for a person on standard error.
    fn page(&self, write: impl FnOnce(&mut Page<'_>)) {
        let mut page = Page::new(&self.caller, self.wants_color(&io::stderr()));
        write(&mut page);
        self.eprint(&page.finish());
    }

    fn wants_color(&self, stream: &impl IsTerminal) -> bool {
        let is_unset = || std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        match self.flags.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_unset() && !is_dumb() && stream.is_terminal(),
        }
    }

    /// Prints diffs: byte for byte for `git apply`, and escaped where a person reads them.
    fn patch(&self, text: &str) {
        match io::stdout().is_terminal() {
            true => self.put(&text::printable(text)),
            false => self.put(text),
        }
    }

    fn put(&self, text: &str) {
        self.progress.finish_and_clear();
        match &self.collected {
            Some(collected) => collected.borrow_mut().output.push_str(text),
            None => self.write(io::stdout(), "standard output", text),
        }
    }

    fn eprint(&self, text: &str) {
        self.progress.finish_and_clear();
        match &self.collected {
            Some(collected) => collected.borrow_mut().error.push_str(text),
            None => self.write(io::stderr(), "standard error", text),
        }
    }

    /// A closed pipe is the reader's choice, not an error.
    fn write(&self, mut stream: impl Write, name: &str, text: &str) {
        let written = stream.write_all(text.as_bytes());
        match written.and_then(|()| stream.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                _ = self.lost.set(format!("{name}: {error}"));
            }
            _ => {}
        }
    }
}

/// Whether the terminal understands no more than lines.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|value| value == "dumb")
}
