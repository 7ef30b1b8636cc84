//! What a command says when it cannot do what was asked.
//!
//! Invariant: every failure a user can cause is a [`Failure`] with a pasteable `help`; anything else is a bug or the
//! operating system's word, wrapped with the path it was about.

use std::fmt;

use crate::advice::{Advice, Script};

/// The result of everything that can refuse.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a command ends without success; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Understood and refused, or failed on the way: exit code 1.
    Refused,
    /// The command line itself is wrong: exit code 2.
    Usage,
    /// Another process is at work in the project, or was since the command read it: exit code 1, if running the command again
    /// for a while does not help.
    Busy,
}

/// A refusal: what was found, where and why, and what to type instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Decides the exit code.
    pub kind: FailureKind,
    /// A lower-case fragment with the user's own text in backticks.
    pub what: String,
    /// Reasons and circumstances, one sentence fragment each.
    pub notes: Vec<String>,
    /// What to do about it, the best first.
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

    /// Another process is at work (exit code 1).
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

    /// Adds what to do about it.
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

    /// The advice without a command line, for tests.
    #[cfg(test)]
    pub fn lines(&self) -> Vec<String> {
        self.advice.iter().map(crate::shell::plain).collect()
    }

    /// The exit code of DESIGN §5: 1 refused or failed, 2 usage.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::Refused | FailureKind::Busy => 1,
            FailureKind::Usage => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Failure {}
