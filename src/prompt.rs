//! Questions, on a terminal only; each names the flag that would have answered it.

use std::io::{IsTerminal, stderr, stdin};

use dialoguer::{Input, theme::SimpleTheme};

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
        let check = |text: &str| parse(text).map(drop).map_err(|failure| failure.error);
        let prompt = format!("{question} ({flag})");
        parse(&ask(prompt, check("").is_ok(), check)?)
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
            None => {
                let choice = if default { "Y/n" } else { "y/N" };
                let prompt = format!("{question} [{choice}] ({flag})");
                let check = |text: &str| yes_or_no(text, default).map(drop).ok_or("y or n");
                let answer = ask(prompt, true, check)?;
                Ok(yes_or_no(&answer, default).unwrap_or(default))
            }
        }
    }

    /// What to do with a file in the way; `rest` more come after it.
    pub fn conflict(self, path: &str, reason: &str, rest: usize) -> Result<Answer> {
        let all = match rest {
            0 => String::new(),
            n => format!("; a capital letter goes for the other {n}, too"),
        };
        let prompt = format!(
            "`{path}` {reason}. Keep it, take what is generated, write both with conflict markers, or abort? \
             [k/t/m/a{all}] (--on-conflict)"
        );
        let check = |text: &str| Answer::parse(text).map(drop).ok_or("k, t, m or a");
        let answer = ask(prompt, false, check)?;
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

/// Asks until `check` accepts the line. It is a line everywhere: dialoguer hides the cursor while it waits for a single key,
/// and whoever ends the program then has none.
fn ask<E: ToString>(
    prompt: String,
    may_be_empty: bool,
    check: impl Fn(&str) -> Result<(), E>,
) -> Result<String> {
    Input::with_theme(&SimpleTheme)
        .with_prompt(prompt)
        .allow_empty(may_be_empty)
        .validate_with(|text: &String| check(text))
        .interact_text()
        .map_err(unanswered)
}

fn yes_or_no(text: &str, default: bool) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" => Some(default),
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

fn unanswered(error: dialoguer::Error) -> Failure {
    Failure::refused(format!("no answer: {error}"))
        .note("flags answer beforehand, with `--no-input` beside them")
        .help("--no-input")
}
