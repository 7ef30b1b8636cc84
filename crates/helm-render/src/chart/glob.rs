//! The patterns of `.Files.Glob`, as the Go library gobwas/glob has them.
//!
//! That library gives strange results for some patterns with braces. Those are refused.

use std::{iter::Peekable, str::Chars};

use regex::Regex;

use crate::go::path::literal;

/// A pattern: `*` and `?` stop at separators, `**` does not; `[ab]`, `[!a-z]` and `{one,two}` are known.
#[derive(Clone, Debug)]
pub struct Glob(Shape);

#[derive(Clone, Debug)]
enum Shape {
    /// Two texts with `**` between them. The library lets them overlap.
    Ends(String, String),
    Regex(Regex),
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is no pattern. Helm takes `**` instead.
    Syntax,
    /// It means something else in Helm than it says, or is too large.
    Unsupported(&'static str),
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Any,
    Super,
    Single,
    /// A class, in the syntax of regular expressions.
    Class(String),
    Alternatives(Vec<Vec<Part>>),
}

impl Part {
    /// Its length in characters, if all texts that it takes have the same.
    fn length(&self) -> Option<usize> {
        match self {
            Self::Text(text) => Some(text.chars().count()),
            Self::Any | Self::Super => None,
            Self::Single | Self::Class(_) => Some(1),
            Self::Alternatives(all) => {
                let mut lengths = all.iter().map(|parts| length(parts));
                let first = lengths.next()??;
                lengths.all(|it| it == Some(first)).then_some(first)
            }
        }
    }

    /// The length of the shortest text that it takes.
    fn least(&self) -> usize {
        match self {
            Self::Alternatives(all) => {
                let least = |parts: &Vec<Part>| parts.iter().map(Part::least).sum();
                all.iter().map(least).min().unwrap_or(0)
            }
            other => other.length().unwrap_or(0),
        }
    }

    fn has_wildcard(&self) -> bool {
        match self {
            Self::Any | Self::Super => true,
            Self::Alternatives(all) => all.iter().flatten().any(Self::has_wildcard),
            _ => false,
        }
    }

    fn is_alternatives(&self) -> bool {
        matches!(self, Self::Alternatives(_))
    }
}

fn length(parts: &[Part]) -> Option<usize> {
    parts.iter().map(Part::length).sum()
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is no pattern, or one that is not supported.
    pub fn new(pattern: &str, separators: &[char]) -> Result<Self, Wrong> {
        let mut reader = Reader {
            rest: pattern.chars().peekable(),
            depth: 0,
        };
        let parts = reader.sequence()?;
        check(&parts)?;
        if let [Part::Text(start), Part::Super, Part::Text(end)] = &parts[..] {
            return Ok(Self(Shape::Ends(start.clone(), end.clone())));
        }
        let mut single = String::from("[^");
        separators.iter().for_each(|c| literal(&mut single, *c));
        single.push(']');
        let mut regex = String::from("(?s)^");
        write(&parts, &single, &mut regex);
        regex.push('$');
        match Regex::new(&regex) {
            Ok(regex) => Ok(Self(Shape::Regex(regex))),
            Err(_) => Err(Wrong::Unsupported("the pattern is too large")),
        }
    }

    /// Whether a whole text matches.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.0 {
            Shape::Ends(start, end) => text.starts_with(start) && text.ends_with(end),
            Shape::Regex(regex) => regex.is_match(text),
        }
    }
}

/// Refuses what the library takes for something else.
fn check(parts: &[Part]) -> Result<(), Wrong> {
    let is_variable = |part: &Part| part.length().is_none();
    for pair in parts.windows(2) {
        let mut braces = pair.iter().filter(|part| part.is_alternatives()).peekable();
        let has_braces = braces.peek().is_some();
        let may_be_empty = pair.iter().map(Part::least).sum::<usize>() == 0;
        let is_mistaken = has_braces && (may_be_empty || braces.any(Part::has_wildcard));
        if is_mistaken && pair.iter().all(is_variable) {
            return Err(Wrong::Unsupported(
                "braces that have a wildcard or may be empty next to a wildcard",
            ));
        }
        if matches!(pair, [Part::Super, Part::Any | Part::Super]) {
            return Err(Wrong::Unsupported("more than two stars in a row"));
        }
    }
    for part in parts {
        let Part::Alternatives(all) = part else {
            continue;
        };
        if part.length() == Some(0) {
            return Err(Wrong::Unsupported("braces without anything in them"));
        }
        if part.has_wildcard() && (parts.len() > 1 || all.len() > 1) {
            let is_fixed = |parts: &Vec<Part>| length(parts).is_some();
            if all.iter().any(is_fixed) || all.iter().flatten().any(Part::is_alternatives) {
                return Err(Wrong::Unsupported(
                    "braces with alternatives of which only some have a wildcard",
                ));
            }
        }
        all.iter().try_for_each(|parts| check(parts))?;
    }
    Ok(())
}

fn write(parts: &[Part], single: &str, regex: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => text.chars().for_each(|c| literal(regex, c)),
            Part::Any => regex.push_str(&format!("{single}*")),
            Part::Super => regex.push_str(".*"),
            Part::Single => regex.push_str(single),
            Part::Class(class) => regex.push_str(class),
            Part::Alternatives(all) => {
                regex.push_str("(?:");
                for (at, parts) in all.iter().enumerate() {
                    if at > 0 {
                        regex.push('|');
                    }
                    write(parts, single, regex);
                }
                regex.push(')');
            }
        }
    }
}

/// The deepest nesting of braces.
const DEEPEST: usize = 20;

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// How many braces are open.
    depth: usize,
}

impl Reader<'_> {
    /// Parts up to the end, or to what ends an alternative.
    fn sequence(&mut self) -> Result<Vec<Part>, Wrong> {
        let mut parts = Vec::new();
        while let Some(&c) = self.rest.peek() {
            if self.depth > 0 && matches!(c, ',' | '}') {
                break;
            }
            parts.push(match c {
                '{' => self.braces()?,
                '[' => self.class()?,
                '?' => {
                    self.rest.next();
                    Part::Single
                }
                '*' => {
                    self.rest.next();
                    match self.rest.next_if_eq(&'*') {
                        Some(_) => Part::Super,
                        None => Part::Any,
                    }
                }
                _ => match self.text() {
                    text if text.is_empty() => continue,
                    text => Part::Text(text),
                },
            });
        }
        Ok(parts)
    }

    /// Characters that stand for themselves. A backslash at the end stands for nothing.
    fn text(&mut self) -> String {
        let mut text = String::new();
        let in_braces = self.depth > 0;
        let is_special =
            |c: char| matches!(c, '?' | '*' | '[' | '{') || in_braces && matches!(c, '}' | ',');
        while let Some(c) = self.rest.next_if(|c| !is_special(*c)) {
            match c {
                '\\' => text.extend(self.rest.next()),
                c => text.push(c),
            }
        }
        text
    }

    fn braces(&mut self) -> Result<Part, Wrong> {
        self.rest.next();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Wrong::Unsupported("braces that are nested so deeply"));
        }
        let mut all = vec![self.sequence()?];
        while self.rest.next_if_eq(&',').is_some() {
            all.push(self.sequence()?);
        }
        self.depth -= 1;
        match self.rest.next() {
            Some('}') => Ok(Part::Alternatives(all)),
            _ => Err(Wrong::Unsupported("braces that are not closed")),
        }
    }

    /// `[a-z]`, `[!a-z]`, `[abc]` or `[!abc]`.
    fn class(&mut self) -> Result<Part, Wrong> {
        self.rest.next();
        let mut class = String::from("[");
        if self.rest.next_if_eq(&'!').is_some() {
            class.push('^');
        }
        let mut after = self.rest.clone();
        let first = after.next().ok_or(Wrong::Syntax)?;
        if after.next() == Some('-') {
            let last = after.next().ok_or(Wrong::Syntax)?;
            if after.next() != Some(']') || last < first {
                return Err(Wrong::Syntax);
            }
            self.rest = after;
            literal(&mut class, first);
            class.push('-');
            literal(&mut class, last);
        } else {
            let mut is_empty = true;
            loop {
                match self.rest.next().ok_or(Wrong::Syntax)? {
                    ']' => break,
                    '\\' => literal(&mut class, self.rest.next().ok_or(Wrong::Syntax)?),
                    c => literal(&mut class, c),
                }
                is_empty = false;
            }
            if is_empty {
                return Err(Wrong::Syntax);
            }
        }
        class.push(']');
        Ok(Part::Class(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, wanted: bool) {
        let glob = Glob::new(pattern, &['/']).unwrap();
        assert_eq!(glob.is_match(text), wanted, "{pattern} {text}");
    }

    #[test]
    fn paths_match() {
        check("*.yaml", "a.yaml", true);
        check("*.yaml", "b/a.yaml", false);
        check("**.yaml", "b/a.yaml", true);
        check("a/**/*.txt", "a/b/c/d.txt", true);
        check("a/**/*.txt", "a/d.txt", false);
        check("?[a-c][!x]", "qbz", true);
        check("{a,b}/*.{json,yml}", "b/x.yml", true);
        check("*{.yaml,.yml}", "x.yml", true);
        check("\\*", "*", true);
        check("\\*", "a", false);
    }

    #[test]
    fn ends_overlap() {
        check("files/**/a.txt", "files/a.txt", true);
        check("a**a", "a", true);
        check("files/**/a.txt", "files/b.txt", false);
    }

    #[test]
    fn wrong_patterns() {
        for pattern in ["[a", "[]", "[z-a]", "[a-"] {
            assert_eq!(
                Glob::new(pattern, &['/']).err(),
                Some(Wrong::Syntax),
                "{pattern}"
            );
        }
        for pattern in ["{a", "a***", "{a*,b}", "{a*,b*}*", "{a,}*", "{}"] {
            let wrong = Glob::new(pattern, &['/']).err();
            assert!(matches!(wrong, Some(Wrong::Unsupported(_))), "{pattern}");
        }
    }
}
