//! Questions, on a terminal only; each has a flag that answers it beforehand.
//!
//! Invariants: nothing is written before the last answer; Ctrl-C ends the command, and Escape or the end of the input the question; a
//! question of any length is printed once. Where the terminal can, questions are answered key by key (`keys`), elsewhere by lines
//! (`lines`).

mod keys;
mod lines;

use std::{
    env,
    io::{self, IsTerminal, stderr, stdin},
};

use dialoguer::console::Term;

use self::keys::Keys;
use self::lines::Lines;
use crate::{
    advice::{Advice, Flag},
    change::Policy,
    error::{Failure, Result},
    report::{Report, is_dumb},
};

/// The most items that a refusal or a question lists.
const LISTED: usize = 20;

/// Whether and how to ask.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    report: &'a Report,
    way: Way,
}

/// How a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Not at all.
    Never,
    /// By lines, which the terminal itself edits.
    Lines,
    /// Key by key.
    Keys,
}

/// Completes what is typed; `None` where nothing fits.
pub type Complete = fn(&str) -> Option<String>;

impl<'a> Prompt<'a> {
    /// A prompt that asks only if `allowed`, and on a terminal.
    pub fn new(report: &'a Report, allowed: bool) -> Self {
        let is_terminal = stdin().is_terminal() && stderr().is_terminal() && !report.is_json();
        // A terminal of MSYS on Windows is a pipe, which has lines only.
        let is_msys = Term::stderr().features().is_msys_tty();
        let is_unknown = cfg!(unix) && env::var_os("TERM").is_none();
        let has_lines_only = is_dumb() || is_unknown || is_msys;
        let way = match (allowed && is_terminal, has_lines_only) {
            (false, _) => Way::Never,
            (true, true) => Way::Lines,
            (true, false) => Way::Keys,
        };
        Self { report, way }
    }

    /// Whether a person can be asked.
    pub fn is_allowed(self) -> bool {
        self.way != Way::Never
    }

    /// The flag's value, or an answer that `parse` accepts.
    ///
    /// Errors: without a terminal, a usage error that names the flag, says `why` it is needed, and advises `example`.
    pub fn value<T>(
        self,
        flag: &str,
        question: &str,
        given: Option<&str>,
        (why, example): (&str, Advice),
        parse: impl Fn(&str) -> Result<T>,
    ) -> Result<T> {
        if let Some(text) = given {
            return parse(text);
        }
        if !self.is_allowed() {
            return Err(Failure::usage(format!("`{flag}` is missing"))
                .note(why)
                .advise(example));
        }
        let parse = |text: &str| parse(text).map_err(|failure| failure.what);
        self.line(question, flag, None, &example, parse)
    }

    /// The flag's value, or an answer; `default` without a terminal.
    pub fn yes(
        self,
        flag: &str,
        question: &str,
        given: Option<bool>,
        default: bool,
    ) -> Result<bool> {
        if given.is_some() || !self.is_allowed() {
            return Ok(given.unwrap_or(default));
        }
        self.yes_or_no(question, flag, &Advice::switch(flag), default)
    }

    fn yes_or_no(self, question: &str, flag: &str, help: &Advice, default: bool) -> Result<bool> {
        let choice = if default { "Y/n" } else { "y/N" };
        let question = format!("{question} [{choice}]");
        self.line(&question, flag, None, help, |text| {
            match text.trim().to_ascii_lowercase().as_str() {
                "" => Ok(default),
                "y" | "yes" => Ok(true),
                "n" | "no" => Ok(false),
                _ => Err("y or n".to_owned()),
            }
        })
    }

    /// The answers to a question until one is empty; none without a terminal. Where the first question is still in view, `another`
    /// stands for it.
    pub fn each<T>(
        self,
        flag: &str,
        question: &str,
        another: &str,
        (example, complete): (&str, Complete),
        parse: impl Fn(&str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let help = Advice::set(flag, example);
        let mut answers = Vec::new();
        if !self.is_allowed() {
            return Ok(answers);
        }
        loop {
            let parse = |text: &str| match text.trim() {
                "" => Ok(None),
                text => parse(text).map(Some).map_err(|failure| failure.what),
            };
            let question = match self.way {
                Way::Keys if !answers.is_empty() => another,
                _ => question,
            };
            match self.line(question, flag, Some(complete), &help, parse)? {
                Some(answer) => answers.push(answer),
                None => return Ok(answers),
            }
        }
    }

    /// The policy for a conflict, which `rest` others follow.
    pub fn conflict(self, path: &str, reason: &str, rest: usize) -> Result<Answer> {
        let keep = Advice::set("--on-conflict", "keep");
        if self.way != Way::Keys {
            let answer = Lines::new(self.report).conflict(path, reason, rest);
            return self.answered(answer, &keep);
        }
        let mut choices = Vec::new();
        for for_the_rest in [false, true] {
            for (policy, what) in POLICIES {
                match (for_the_rest, policy) {
                    (true, Policy::Abort) => {}
                    (true, _) if rest == 0 => {}
                    (true, _) => {
                        choices.push((policy, format!("{what}, and so the other {rest}"), true))
                    }
                    (false, _) => choices.push((policy, what.to_owned(), false)),
                }
            }
        }
        let items: Vec<String> = choices.iter().map(|(_, what, _)| what.clone()).collect();
        let question = format!("`{path}` {reason}.");
        let chosen = Keys::new(self.report).choose(&question, "--on-conflict", &items);
        let (policy, _, for_the_rest) = choices[self.answered(chosen, &keep)?];
        Ok(Answer {
            policy,
            for_the_rest,
        })
    }

    /// The index of one of `items`. The `missing` flags would have named it.
    ///
    /// Errors: without a terminal, a usage error that lists `items`, and advises `help`.
    pub fn choose(
        self,
        question: &str,
        missing: &[&str],
        help: impl Into<Advice>,
        items: &[String],
    ) -> Result<usize> {
        if !self.is_allowed() {
            return Err(none_named(missing, items).advise(help));
        }
        let flags = missing.join(", ");
        let chosen = match self.way {
            Way::Keys => Keys::new(self.report).choose(question, &flags, items),
            _ => Lines::new(self.report).choose(question, &flags, items),
        };
        self.answered(chosen, &help.into())
    }

    /// Whether a question may have a list with boxes. Elsewhere, each box is a question of its own.
    pub fn has_boxes(self) -> bool {
        // dialoguer needs three rows for them.
        self.way == Way::Keys && Keys::new(self.report).rows() >= 3
    }

    /// Which of some switches a person wants, each with its flag and its question; those that are `on` are preselected. Without a
    /// terminal, they stay as they are.
    pub fn switches<const N: usize>(
        self,
        question: &str,
        switches: &[(Flag, &str); N],
        on: [bool; N],
    ) -> Result<[bool; N]> {
        let mut chosen = on;
        if self.has_boxes() {
            let boxes = switches.iter().map(|(flag, question)| {
                let question = question.trim_end_matches('?');
                (flag.words().join(" "), format!(": {question}"))
            });
            let boxes: Vec<(String, String)> = boxes.collect();
            let answer = Keys::new(self.report).several(question, &boxes, &on);
            let first = switches.iter().take(1).map(|(flag, _)| flag.clone());
            let found = self.answered(answer, &Advice::set_all(first))?;
            return Ok(std::array::from_fn(|at| found.contains(&at)));
        }
        if self.is_allowed() {
            for ((flag, question), chosen) in switches.iter().zip(&mut chosen) {
                let help = Advice::set_all([flag.clone()]);
                *chosen = self.yes_or_no(question, &flag.words().join(" "), &help, *chosen)?;
            }
        }
        Ok(chosen)
    }

    /// An answer that `parse` accepts.
    fn line<T>(
        self,
        question: &str,
        flag: &str,
        complete: Option<Complete>,
        help: &Advice,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T> {
        let answer = match self.way {
            Way::Keys => Keys::new(self.report).line(question, flag, complete, parse),
            _ => Lines::new(self.report).line(question, flag, parse),
        };
        self.answered(answer, help)
    }

    /// The answer, or the refusal of a question that ended without one; `help` is the advice to answer beforehand.
    fn answered<T>(self, answer: io::Result<Option<T>>, help: &Advice) -> Result<T> {
        let why = match answer {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) if self.way == Way::Keys => "the question was left".to_owned(),
            Ok(None) => "the input ended".to_owned(),
            Err(error) => error.to_string(),
        };
        self.report.question("\n");
        Err(Failure::refused(format!("no answer: {why}"))
            .note("nothing was written; a flag answers without a question")
            .advise(help.clone()))
    }
}

/// The refusal where nobody can be asked to choose.
fn none_named(missing: &[&str], items: &[String]) -> Failure {
    let flags: Vec<String> = missing.iter().map(|flag| format!("`{flag}`")).collect();
    let is = if flags.len() == 1 { "is" } else { "are" };
    let shown = items.iter().take(LISTED).map(|item| format!("`{item}`"));
    let more = items.len().checked_sub(LISTED).filter(|more| *more > 0);
    let names: Vec<String> = shown
        .chain(more.map(|more| format!("{more} more")))
        .collect();
    Failure::usage(format!("{} {is} missing", flags.join(" and ")))
        .note(format!("there are: {}", names.join(", ")))
}

/// An answer about a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The policy for this conflict.
    pub policy: Policy,
    /// Whether the policy is for all following conflicts, too.
    pub for_the_rest: bool,
}

impl Answer {
    /// Reads the letter or the word of a policy; a capital letter is for the following conflicts, too.
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

/// The policies of a conflict as a person reads them.
const POLICIES: [(Policy, &str); 4] = [
    (Policy::Keep, "keep it"),
    (Policy::Take, "take the generated file"),
    (Policy::Markers, "write both with conflict markers"),
    (Policy::Abort, "abort"),
];
