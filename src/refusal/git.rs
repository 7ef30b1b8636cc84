//! The refusals of git.

use crate::{
    advice::{Advice, Script},
    error::Failure,
    git::Error,
};

impl From<Error> for Failure {
    /// The refusal of every command that has to know whether a merge is unfinished. Of what git says, lines such as
    /// `git config --global --add safe.directory …` are advice, the others are reasons.
    fn from(error: Error) -> Self {
        let refused = Self::refused("git cannot say whether a merge is unfinished");
        let Error::Failed(text) = &error else {
            return refused
                .note(error.to_string())
                .note("install it first: the project is in a git repository")
                .advise(Advice::Again);
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (advice, reasons): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("git "));
        let refused = reasons.into_iter().fold(refused, Self::note);
        if advice.is_empty() {
            return refused.advise(Script::of("git status"));
        }
        let script = |line| Script::anywhere("").args(shlex::split(line).unwrap_or_default());
        advice.into_iter().map(script).fold(refused, Self::advise)
    }
}
