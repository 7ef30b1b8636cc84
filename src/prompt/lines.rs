//! Questions that are answered by a line, which the terminal itself edits: where `TERM` is `dumb`. Lines that were pasted after the
//! answer are left to the shell.

use std::io::{self, stdin};

use super::{Answer, LISTED};
use crate::report::Report;

/// Asks by lines. Each answer is `None` where the input ended.
pub struct Lines<'a> {
    report: &'a Report,
}

impl<'a> Lines<'a> {
    pub fn new(report: &'a Report) -> Self {
        Self { report }
    }

    /// An answer that `parse` accepts.
    pub fn line<T>(
        &self,
        question: &str,
        flag: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> io::Result<Option<T>> {
        self.ask(&format!("{question} ({flag}): "), parse)
    }

    /// The policy for a conflict, which `rest` others follow.
    pub fn conflict(&self, path: &str, reason: &str, rest: usize) -> io::Result<Option<Answer>> {
        let all = match rest {
            0 => String::new(),
            n => format!("; a capital letter answers for the other {n}, too"),
        };
        let question = format!(
            "`{path}` {reason}. Keep it, take the generated file, write both with conflict markers, or abort? \
             [k/t/m/a{all}] (--on-conflict): "
        );
        self.ask(&question, |text| {
            Answer::parse(text).ok_or_else(|| "k, t, m or a".to_owned())
        })
    }

    /// The index of one of `items`, by its number or a part of its name.
    pub fn choose(
        &self,
        question: &str,
        flags: &str,
        items: &[String],
    ) -> io::Result<Option<usize>> {
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
            let found = self.ask(&text, |answer| match narrow(items, &left, answer) {
                found if found.is_empty() => Err(format!("none of them is `{}`", answer.trim())),
                found => Ok(found),
            })?;
            match found.as_deref() {
                None => return Ok(None),
                Some([one]) => return Ok(Some(*one)),
                Some(found) => left = found.to_vec(),
            }
        }
    }

    /// Asks until `parse` accepts the line.
    fn ask<T>(
        &self,
        question: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> io::Result<Option<T>> {
        loop {
            self.report.question(question);
            let mut line = String::new();
            stdin().read_line(&mut line)?;
            let Some(answer) = line.strip_suffix('\n') else {
                return Ok(None);
            };
            match parse(answer) {
                Ok(answer) => return Ok(Some(answer)),
                Err(why) => self.report.question(&format!("  {why}\n")),
            }
        }
    }
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
