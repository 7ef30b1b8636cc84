//! Failures: why a command ends without success, and what to do about it.
//!
//! Invariant: every failure that a user can cause has advice. What nobody expects is an [`anyhow::Error`] until it gets here.

use std::fmt;

use crate::advice::{Advice, Script};

/// The result of an operation that can be refused.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// The kind of a failure, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The command was refused or failed: exit code 1.
    Refused,
    /// The command line itself is wrong: exit code 2.
    Usage,
    /// Another process works in the project, or did since the command read it. The command is run again for a while, then
    /// exits with 1.
    Busy,
}

/// The reason that a command does not succeed: error, notes, advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Decides the exit code.
    pub kind: FailureKind,
    /// The error: a lower-case fragment with the user's text in backticks.
    pub what: String,
    /// Reasons and circumstances, a fragment each.
    pub notes: Vec<String>,
    /// What a person can do about it, the best first.
    pub advice: Vec<Advice>,
}

impl Failure {
    /// A refusal (exit code 1).
    pub fn refused(what: impl Into<String>) -> Self {
        Self {
            kind: FailureKind::Refused,
            what: what.into(),
            notes: Vec::new(),
            advice: Vec::new(),
        }
    }

    /// Another process works in the project (exit code 1).
    pub fn busy(what: impl Into<String>) -> Self {
        Self {
            kind: FailureKind::Busy,
            ..Self::refused(what)
        }
    }

    /// A usage error (exit code 2).
    pub fn usage(what: impl Into<String>) -> Self {
        Self {
            kind: FailureKind::Usage,
            ..Self::refused(what)
        }
    }

    /// Adds a reason.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<Advice>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Advises a newer operator-forge: from the registry, if this one may have come from there.
    #[must_use]
    pub fn newer_tool(self) -> Self {
        match option_env!("OPERATOR_FORGE_RUNTIME") {
            Some("registry") => self.advise(Script::anywhere("cargo install operator-forge")),
            _ => self
                .note("a newer operator-forge reads it: `git pull && make install` where this one was built")
                .advise(Advice::Again),
        }
    }

    /// The exit code: 1 refused or failed, 2 usage.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::Refused | FailureKind::Busy => 1,
            FailureKind::Usage => 2,
        }
    }
}

impl From<anyhow::Error> for Failure {
    /// What nobody expected, with its context: the outermost is the error, and what caused it are notes.
    fn from(error: anyhow::Error) -> Self {
        let causes = error.chain().skip(1).map(ToString::to_string);
        causes
            .fold(Self::refused(error.to_string()), Self::note)
            .note("this is a bug in operator-forge, not in your project")
            .note("report it with the command you ran, your PROJECT file and the version")
            .advise(Script::forge("version"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Failure {}
