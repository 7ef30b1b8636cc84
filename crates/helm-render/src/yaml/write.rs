//! Writes YAML as the Go libraries do: mappings and lists as blocks, keys in their natural order.

use std::cmp::Ordering;

use super::scalar::{Library, Style, has_break, is_break, is_printable, style};
use crate::{json::Node, value::Value};

/// What `toYaml` gives for a value, with the line break at its end.
///
/// # Errors
/// The value holds what JSON cannot say, such as a number that is none, or a text with control characters.
pub fn write(value: &Value) -> Result<String, String> {
    let node = through_json(Node::of(value)?)?;
    Ok(Writer::new(Library::V2).document(&node))
}

/// What `toYamlPretty` gives for a value: lists in mappings are indented.
///
/// # Errors
/// As [`write()`].
pub fn write_pretty(value: &Value) -> Result<String, String> {
    let node = Node::of(value)?;
    Ok(Writer::new(Library::V3).document(&node))
}

/// The node as the YAML library reads it out of JSON: it refuses some characters that JSON leaves as they are, and takes one for a
/// line break.
fn through_json(node: Node) -> Result<Node, String> {
    let check = |text: &str| {
        let is_refused =
            |c| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
        match text.contains(is_refused) {
            true => Err("yaml: control characters are not allowed".to_owned()),
            false => Ok(()),
        }
    };
    Ok(match node {
        Node::Text(text) => {
            check(&text)?;
            Node::Text(folded(text))
        }
        Node::List(items) => {
            let items = items.into_iter().map(through_json);
            Node::List(items.collect::<Result<_, _>>()?)
        }
        Node::Map(entries) => {
            let entries = entries.into_iter().map(|(key, node)| {
                check(&key)?;
                match key.contains(NEXT_LINE) {
                    true => Err("yaml: line 1: did not find expected ',' or '}'".to_owned()),
                    false => Ok((key, through_json(node)?)),
                }
            });
            Node::Map(entries.collect::<Result<_, String>>()?)
        }
        Node::Null | Node::Bool(_) | Node::Number(_) => node,
    })
}

const NEXT_LINE: char = '\u{85}';

/// A text in quotes whose lines YAML folds: one break becomes a blank, and of several, all but the first remain.
fn folded(text: String) -> String {
    if !text.contains(NEXT_LINE) {
        return text;
    }
    let mut lines = text.split(NEXT_LINE).peekable();
    let mut out = lines
        .next()
        .unwrap_or_default()
        .trim_end_matches(' ')
        .to_owned();
    let mut breaks = 0;
    while let Some(line) = lines.next() {
        let line = line.trim_start_matches(' ');
        let line = if lines.peek().is_some() {
            line.trim_end_matches(' ')
        } else {
            line
        };
        breaks += 1;
        if line.is_empty() && lines.peek().is_some() {
            continue;
        }
        match breaks {
            1 => out.push(' '),
            _ => (1..breaks).for_each(|_| out.push('\n')),
        }
        breaks = 0;
        out.push_str(line);
    }
    out
}

/// The longest key, in bytes, that stands before its colon in one line.
const LONGEST_KEY: usize = 128;

/// The column, in characters, behind which yaml v2 breaks a line at the next blank.
const WIDTH: usize = 80;

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    /// In a list.
    Item,
    /// A key in one line.
    Key,
    /// A value of a mapping, or a key that takes more than one line.
    InMapping,
}

struct Writer {
    library: Library,
    out: String,
    column: usize,
    /// Whether the last character was a blank, or nothing stands before.
    is_blank: bool,
    /// Whether the line has only blanks, dashes and question marks so far.
    is_indention: bool,
}

impl Writer {
    fn new(library: Library) -> Self {
        Self {
            library,
            out: String::new(),
            column: 0,
            is_blank: true,
            is_indention: true,
        }
    }

    fn document(mut self, node: &Node) -> String {
        self.node(node, None, Place::Root);
        if self.column > 0 {
            self.line_break();
        }
        self.out
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
        if self.library == Library::V3 {
            self.is_indention = true;
        }
    }

    /// Goes to a column, in this line if nothing but indention stands in it.
    fn indent(&mut self, to: usize) {
        if !self.is_indention || self.column > to || (self.column == to && !self.is_blank) {
            self.line_break();
        }
        while self.column < to {
            self.put(' ');
        }
        self.is_blank = true;
        self.is_indention = true;
    }

    fn indicator(&mut self, text: &str, wants_blank: bool, is_indention: bool) {
        if wants_blank && !self.is_blank {
            self.put(' ');
        }
        text.chars().for_each(|c| self.put(c));
        self.is_blank = false;
        self.is_indention &= is_indention;
    }

    /// Writes a node into something that is indented by `indent`; the root is in nothing.
    fn node(&mut self, node: &Node, indent: Option<usize>, place: Place) {
        let deeper = indent.map_or(0, |indent| indent + 2);
        match node {
            Node::Null => self.word("null"),
            Node::Bool(it) => self.word(if *it { "true" } else { "false" }),
            Node::Number(number) => {
                let text = match self.library {
                    Library::V2 => number.in_yaml_of_json(),
                    Library::V3 => number.in_yaml(),
                };
                self.word(&text);
            }
            Node::Text(text) => self.text(text, indent.map_or(2, |indent| indent + 2), place),
            Node::List(items) if items.is_empty() => self.indicator("[]", true, false),
            Node::Map(entries) if entries.is_empty() => self.indicator("{}", true, false),
            Node::List(items) => {
                let is_flush =
                    self.library == Library::V2 && place == Place::InMapping && !self.is_indention;
                let indent = if is_flush {
                    indent.unwrap_or(0)
                } else {
                    deeper
                };
                for item in items {
                    self.indent(indent);
                    self.indicator("-", true, true);
                    self.node(item, Some(indent), Place::Item);
                }
            }
            Node::Map(entries) => {
                for (key, value) in sorted(entries, self.library) {
                    self.indent(deeper);
                    match key.len() <= LONGEST_KEY && !has_break(key) {
                        true => {
                            self.text(key, deeper + 2, Place::Key);
                            self.indicator(":", false, false);
                        }
                        false => {
                            self.indicator("?", true, true);
                            self.text(key, deeper + 2, Place::InMapping);
                            self.indent(deeper);
                            self.indicator(":", true, true);
                        }
                    }
                    self.node(value, Some(deeper), Place::InMapping);
                }
            }
        }
    }

    /// A scalar without blanks.
    fn word(&mut self, text: &str) {
        self.plain(text, None);
    }

    fn text(&mut self, text: &str, indent: usize, place: Place) {
        let breaks_at = (place != Place::Key && self.library == Library::V2).then_some(indent);
        match style(text, place == Place::Key, self.library) {
            Style::Plain => self.plain(text, breaks_at),
            Style::Single => self.single(text, indent, breaks_at),
            Style::Double => self.double(text, breaks_at),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Breaks the line for a blank, if it is long enough and the text may be broken.
    fn wraps(&mut self, breaks_at: Option<usize>) -> bool {
        match breaks_at {
            Some(indent) if self.column > WIDTH => {
                self.indent(indent);
                true
            }
            _ => false,
        }
    }

    fn plain(&mut self, text: &str, breaks_at: Option<usize>) {
        if !self.is_blank {
            self.put(' ');
        }
        let mut was_space = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let is_single = c == ' ' && !was_space && chars.peek() != Some(&' ');
            was_space = c == ' ';
            if !(is_single && self.wraps(breaks_at)) {
                self.put(c);
                self.is_indention &= was_space;
            }
        }
        self.is_blank = false;
        self.is_indention = false;
    }

    fn single(&mut self, text: &str, indent: usize, breaks_at: Option<usize>) {
        self.indicator("'", true, false);
        let (mut is_after_break, mut was_space, mut is_first) = (false, false, true);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let is_inside = !std::mem::take(&mut is_first) && chars.peek().is_some();
            let is_single = c == ' ' && is_inside && !was_space && chars.peek() != Some(&' ');
            was_space = c == ' ';
            if is_single && self.wraps(breaks_at) {
                continue;
            }
            if is_break(c) {
                if !is_after_break && c == '\n' {
                    self.line_break();
                }
                self.break_with(c);
                self.is_indention = true;
                is_after_break = true;
                continue;
            }
            if is_after_break {
                self.indent(indent);
            }
            if c == '\'' {
                self.put('\'');
            }
            self.put(c);
            self.is_indention = false;
            is_after_break = false;
        }
        self.indicator("'", false, false);
    }

    fn double(&mut self, text: &str, breaks_at: Option<usize>) {
        self.indicator("\"", true, false);
        // Behind a byte order mark, the Go library escapes everything.
        let escapes_all = text.starts_with('\u{feff}');
        let (mut was_space, mut is_first) = (false, true);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let is_inside = !std::mem::take(&mut is_first) && chars.peek().is_some();
            let is_single = c == ' ' && is_inside && !was_space && !escapes_all;
            was_space = c == ' ';
            if is_single && self.wraps(breaks_at) {
                if chars.peek() == Some(&' ') {
                    self.put('\\');
                }
                continue;
            }
            let escape = match c {
                '\0' => '0',
                '\u{7}' => 'a',
                '\u{8}' => 'b',
                '\t' => 't',
                '\n' => 'n',
                '\u{b}' => 'v',
                '\u{c}' => 'f',
                '\r' => 'r',
                '\u{1b}' => 'e',
                '"' => '"',
                '\\' => '\\',
                '\u{85}' => 'N',
                '\u{2028}' => 'L',
                '\u{2029}' => 'P',
                c if is_printable(c) && !escapes_all => {
                    self.put(c);
                    continue;
                }
                c => {
                    let code = c as u32;
                    let escaped = match code {
                        ..0x100 => format!("\\x{code:02X}"),
                        0x100..0x1_0000 => format!("\\u{code:04X}"),
                        _ => format!("\\U{code:08X}"),
                    };
                    escaped.chars().for_each(|c| self.put(c));
                    continue;
                }
            };
            self.put('\\');
            self.put(escape);
        }
        self.indicator("\"", false, false);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.indicator("|", true, false);
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.indicator("2", false, false);
        }
        let mut ends = text.chars().rev();
        let (last, before) = (ends.next(), ends.next());
        match (last.is_some_and(is_break), before) {
            (false, _) => self.indicator("-", false, false),
            (true, None) => self.indicator("+", false, false),
            (true, Some(before)) if is_break(before) => self.indicator("+", false, false),
            (true, Some(_)) => {}
        }
        self.line_break();
        self.is_indention = true;
        self.is_blank = true;
        let mut is_after_break = true;
        for c in text.chars() {
            if is_break(c) {
                self.break_with(c);
                self.is_indention = true;
                is_after_break = true;
                continue;
            }
            if is_after_break {
                self.indent(indent);
            }
            self.put(c);
            self.is_indention = false;
            is_after_break = false;
        }
    }

    fn break_with(&mut self, c: char) {
        match c {
            '\n' => self.line_break(),
            c => {
                self.out.push(c);
                self.column = 0;
            }
        }
    }
}

/// Entries in the order of their keys. That order has circles (`1a`, `08`, `19`), which the standard library may refuse to sort by.
fn sorted(entries: &[(String, Node)], library: Library) -> Vec<&(String, Node)> {
    if entries.len() < 2 {
        return entries.iter().collect();
    }
    let (one, other) = entries.split_at(entries.len() / 2);
    let mut one = sorted(one, library).into_iter().peekable();
    let mut other = sorted(other, library).into_iter().peekable();
    let mut all = Vec::with_capacity(entries.len());
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        let side = match natural(&b.0, &a.0, library) {
            Ordering::Less => &mut other,
            _ => &mut one,
        };
        all.extend(side.next());
    }
    all.extend(one.chain(other));
    all
}

/// The order of two keys: numbers in them by their value, letters behind everything else.
fn natural(one: &str, other: &str, library: Library) -> Ordering {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut was_digit = false;
    for (at, (a, b)) in one.iter().zip(&other).enumerate() {
        if a == b {
            was_digit = a.is_ascii_digit();
            continue;
        }
        let (a_is_letter, b_is_letter) = (a.is_alphabetic(), b.is_alphabetic());
        if a_is_letter && b_is_letter {
            return a.cmp(b);
        }
        if a_is_letter || b_is_letter {
            let is_less = match library == Library::V3 && was_digit {
                true => a_is_letter,
                false => b_is_letter,
            };
            return if is_less {
                Ordering::Less
            } else {
                Ordering::Greater
            };
        }
        let is_in_number = (*a == '0' || *b == '0') && {
            let mut digits = one[..at].iter().rev().take_while(|c| c.is_ascii_digit());
            digits.any(|c| *c != '0')
        };
        let number = |chars: &[char]| {
            let digits = chars[at..].iter().take_while(|c| c.is_ascii_digit());
            digits.fold((i64::from(is_in_number), 0), |(number, count), c| {
                let digit = i64::from(*c as u32) - i64::from('0' as u32);
                (number.wrapping_mul(10).wrapping_add(digit), count + 1)
            })
        };
        return number(&one).cmp(&number(&other)).then(a.cmp(b));
    }
    one.len().cmp(&other.len())
}
