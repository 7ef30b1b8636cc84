//! Questions, on a terminal only; each names the flag that would have answered it.

use std::io::{IsTerminal, stderr, stdin};

use dialoguer::{Confirm, Input, theme::SimpleTheme};

use crate::{
    change::Policy,
    error::{Failure, Result},
};

/// Whether and how to ask.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    allowed: bool,
}

impl Prompt {
    /// Asks only if `allowed` and both ends are a terminal.
    pub fn new(allowed: bool) -> Self {
        Self {
            allowed: allowed && stdin().is_terminal() && stderr().is_terminal(),
        }
    }

    /// Whether there is somebody to ask.
    pub fn is_allowed(self) -> bool {
        self.allowed
    }

    /// The flag's value, or an answer that `parse` accepts.
    ///
    /// Errors: without a terminal a missing value is a usage error that names the flag, says `why` it is needed, and
    /// shows `example`.
    pub fn value<T>(
        self,
        flag: &str,
        question: &str,
        given: Option<&str>,
        (why, example): (&str, &str),
        parse: impl Fn(&str) -> Result<T>,
    ) -> Result<T> {
        if let Some(text) = given {
            return parse(text);
        }
        if !self.allowed {
            return Err(Failure::usage(format!("`{flag}` is missing"))
                .note(why)
                .help(example.to_owned()));
        }
        let answer: String = Input::with_theme(&SimpleTheme)
            .with_prompt(format!("{question} ({flag})"))
            .validate_with(|text: &String| parse(text).map(drop).map_err(|failure| failure.error))
            .interact_text()
            .map_err(unanswered)?;
        parse(&answer)
    }

    /// The flag's value, or an answer; `default` without a terminal.
    pub fn yes(
        self,
        flag: &str,
        question: &str,
        given: Option<bool>,
        default: bool,
    ) -> Result<bool> {
        match given {
            Some(value) => Ok(value),
            None if !self.allowed => Ok(default),
            None => Confirm::with_theme(&SimpleTheme)
                .with_prompt(format!("{question} ({flag})"))
                .default(default)
                .interact()
                .map_err(unanswered),
        }
    }

    /// What to do with a file in the way; `rest` more come after it.
    pub fn conflict(self, path: &str, reason: &str, rest: usize) -> Result<Answer> {
        let all = match rest {
            0 => String::new(),
            n => format!("; a capital letter goes for the other {n}, too"),
        };
        let answer: String = Input::with_theme(&SimpleTheme)
            .with_prompt(format!(
                "`{path}` {reason}. Keep it, take what is generated, write both with conflict markers, or abort? \
                 [k/t/m/a{all}] (--on-conflict)"
            ))
            .validate_with(|text: &String| match Answer::parse(text) {
                Some(_) => Ok(()),
                None => Err("k, t, m or a"),
            })
            .interact_text()
            .map_err(unanswered)?;
        Answer::parse(&answer)
            .ok_or_else(|| Failure::refused("no answer").help("--on-conflict keep"))
    }
}

/// What to do with a file in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What to do with this one.
    pub policy: Policy,
    /// Whether the rest is to be treated alike.
    pub for_the_rest: bool,
}

impl Answer {
    /// The letter of a policy; a capital one goes for the rest, too.
    pub fn parse(text: &str) -> Option<Self> {
        let policy = match text.trim().to_ascii_lowercase().as_str() {
            "k" | "keep" => Policy::Keep,
            "t" | "take" => Policy::Take,
            "m" | "markers" => Policy::Markers,
            "a" | "abort" => Policy::Abort,
            _ => return None,
        };
        let for_the_rest = text.trim().starts_with(|c: char| c.is_ascii_uppercase());
        Some(Self {
            policy,
            for_the_rest,
        })
    }
}

fn unanswered(error: dialoguer::Error) -> Failure {
    Failure::refused(format!("no answer: {error}"))
        .help("answer with flags, and add --no-input".to_owned())
}
