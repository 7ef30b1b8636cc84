//! Everything the terminal shows: a verb column on standard error, diffs and JSON on standard output.
//!
//! Invariant: nothing else in the program writes to the terminal, so a quiet run is quiet and JSON is the only thing on
//! standard output when it was asked for. What runs commands in its own process collects the words instead.

mod caller;
mod compat;
mod drift;
mod json;
mod notes;
mod progress;
mod status;
mod text;

use std::{
    cell::{OnceCell, RefCell},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use serde_json::Value;

pub use self::compat::Comparison;
pub use self::drift::{Drift, DriftKind};
pub use self::status::{FileState, FileStatus, StatusReport};
use self::{caller::Caller, progress::Progress};
use crate::{
    advice::{Advice, NextStep, Script},
    change::{Change, ChangeSet},
    cli::{Color, Global, Output},
    error::Failure,
};

/// What a command did or would do.
#[derive(Clone, Copy)]
pub struct Outcome<'a> {
    /// `create api`.
    pub command: &'static str,
    /// All of it.
    pub set: &'a ChangeSet,
    /// Remarks about flags and surroundings; they leave nothing to do.
    pub remarks: &'a [String],
    /// What to do next.
    pub next: &'a [NextStep],
}

/// What was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// On standard output.
    pub output: String,
    /// On standard error.
    pub error: String,
}

/// How to speak.
#[derive(Clone, Debug)]
pub struct Report {
    output: Output,
    quiet: bool,
    color: bool,
    output_color: bool,
    dry_run: bool,
    diff: bool,
    progress: Progress,
    /// Who called.
    caller: Caller,
    /// What happened before the command began, for whatever is told of it.
    before: Vec<String>,
    /// Where the words go, if not to the terminal.
    collected: Option<RefCell<Captured>>,
    /// Why some of the words are lost.
    lost: OnceCell<String>,
}

impl Report {
    /// From the flags of the command line and the kind of terminal.
    pub fn new(flags: &Global, words: &[String]) -> Self {
        let is_shown = flags.output == Output::Text && !flags.quiet;
        Self {
            output: flags.output,
            quiet: flags.quiet,
            color: Self::wants_color(flags.color, &io::stderr()),
            output_color: Self::wants_color(flags.color, &io::stdout()),
            dry_run: flags.dry_run,
            diff: flags.diff,
            progress: match is_shown && !is_dumb() && io::stderr().is_terminal() {
                true => Progress::begin(),
                false => Progress::default(),
            },
            caller: Caller::new(words, &flags.directory),
            before: Vec::new(),
            collected: None,
            lost: OnceCell::new(),
        }
    }

    /// The same, in silence: [`Report::told`] has the words.
    pub fn collecting(flags: &Global, words: &[String]) -> Self {
        Self {
            collected: Some(RefCell::default()),
            ..Self::new(flags, words)
        }
    }

    /// What was told so far; nothing where it went to the terminal.
    pub fn told(&self) -> Captured {
        let collected = self.collected.as_ref();
        collected.map_or_else(Captured::default, |told| told.borrow().clone())
    }

    /// For errors in the words behind the program's name, which are found before the flags are known; `directory` is that of
    /// `-C`.
    pub fn before_flags(words: &[String], directory: &Path) -> Self {
        let json = words.iter().any(|word| word == "--output=json")
            || words
                .windows(2)
                .any(|pair| pair[0] == "--output" && pair[1] == "json");
        let output = if json { Output::Json } else { Output::Text };
        Self {
            output,
            quiet: false,
            color: Self::wants_color(Color::Auto, &io::stderr()),
            output_color: false,
            dry_run: false,
            diff: false,
            progress: Progress::default(),
            caller: Caller::new(words, directory),
            before: Vec::new(),
            collected: None,
            lost: OnceCell::new(),
        }
    }

    fn wants_color(color: Color, stream: &impl IsTerminal) -> bool {
        match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && !is_dumb()
                    && stream.is_terminal()
            }
        }
    }

    /// Adds what happened before the command began: it comes first in whatever is told of the command.
    pub fn add_remarks(&mut self, remarks: Vec<String>) {
        self.before.extend(remarks);
    }

    /// Says in which directory the project is.
    pub fn set_project(&mut self, directory: PathBuf) {
        self.caller = self.caller.clone().with_project(directory);
    }

    /// Says which project was found above the directory that the command was started in.
    pub fn entered(&self, project: &Path) {
        if self.output == Output::Text && !self.quiet {
            let project = project.display().to_string();
            self.eprint(&text::line("Project", text::GREEN, &project, self.color));
        }
    }

    /// Tells what was done, or would be.
    pub fn outcome(&self, outcome: &Outcome<'_>) {
        let next = match outcome.command {
            "init" => self.caller.next_there(outcome.next),
            _ => self.caller.next(outcome.next),
        };
        match self.output {
            Output::Json => {
                let remarks: Vec<String> =
                    self.before.iter().chain(outcome.remarks).cloned().collect();
                let outcome = Outcome {
                    remarks: &remarks,
                    ..*outcome
                };
                self.json(json::outcome(&outcome, &next, self.dry_run, self.diff));
            }
            Output::Text => {
                self.eprint(&text::warnings(&self.before, self.color));
                if self.diff {
                    self.patch(&text::diffs(outcome));
                } else if !self.quiet {
                    self.patch(&text::overwritten(outcome));
                }
                let style = self.style();
                self.eprint(&text::outcome(
                    outcome,
                    &next,
                    self.dry_run,
                    self.quiet,
                    style,
                ));
            }
        }
    }

    /// Tells what was done, where a [`Report::proposal`] was agreed to.
    pub fn done(&self, outcome: &Outcome<'_>) {
        let next = self.caller.next(outcome.next);
        self.eprint(&text::outcome(
            outcome,
            &next,
            false,
            self.quiet,
            self.style(),
        ));
    }

    /// Shows how files differ from what is generated.
    pub fn differences(&self, outcome: &Outcome<'_>) {
        match self.output {
            Output::Json => self.json(json::outcome(outcome, &[], true, true)),
            Output::Text => self.patch(&text::diffs(outcome)),
        }
    }

    /// Shows what a question is about, as a dry run with its diffs does.
    pub fn proposal(&self, outcome: &Outcome<'_>) {
        let shown = Self {
            dry_run: true,
            diff: true,
            ..self.clone()
        };
        shown.outcome(outcome);
    }

    /// Tells what `check` found; it fails where there is a failure.
    pub fn check(&self, outcome: &Outcome<'_>, drifts: &[Drift], failed: Option<&Failure>) {
        let failed = failed.map(|failed| self.caller.explain(failed));
        let failed = failed.as_ref();
        match self.output {
            Output::Json => self.json(json::check(outcome, drifts, failed, self.diff)),
            Output::Text => {
                if self.diff {
                    self.patch(&text::diffs(outcome));
                }
                self.eprint(&text::check(outcome, failed, self.quiet, self.style()));
            }
        }
    }

    /// Tells what `check --crds` found; it fails where there is a failure.
    pub fn comparison(&self, comparison: &Comparison<'_>, failed: Option<&Failure>) {
        let failed = failed.map(|failed| self.caller.explain(failed));
        let failed = failed.as_ref();
        match self.output {
            Output::Json => self.json(comparison.json(failed)),
            Output::Text => self.eprint(&comparison.text(failed, self.quiet, self.color)),
        }
    }

    /// Shows what each file is.
    pub fn status(&self, status: &StatusReport<'_>) {
        let sync = [Script::forge("sync")];
        let scripts = status.set.makes_room().into_iter().chain(sync);
        let script = scripts.reduce(Script::then).map(Advice::from);
        let instead = status.instead.iter().map(|it| self.caller.text(it));
        let sync = match status.instead {
            [] => script.map_or_else(String::new, |script| self.caller.text(&script)),
            // Each is done with something left for the next one, exit code 3.
            _ => instead.collect::<Vec<_>>().join("; "),
        };
        match self.output {
            Output::Json => self.json(status.json(&self.caller)),
            Output::Text => {
                self.print(&status.text(&sync, &self.caller, self.quiet, self.output_color));
            }
        }
    }

    /// Tells why nothing was done.
    pub fn failure(&self, failure: &Failure) {
        let failure = &self.before.iter().fold(failure.clone(), Failure::note);
        let failure = &self.caller.explain(failure);
        match self.output {
            Output::Json => self.json(json::failure(failure)),
            Output::Text => self.eprint(&text::failure(failure, self.color)),
        }
    }

    /// Shows what a question is about.
    pub fn diff(&self, change: &Change) {
        self.patch(&text::diff(change));
    }

    /// Prints a question, or what is wrong with its answer.
    pub fn question(&self, text: &str) {
        self.eprint(text);
    }

    /// Says what the command is at, where it takes long: `Writing`, `40 files`.
    pub fn at(&self, verb: &'static str, what: String) {
        self.progress.at(verb, what);
    }

    /// Prints a text that was asked for (a version, a script) on standard output.
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
        self.output == Output::Json
    }

    /// The exit code of a command that ended with `code`: 1 where some of its words are lost, which is told.
    pub fn exit_code(&self, code: u8) -> u8 {
        let Some(why) = self.lost.get() else {
            return code;
        };
        let failure = Failure::refused(format!("cannot write to {why}"))
            .note("the command has run, and what it said is lost in part")
            .note("free some space, or send the words elsewhere")
            .advise(Script::forge("status"));
        self.eprint(&text::failure(&self.caller.explain(&failure), self.color));
        1
    }

    fn style(&self) -> text::Style {
        text::Style {
            folds: !self.diff,
            color: self.color,
        }
    }

    /// Prints diffs: byte for byte for `git apply`, and as safe as anything else where a person reads them.
    fn patch(&self, text: &str) {
        match io::stdout().is_terminal() {
            true => self.print(text),
            false => self.put(text),
        }
    }

    fn print(&self, text: &str) {
        self.put(&text::printable(text, self.output_color));
    }

    fn put(&self, text: &str) {
        self.progress.end();
        match &self.collected {
            Some(told) => told.borrow_mut().output.push_str(text),
            None => self.write(io::stdout(), "standard output", text),
        }
    }

    fn eprint(&self, text: &str) {
        let text = &*text::printable(text, self.color);
        self.progress.end();
        match &self.collected {
            Some(told) => told.borrow_mut().error.push_str(text),
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
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|value| value == "dumb")
}
