//! Questions that are answered key by key, with dialoguer.
//!
//! dialoguer's questions for a line and for yes or no know neither Escape nor Ctrl-D. So the first key of a line is read here, and a
//! yes or no is one key. Lists end at Escape. Ctrl-C ends the program everywhere, as a signal.

use std::io;

use dialoguer::console::{Key, Term, measure_text_width, truncate_str};
use dialoguer::{Completion, FuzzySelect, Input, MultiSelect};

use super::Complete;
use crate::report::Report;

/// Columns that stay free for an answer beside its question.
const ANSWER: usize = 24;
/// Columns of the mark of an item that is selected, and of its box.
const MARK: usize = 8;

/// Asks key by key. Each answer is `None` where a key ended the question.
pub struct Keys<'a> {
    report: &'a Report,
    term: Term,
}

impl Completion for CompleteBy {
    fn get(&self, input: &str) -> Option<String> {
        (self.0)(input)
    }
}

struct CompleteBy(Complete);

impl<'a> Keys<'a> {
    pub fn new(report: &'a Report) -> Self {
        Self {
            report,
            term: terminal(),
        }
    }

    /// An answer that `parse` accepts. One that it refuses can be corrected.
    pub fn line<T>(
        &self,
        question: &str,
        flag: &str,
        complete: Option<Complete>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> io::Result<Option<T>> {
        let question = self.beside(question, flag);
        let mut text = String::new();
        loop {
            let Some(answer) = self.edited(&question, text, complete)? else {
                return Ok(None);
            };
            self.report.question(&format!("{question}: {answer}\n"));
            match parse(&answer) {
                Ok(answer) => return Ok(Some(answer)),
                Err(why) => self.report.question(&format!("  {why}\n")),
            }
            text = answer;
        }
    }

    /// Yes or no, by one key.
    pub fn yes(&self, question: &str, flag: &str, default: bool) -> io::Result<Option<bool>> {
        let question = self.beside(question, flag);
        let choice = if default { "Y/n" } else { "y/N" };
        let asked = format!("{question} [{choice}]: ");
        self.report.question(&asked);
        let answer = loop {
            match self.term.read_key()? {
                key if is_end(&key) => return Ok(None),
                Key::Enter => break default,
                Key::Char('y' | 'Y') => break true,
                Key::Char('n' | 'N') => break false,
                _ => {}
            }
        };
        self.clear(&asked)?;
        let word = if answer { "yes" } else { "no" };
        self.report.question(&format!("{question}: {word}\n"));
        Ok(Some(answer))
    }

    /// The index of one of `items`, which are narrowed by what is typed.
    pub fn choose(
        &self,
        question: &str,
        flags: &str,
        items: &[String],
    ) -> io::Result<Option<usize>> {
        let prompt = self.beside(question, flags);
        let select = FuzzySelect::new()
            .with_prompt(format!("{prompt}:"))
            .items(self.shown(items))
            .default(0)
            .report(false);
        let chosen = select
            .interact_on_opt(&self.term)
            .map_err(io::Error::from)?;
        if let Some(at) = chosen {
            self.report.question(&format!("{prompt}: {}\n", items[at]));
        }
        Ok(chosen)
    }

    /// The indices of the boxes that are checked; those that are `on` are so at first. Each box has a name and what it means.
    pub fn several(
        &self,
        question: &str,
        boxes: &[(String, String)],
        on: &[bool],
    ) -> io::Result<Option<Vec<usize>>> {
        let room = self.columns().saturating_sub(MARK);
        let shown = boxes.iter().map(|(name, what)| {
            let line = format!("{name}{what}");
            truncate_str(&line, room, "…").into_owned()
        });
        let select = MultiSelect::new()
            .with_prompt(format!("{question} Space selects"))
            .items(shown)
            .defaults(on)
            .report(false);
        let chosen = select
            .interact_on_opt(&self.term)
            .map_err(io::Error::from)?;
        if let Some(chosen) = &chosen {
            let names: Vec<&str> = chosen.iter().map(|at| boxes[*at].0.as_str()).collect();
            let names = match names[..] {
                [] => "none".to_owned(),
                _ => names.join(", "),
            };
            self.report.question(&format!("{question} {names}\n"));
        }
        Ok(chosen)
    }

    /// The question and its flag, as far as an answer fits beside them. A longer question is printed above, and the flag stays.
    fn beside(&self, question: &str, flag: &str) -> String {
        let line = format!("{question} ({flag})");
        let columns = self.columns();
        if measure_text_width(&line) + ANSWER.min(columns / 3) <= columns {
            return line;
        }
        self.report.question(&wrapped(question, columns));
        format!("  {flag}")
    }

    /// What is typed behind the question, which starts as `text`.
    fn edited(
        &self,
        question: &str,
        text: String,
        complete: Option<Complete>,
    ) -> io::Result<Option<String>> {
        let asked = format!("{question}: {text}");
        self.report.question(&asked);
        let first = loop {
            match self.term.read_key()? {
                key if is_end(&key) => return Ok(None),
                Key::Enter => {
                    self.clear(&asked)?;
                    return Ok(Some(text));
                }
                Key::Backspace => break but_last(&text),
                Key::Char(key) if !key.is_control() => break format!("{text}{key}"),
                Key::Tab => break complete.and_then(|it| it(&text)).unwrap_or(text),
                Key::ArrowLeft | Key::ArrowRight => break text,
                _ => {}
            }
        };
        self.clear(&asked)?;
        let complete = complete.map(CompleteBy);
        let mut input = Input::<String>::new()
            .with_prompt(question)
            .with_initial_text(first)
            .allow_empty(true)
            .report(false);
        if let Some(complete) = &complete {
            input = input.completion_with(complete);
        }
        let answer = input
            .interact_text_on(&self.term)
            .map_err(io::Error::from)?;
        self.clear(&format!("{question}: {answer}"))?;
        Ok(Some(answer))
    }

    /// Clears the lines of a text at whose end the cursor is.
    fn clear(&self, text: &str) -> io::Result<()> {
        let above = measure_text_width(text).saturating_sub(1) / self.columns();
        self.term.clear_line()?;
        self.term.clear_last_lines(above)
    }

    /// The items as they fit into a line: of a longer one, the end, which tells it from others.
    fn shown(&self, items: &[String]) -> Vec<String> {
        let room = self.columns().saturating_sub(MARK);
        let end = |item: &String| match item.chars().count() {
            long if long > room => {
                let end = item.chars().skip(long - room + 1);
                format!("…{}", end.collect::<String>())
            }
            _ => item.clone(),
        };
        let shown: Vec<String> = items.iter().map(end).collect();
        let mut different = shown.clone();
        different.sort();
        different.dedup();
        match different.len() == items.len() {
            true => shown,
            false => items.to_vec(),
        }
    }

    fn columns(&self) -> usize {
        usize::from(self.term.size().1).max(20)
    }
}

/// Whether a key ends a question: Escape, or Ctrl-D.
fn is_end(key: &Key) -> bool {
    matches!(key, Key::Escape | Key::Char('\u{4}'))
}

fn but_last(text: &str) -> String {
    let mut text = text.to_owned();
    text.pop();
    text
}

/// Lines of at most `columns`, broken between words.
fn wrapped(text: &str, columns: usize) -> String {
    let mut lines = String::new();
    let mut line = 0;
    for word in text.split(' ') {
        let width = measure_text_width(word);
        if line > 0 && line + 1 + width > columns {
            lines.push('\n');
            line = 0;
        } else if line > 0 {
            lines.push(' ');
            line += 1;
        }
        lines += word;
        line += width;
    }
    lines + "\n"
}

#[cfg(unix)]
fn terminal() -> Term {
    use std::io::{Stderr, Write};
    use std::os::fd::{AsRawFd, RawFd};

    /// Standard error, on which the cursor stays visible: a program that Ctrl-C ends in a list could not show it again.
    #[derive(Debug)]
    struct Visible(Stderr);

    impl Write for Visible {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match bytes {
                b"\x1b[?25l" => Ok(bytes.len()),
                _ => self.0.write(bytes),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl AsRawFd for Visible {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_raw_fd()
        }
    }

    Term::read_write_pair(io::stdin(), Visible(io::stderr()))
}

#[cfg(not(unix))]
fn terminal() -> Term {
    Term::stderr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_broken_between_words() {
        let check = |text: &str, columns: usize, expected: &str| {
            assert_eq!(wrapped(text, columns), expected, "{text} at {columns}");
        };
        check("a question", 20, "a question\n");
        check("a question", 10, "a question\n");
        check("a question", 9, "a\nquestion\n");
        check("one two three four", 9, "one two\nthree\nfour\n");
        check("verylongword", 4, "verylongword\n");
    }
}
