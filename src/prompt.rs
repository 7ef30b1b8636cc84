//! Questions, on a terminal only; each names the flag that would have answered it.
//!
//! Invariant: an answer is a line, which the terminal edits itself. So a question is printed once however long it is, Ctrl-C
//! and Ctrl-D end it, and lines that were pasted behind the answer stay for the shell.

use std::io::{IsTerminal, stderr, stdin};

use crate::{
    advice::Advice,
    change::Policy,
    error::{Failure, Result},
    report::Report,
};

/// More choices than this are not listed before a part of their name was typed.
const LISTED: usize = 20;

/// Whether and how to ask.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    report: &'a Report,
    allowed: bool,
}

impl<'a> Prompt<'a> {
    /// Asks only if `allowed`, and a person is at both ends.
    pub fn new(report: &'a Report, allowed: bool) -> Self {
        let is_person = stdin().is_terminal() && stderr().is_terminal() && !report.is_json();
        Self {
            report,
            allowed: allowed && is_person,
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
        match given {
            Some(value) => Ok(value),
            None if !self.allowed => Ok(default),
            None => {
                let choice = if default { "Y/n" } else { "y/N" };
                let question = format!("{question} [{choice}] ({flag}): ");
                self.ask(&question, &Advice::switch(flag), |text| {
                    yes_or_no(text, default).ok_or_else(|| "y or n".to_owned())
                })
            }
        }
    }

    /// What to do with a file in the way; `rest` more come after it.
    pub fn conflict(self, path: &str, reason: &str, rest: usize) -> Result<Answer> {
        let all = match rest {
            0 => String::new(),
            n => format!("; a capital letter goes for the other {n}, too"),
        };
        let question = format!(
            "`{path}` {reason}. Keep it, take what is generated, write both with conflict markers, or abort? \
             [k/t/m/a{all}] (--on-conflict): "
        );
        let keep = Advice::set("--on-conflict", "keep");
        self.ask(&question, &keep, |text| {
            Answer::parse(text).ok_or_else(|| "k, t, m or a".to_owned())
        })
    }

    /// Which of `items`: its number, or a part of its name. The `missing` flags would have named it.
    ///
    /// Errors: without a terminal, a usage error that lists what there is; `help` names one.
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

    /// Asks until `parse` accepts the line. `help` answers without a question.
    fn ask<T>(
        self,
        question: &str,
        help: &Advice,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T> {
        let refused = |why: &str| {
            self.report.question("\n");
            Failure::refused(format!("no answer: {why}"))
                .note("nothing was written; the flag in brackets answers beforehand")
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

/// The refusal where nobody can choose.
fn none_named(missing: &[&str], items: &[String]) -> Failure {
    let flags: Vec<String> = missing.iter().map(|flag| format!("`{flag}`")).collect();
    let is = if flags.len() == 1 { "is" } else { "are" };
    let failure = Failure::usage(format!("{} {is} missing", flags.join(" and ")));
    let mut names: Vec<String> = items
        .iter()
        .take(LISTED)
        .map(|item| format!("`{item}`"))
        .collect();
    if items.len() > LISTED {
        names.push(format!("{} more", items.len() - LISTED));
    }
    failure.note(format!("there are: {}", names.join(", ")))
}

/// Those of `items` in `left` that an answer means: one by its number or its whole name, or all that contain it.
fn narrow(items: &[String], left: &[usize], answer: &str) -> Vec<usize> {
    let answer = answer.trim().to_lowercase();
    let numbered = answer
        .parse::<usize>()
        .ok()
        .filter(|_| left.len() <= LISTED);
    if let Some(at) = numbered.and_then(|number| left.get(number.checked_sub(1)?)) {
        return vec![*at];
    }
    let is_whole = |at: &usize| items[*at].to_lowercase() == answer;
    if let Some(at) = left.iter().copied().find(is_whole) {
        return vec![at];
    }
    let contains = |at: &usize| !answer.is_empty() && items[*at].to_lowercase().contains(&answer);
    left.iter().copied().filter(contains).collect()
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

fn yes_or_no(text: &str, default: bool) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" => Some(default),
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
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
