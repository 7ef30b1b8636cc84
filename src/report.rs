//! Everything the terminal shows: a verb column on standard error, diffs and JSON on standard output.
//!
//! Invariant: nothing else in the program writes to the terminal, so a quiet run is quiet and JSON is the only thing on
//! standard output when it was asked for. What runs commands in its own process collects the words instead.

mod compat;
mod drift;
mod json;
mod place;
mod status;
mod text;

use std::{
    cell::{OnceCell, RefCell},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

pub use self::compat::Comparison;
pub use self::drift::{Drift, DriftKind};
use self::place::Place;
pub use self::status::{FileStatus, State, StatusReport};
use crate::{
    change::{Change, ChangeSet},
    cli::{Color, Global, Output},
    error::Failure,
    tree::{Content, RelPath},
};

/// What a command did or would do.
#[derive(Clone, Copy)]
pub struct Outcome<'a> {
    /// `create api`.
    pub command: &'static str,
    /// All of it.
    pub set: &'a ChangeSet,
    /// Of the files that go away and those that are new, what is the same file.
    pub moved: &'a [Moved],
    /// Remarks about flags and surroundings; they leave nothing to do.
    pub remarks: &'a [String],
    /// What to do next: each a sentence and perhaps a line to paste.
    pub next: &'a [(String, Option<String>)],
}

/// What was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// On standard output.
    pub output: String,
    /// On standard error.
    pub error: String,
}

/// A file of the user's that goes elsewhere, and is changed on the way.
#[derive(Clone, Debug)]
pub struct Moved {
    /// Where it was.
    pub from: RelPath,
    /// Where it goes.
    pub to: RelPath,
    /// What it held.
    pub before: Vec<u8>,
    /// What it will hold.
    pub after: Content,
}

/// How to speak.
#[derive(Clone, Debug)]
pub struct Report {
    output: Output,
    quiet: bool,
    color: bool,
    dry_run: bool,
    diff: bool,
    /// Where the command works.
    place: Place,
    /// What happened before the command began, for whatever is told of it.
    before: Vec<String>,
    /// Where the words go, if not to the terminal.
    collected: Option<RefCell<Told>>,
    /// Why some of the words are lost.
    lost: OnceCell<String>,
}

impl Report {
    /// From the flags of the command line and the kind of terminal.
    pub fn new(flags: &Global) -> Self {
        Self {
            output: flags.output,
            quiet: flags.quiet,
            color: Self::wants_color(flags.color),
            dry_run: flags.dry_run,
            diff: flags.diff,
            place: Place::new(&flags.directory),
            before: Vec::new(),
            collected: None,
            lost: OnceCell::new(),
        }
    }

    /// The same, in silence: [`Report::told`] has the words.
    pub fn collecting(flags: &Global) -> Self {
        Self {
            collected: Some(RefCell::default()),
            ..Self::new(flags)
        }
    }

    /// What was told so far; nothing where it went to the terminal.
    pub fn told(&self) -> Told {
        let collected = self.collected.as_ref();
        collected.map_or_else(Told::default, |told| told.borrow().clone())
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
            color: Self::wants_color(Color::Auto),
            dry_run: false,
            diff: false,
            place: Place::new(directory),
            before: Vec::new(),
            collected: None,
            lost: OnceCell::new(),
        }
    }

    fn wants_color(color: Color) -> bool {
        match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
                    && io::stderr().is_terminal()
            }
        }
    }

    /// Adds what happened before the command began: it comes first in whatever is told of the command.
    pub fn add_remarks(&mut self, remarks: Vec<String>) {
        self.before.extend(remarks);
    }

    /// Says in which directory the project is.
    pub fn set_project(&mut self, directory: PathBuf) {
        self.place = self.place.clone().with_project(directory);
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
        let line = |line: &String| match outcome.command {
            // It begins with going there.
            "init" => line.clone(),
            _ => self.place.line(line),
        };
        let next = outcome.next.iter();
        let next: Vec<_> = next
            .map(|(sentence, paste)| (sentence.clone(), paste.as_ref().map(line)))
            .collect();
        let outcome = &Outcome {
            next: &next,
            ..*outcome
        };
        match self.output {
            Output::Json => {
                let remarks: Vec<String> =
                    self.before.iter().chain(outcome.remarks).cloned().collect();
                let outcome = Outcome {
                    remarks: &remarks,
                    ..*outcome
                };
                self.print(&json::outcome(&outcome, self.dry_run, self.diff));
            }
            Output::Text => {
                self.eprint(&text::warnings(&self.before, self.color));
                if self.diff {
                    self.print(&text::diffs(outcome));
                } else if !self.quiet {
                    self.print(&text::overwritten(outcome));
                }
                self.eprint(&text::outcome(
                    outcome,
                    self.dry_run,
                    self.quiet,
                    self.color,
                ));
            }
        }
    }

    /// Tells what was done, where a [`Report::proposal`] was agreed to.
    pub fn done(&self, outcome: &Outcome<'_>) {
        self.eprint(&text::outcome(outcome, false, self.quiet, self.color));
    }

    /// Shows how files differ from what is generated.
    pub fn differences(&self, outcome: &Outcome<'_>) {
        self.print(&match self.output {
            Output::Json => json::outcome(outcome, true, true),
            Output::Text => text::diffs(outcome),
        });
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
        let failed = failed.map(|failed| self.place.failure(failed.clone()));
        let failed = failed.as_ref();
        match self.output {
            Output::Json => self.print(&json::check(outcome, drifts, failed, self.diff)),
            Output::Text => {
                if self.diff {
                    self.print(&text::diffs(outcome));
                }
                self.eprint(&text::check(outcome, failed, self.quiet, self.color));
            }
        }
    }

    /// Tells what `check --crds` found; it fails where there is a failure.
    pub fn comparison(&self, comparison: &Comparison<'_>, failed: Option<&Failure>) {
        let failed = failed.map(|failed| self.place.failure(failed.clone()));
        let failed = failed.as_ref();
        match self.output {
            Output::Json => self.print(&comparison.json(failed)),
            Output::Text => self.eprint(&comparison.text(failed, self.quiet, self.color)),
        }
    }

    /// Shows what each file is.
    pub fn status(&self, status: &StatusReport<'_>) {
        let mut lines = status.set.makes_room();
        lines.push("operator-forge sync".to_owned());
        let instead = status.instead.iter().map(|line| self.place.line(line));
        let sync = match status.instead {
            [] => self.place.line(&lines.join(" && ")),
            // Each is done with something left for the next one, exit code 3.
            _ => instead.collect::<Vec<_>>().join("; "),
        };
        self.print(&match self.output {
            Output::Json => status.json(),
            Output::Text => status.text(&sync, &self.place, self.quiet, self.color),
        });
    }

    /// Tells why nothing was done.
    pub fn failure(&self, failure: &Failure) {
        let failure = self.place.failure(failure.clone());
        let failure = &self.before.iter().fold(failure, Failure::note);
        match self.output {
            Output::Json => self.print(&json::failure(failure)),
            Output::Text => self.eprint(&text::failure(failure, self.color)),
        }
    }

    /// Shows what a question is about.
    pub fn diff(&self, change: &Change) {
        self.print(&text::diff(change));
    }

    /// Prints a text that was asked for (a version, a script) on standard output.
    pub fn text(&self, text: &str) {
        self.print(text);
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
            .help("operator-forge status");
        self.eprint(&text::failure(&failure, self.color));
        1
    }

    fn print(&self, text: &str) {
        match &self.collected {
            Some(told) => told.borrow_mut().output.push_str(text),
            None => self.write(io::stdout(), "standard output", text),
        }
    }

    fn eprint(&self, text: &str) {
        let text = &*text::printable(text, self.color);
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
