//! Questions, on a terminal only; each names the flag that would have answered it.
//!
//! Invariant: an answer is a line, which the terminal itself edits. So a question of any length is printed once, Ctrl-C and Ctrl-D
//! end it, and lines that were pasted after the answer are left to the shell.

use std::io::{IsTerminal, stderr, stdin};

use crate::{
    advice::Advice,
    change::Policy,
    error::{Failure, Result},
    report::Report,
};

/// The most choices that are listed. Of more, a part of the name has to be typed first.
const LISTED: usize = 20;

/// Whether and how to ask.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    report: &'a Report,
    allowed: bool,
}

impl<'a> Prompt<'a> {
    /// A prompt that asks only if `allowed`, and on a terminal.
    pub fn new(report: &'a Report, allowed: bool) -> Self {
        let is_terminal = stdin().is_terminal() && stderr().is_terminal() && !report.is_json();
        Self {
            report,
            allowed: allowed && is_terminal,
        }
    }

    /// Whether a person can be asked.
    pub fn is_allowed(self) -> bool {
        self.allowed
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
        if !self.allowed {
            return Err(Failure::usage(format!("`{flag}` is missing"))
                .note(why)
                .advise(example));
        }
        let question = format!("{question} ({flag}): ");
        let parse = |text: &str| parse(text).map_err(|failure| failure.what);
        self.ask(&question, &example, parse)
    }

    /// The flag's value, or an answer; `default` without a terminal.
    pub fn yes(
        self,
        flag: &str,
        question: &str,
        given: Option<bool>,
        default: bool,
    ) -> Result<bool> {
        if given.is_some() || !self.allowed {
            return Ok(given.unwrap_or(default));
        }
        let choice = if default { "Y/n" } else { "y/N" };
        let question = format!("{question} [{choice}] ({flag}): ");
        self.ask(&question, &Advice::switch(flag), |text| {
            match text.trim().to_ascii_lowercase().as_str() {
                "" => Ok(default),
                "y" | "yes" => Ok(true),
                "n" | "no" => Ok(false),
                _ => Err("y or n".to_owned()),
            }
        })
    }

    /// The answers to a question that is asked again until one is empty; none without a terminal.
    pub fn each<T>(
        self,
        flag: &str,
        question: &str,
        example: &str,
        parse: impl Fn(&str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let question = format!("{question} ({flag}): ");
        let help = Advice::set(flag, example);
        let mut answers = Vec::new();
        if !self.allowed {
            return Ok(answers);
        }
        loop {
            let parse = |text: &str| match text.trim() {
                "" => Ok(None),
                text => parse(text).map(Some).map_err(|failure| failure.what),
            };
            match self.ask(&question, &help, parse)? {
                Some(answer) => answers.push(answer),
                None => return Ok(answers),
            }
        }
    }

    /// The policy for a conflict, which `rest` others follow.
    pub fn conflict(self, path: &str, reason: &str, rest: usize) -> Result<Answer> {
        let all = match rest {
            0 => String::new(),
            n => format!("; a capital letter answers for the other {n}, too"),
        };
        let question = format!(
            "`{path}` {reason}. Keep it, take the generated file, write both with conflict markers, or abort? \
             [k/t/m/a{all}] (--on-conflict): "
        );
        let keep = Advice::set("--on-conflict", "keep");
        self.ask(&question, &keep, |text| {
            Answer::parse(text).ok_or_else(|| "k, t, m or a".to_owned())
        })
    }

    /// The index of one of `items`, by its number or a part of its name. The `missing` flags would have named it.
    ///
    /// Errors: without a terminal, a usage error that lists `items`, and advises `help`.
    pub fn choose(
        self,
        question: &str,
        missing: &[&str],
        help: impl Into<Advice>,
        items: &[String],
    ) -> Result<usize> {
        if !self.allowed {
            return Err(none_named(missing, items).advise(help));
        }
        let help = help.into();
        let flags = missing.join(", ");
        let mut left: Vec<usize> = (0..items.len()).collect();
        loop {
            let is_listed = left.len() <= LISTED;
            let mut text = String::new();
            for (number, at) in left.iter().enumerate().filter(|_| is_listed) {
                text += &format!("{:>4}) {}\n", number + 1, items[*at]);
            }
            let how = match is_listed {
                true => "a number, or a part of a name".to_owned(),
                false => format!("a part of a name; there are {}", left.len()),
            };
            text += &format!("{question} [{how}] ({flags}): ");
            let found = self.ask(&text, &help, |answer| match narrow(items, &left, answer) {
                found if found.is_empty() => Err(format!("none of them is `{}`", answer.trim())),
                found => Ok(found),
            })?;
            match found[..] {
                [one] => return Ok(one),
                _ => left = found,
            }
        }
    }

    /// Asks until `parse` accepts the line. `help` is the advice to answer beforehand.
    fn ask<T>(
        self,
        question: &str,
        help: &Advice,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T> {
        let refused = |why: &str| {
            self.report.question("\n");
            Failure::refused(format!("no answer: {why}"))
                .note("nothing was written; the flag in brackets answers without a question")
                .advise(help.clone())
        };
        loop {
            self.report.question(question);
            let mut line = String::new();
            stdin()
                .read_line(&mut line)
                .map_err(|error| refused(&error.to_string()))?;
            let Some(answer) = line.strip_suffix('\n') else {
                return Err(refused("the input ended"));
            };
            match parse(answer) {
                Ok(answer) => return Ok(answer),
                Err(why) => self.report.question(&format!("  {why}\n")),
            }
        }
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

/// The items in `left` that an answer means: one by its number or its whole name, or all that contain it.
fn narrow(items: &[String], left: &[usize], answer: &str) -> Vec<usize> {
    let answer = answer.trim().to_lowercase();
    if left.len() <= LISTED
        && let Ok(number @ 1..) = answer.parse::<usize>()
        && let Some(at) = left.get(number - 1)
    {
        return vec![*at];
    }
    let is_whole = |at: &usize| items[*at].to_lowercase() == answer;
    if let Some(at) = left.iter().copied().find(is_whole) {
        return vec![at];
    }
    let contains = |at: &usize| !answer.is_empty() && items[*at].to_lowercase().contains(&answer);
    left.iter().copied().filter(contains).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_number_a_name_or_a_part_of_it() {
        let items = ["cache/v1 Redis", "cache/v1 RedisCluster", "web/v1 Page"].map(str::to_owned);
        let check = |left: &[usize], answer: &str, expected: &[usize]| {
            assert_eq!(narrow(&items, left, answer), expected, "{answer}");
        };
        check(&[0, 1, 2], "2", &[1]);
        check(&[0, 2], "2", &[2]);
        check(&[0, 1, 2], " PAGE ", &[2]);
        check(&[0, 1, 2], "redis", &[0, 1]);
        check(&[0, 1, 2], "cache/v1 redis", &[0]);
        check(&[0, 1, 2], "0", &[]);
        check(&[0, 1, 2], "4", &[]);
        check(&[0, 1, 2], "", &[]);
        let many: Vec<_> = (0..30).map(|number| format!("kind {number}")).collect();
        let all: Vec<_> = (0..30).collect();
        // Nothing was numbered.
        assert_eq!(narrow(&many, &all, "29"), [29]);
    }
}
