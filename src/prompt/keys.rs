//! Questions that are answered key by key: lists and boxes with dialoguer, lines on its `console`.
//!
//! dialoguer's own questions for a line know neither Escape nor Ctrl-D, and miscount the rows of a long answer. Ctrl-C ends the program
//! everywhere, as a signal; Escape ends a question.

use std::io;

use dialoguer::console::{Key, Term, measure_text_width, truncate_str};
use dialoguer::{FuzzySelect, MultiSelect};

use super::Complete;
use crate::report::{Report, printable};

/// Columns that stay free for an answer beside its question.
const ANSWER: usize = 24;
/// Columns of the mark of an item that is selected, and of its box.
const MARK: usize = 8;

/// Asks key by key. Each answer is `None` where a key ended the question.
pub struct Keys<'a> {
    report: &'a Report,
    term: Term,
}

/// A line while it is typed.
struct Line {
    text: Vec<char>,
    /// The number of characters before the cursor.
    at: usize,
    /// The row of the cursor, from the first row of the question.
    row: usize,
}

impl<'a> Keys<'a> {
    pub fn new(report: &'a Report) -> Self {
        // Ends what shows the progress of the command, which would draw over a list.
        report.question("");
        Self {
            report,
            term: terminal(),
        }
    }

    /// The rows of the terminal.
    pub fn rows(&self) -> usize {
        self.term.size().0.into()
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
            let Some(answer) = self.edited(&format!("{question} "), &text, complete)? else {
                return Ok(None);
            };
            match parse(&answer) {
                Ok(answer) => return Ok(Some(answer)),
                Err(why) => self.report.question(&format!("  {why}\n")),
            }
            text = answer;
        }
    }

    /// The index of one of `items`, which are narrowed by what is typed.
    pub fn choose(
        &self,
        question: &str,
        flags: &str,
        items: &[String],
    ) -> io::Result<Option<usize>> {
        let prompt = self.beside(question, flags);
        let items: Vec<String> = items.iter().map(|it| printable(it).into_owned()).collect();
        let select = FuzzySelect::new()
            .with_prompt(&prompt)
            .items(self.shown(&items))
            .default(0)
            .highlight_matches(false)
            .report(false);
        let chosen = select
            .interact_on_opt(&self.term)
            .map_err(io::Error::from)?;
        if let Some(at) = chosen {
            self.report.question(&format!("{prompt} {}\n", items[at]));
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
            .with_prompt(self.beside(question, "Space"))
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

    /// The question and its flag, as far as an answer fits beside them. A longer question is printed above, and where not even the flag
    /// leaves room, the flag, too.
    fn beside(&self, question: &str, flag: &str) -> String {
        let columns = self.columns();
        let fits = |text: &str| measure_text_width(text) + ANSWER.min(columns / 3) <= columns;
        let line = format!("{question} ({flag}):");
        let short = format!("  {flag}:");
        if fits(&line) {
            line
        } else if fits(&short) {
            self.report.question(&wrapped(question, columns));
            short
        } else {
            self.report.question(&wrapped(&line, columns));
            ">".to_owned()
        }
    }

    /// What is typed behind the question, which starts as `text`.
    fn edited(
        &self,
        question: &str,
        text: &str,
        complete: Option<Complete>,
    ) -> io::Result<Option<String>> {
        let text: Vec<char> = text.chars().collect();
        let mut line = Line {
            at: text.len(),
            text,
            row: 0,
        };
        loop {
            self.draw(question, &mut line)?;
            match self.term.read_key()? {
                Key::Escape => return Ok(None),
                Key::Char('\u{4}') if line.text.is_empty() => return Ok(None),
                Key::Enter => {
                    line.at = line.text.len();
                    self.draw(question, &mut line)?;
                    self.term.write_line("")?;
                    return Ok(Some(line.text.into_iter().collect()));
                }
                Key::Tab => {
                    let typed: String = line.text.iter().collect();
                    if let Some(longer) = complete.and_then(|complete| complete(&typed)) {
                        line.text = longer.chars().collect();
                        line.at = line.text.len();
                    }
                }
                key => line.press(&key),
            }
        }
    }

    /// Draws the question and the line anew, and puts the cursor into its place.
    fn draw(&self, question: &str, line: &mut Line) -> io::Result<()> {
        let columns = self.columns();
        let width = |text: &[char]| {
            let text: String = text.iter().collect();
            measure_text_width(question) + measure_text_width(&text)
        };
        self.term.move_cursor_up(line.row)?;
        self.term.write_str("\r")?;
        self.term.clear_to_end_of_screen()?;
        let text: String = line.text.iter().collect();
        self.term
            .write_str(&printable(&format!("{question}{text}")))?;
        let end = width(&line.text);
        if end > 0 && end % columns == 0 {
            // The cursor moves to the next row only with the next character.
            self.term.write_str(" \r")?;
        }
        let cursor = width(&line.text[..line.at]);
        line.row = cursor / columns;
        self.term.move_cursor_up(end / columns - line.row)?;
        self.term.write_str("\r")?;
        self.term.move_cursor_right(cursor % columns)
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

impl Line {
    /// What a key does to the line; other keys do nothing.
    fn press(&mut self, key: &Key) {
        let end = self.text.len();
        match key {
            Key::Char(key) if !key.is_control() => {
                self.text.insert(self.at, *key);
                self.at += 1;
            }
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.at);
            }
            Key::Del if self.at < end => _ = self.text.remove(self.at),
            Key::ArrowLeft => self.at = self.at.saturating_sub(1),
            Key::ArrowRight => self.at = end.min(self.at + 1),
            Key::Home => self.at = 0,
            Key::End => self.at = end,
            _ => {}
        }
    }
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

    #[test]
    fn a_line_is_edited_where_the_cursor_is() {
        let mut line = Line {
            text: "sze".chars().collect(),
            at: 3,
            row: 0,
        };
        let check = |line: &mut Line, keys: &[Key], text: &str, at: usize| {
            keys.iter().for_each(|key| line.press(key));
            assert_eq!(
                (line.text.iter().collect::<String>().as_str(), line.at),
                (text, at)
            );
        };
        let left = Key::ArrowLeft;
        check(&mut line, &[left.clone(), left, Key::Char('i')], "size", 2);
        check(&mut line, &[Key::Home, Key::ArrowLeft, Key::Del], "ize", 0);
        check(
            &mut line,
            &[Key::End, Key::Backspace, Key::ArrowRight],
            "iz",
            2,
        );
        check(
            &mut line,
            &[Key::Del, Key::Char('\u{1}'), Key::Unknown],
            "iz",
            2,
        );
    }
}
