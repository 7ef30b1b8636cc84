//! Paths with `/`, as Go's packages `path` and `path/filepath` treat them.

use std::{iter::Peekable, str::Chars};

/// The shortest path of the same meaning: without `.`, `..` and doubled `/` where that is possible.
pub fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_rooted => {}
            part => parts.push(part),
        }
    }
    let clean = parts.join("/");
    match (is_rooted, clean.is_empty()) {
        (true, _) => format!("/{clean}"),
        (false, true) => ".".to_owned(),
        (false, false) => clean,
    }
}

/// Two paths as one.
pub fn join(first: &str, second: &str) -> String {
    match (first, second) {
        ("", "") => String::new(),
        ("", path) | (path, "") => clean(path),
        (first, second) => clean(&format!("{first}/{second}")),
    }
}

/// The last name of a path: `.` of an empty one, `/` of one that is only slashes.
pub fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") | None => "/",
        Some(base) => base,
    }
}

/// The end of the last name from its last dot on, or nothing.
pub fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').map_or("", |at| &name[at..])
}

/// A pattern of Go's `filepath.Match`: `*` and `?` stop at `/`. It is only read as far as a name makes that necessary.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<Chunk>);

/// The end of a pattern is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

/// What is between stars.
#[derive(Clone, Debug)]
struct Chunk {
    /// Whether a star is before it.
    has_star: bool,
    parts: Result<Vec<Part>, BadPattern>,
}

#[derive(Clone, Debug)]
enum Part {
    One(char),
    /// `?`.
    Any,
    /// `[^a-z]`: whether it is negated, and its ranges.
    Class(bool, Vec<(char, char)>),
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Self {
        let mut chunks = Vec::new();
        let mut rest = pattern;
        while !rest.is_empty() {
            let text = rest.trim_start_matches('*');
            let has_star = text.len() < rest.len();
            let (chunk, after) = text.split_at(end_of_chunk(text));
            rest = after;
            chunks.push(Chunk {
                has_star,
                parts: parts(chunk),
            });
        }
        Self(chunks)
    }

    /// Whether a whole name matches.
    ///
    /// # Errors
    /// A part of the pattern that matters for the name is wrong.
    pub fn matches(&self, name: &str) -> Result<bool, BadPattern> {
        let mut name = name;
        for (at, Chunk { has_star, parts }) in self.0.iter().enumerate() {
            let parts = parts.as_ref().map_err(|bad| *bad)?;
            let is_last = at + 1 == self.0.len();
            if *has_star && parts.is_empty() {
                return Ok(!name.contains('/'));
            }
            let within_star = name.find('/').unwrap_or(name.len());
            let starts = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            let starts = starts.take_while(|at| *at == 0 || *has_star && *at <= within_star);
            let fits = |rest: &&str| rest.is_empty() || !is_last;
            let mut rests = starts.filter_map(|at| rest_after(parts, &name[at..]));
            match rests.find(fits) {
                Some(rest) => name = rest,
                None => return Ok(false),
            }
        }
        Ok(name.is_empty())
    }
}

/// Where the next star is that is neither escaped nor in a class.
fn end_of_chunk(text: &str) -> usize {
    let mut in_class = false;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => {
                characters.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '*' if !in_class => return at,
            _ => {}
        }
    }
    text.len()
}

fn parts(chunk: &str) -> Result<Vec<Part>, BadPattern> {
    let mut parts = Vec::new();
    let mut rest = chunk.chars().peekable();
    while let Some(c) = rest.next() {
        parts.push(match c {
            '?' => Part::Any,
            '\\' => Part::One(rest.next().ok_or(BadPattern)?),
            '[' => {
                let is_negated = rest.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                while ranges.is_empty() || rest.next_if_eq(&']').is_none() {
                    let low = class_character(&mut rest)?;
                    let high = match rest.next_if_eq(&'-') {
                        None => low,
                        Some(_) => class_character(&mut rest)?,
                    };
                    ranges.push((low, high));
                }
                Part::Class(is_negated, ranges)
            }
            c => Part::One(c),
        });
    }
    Ok(parts)
}

/// A character of a class, which may not be its last one.
fn class_character(rest: &mut Peekable<Chars<'_>>) -> Result<char, BadPattern> {
    let c = match rest.next() {
        None | Some('-' | ']') => None,
        Some('\\') => rest.next(),
        other => other,
    };
    c.filter(|_| rest.peek().is_some()).ok_or(BadPattern)
}

/// What is left of a name after parts that its beginning matches.
fn rest_after<'a>(parts: &[Part], name: &'a str) -> Option<&'a str> {
    let mut rest = name.chars();
    for part in parts {
        let c = rest.next()?;
        let fits = match part {
            Part::One(one) => *one == c,
            Part::Any => c != '/',
            Part::Class(is_negated, ranges) => {
                let mut ranges = ranges.iter();
                ranges.any(|(low, high)| (low..=high).contains(&&c)) != *is_negated
            }
        };
        if !fits {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Adds a character that stands for itself.
pub fn literal(regex: &mut String, c: char) {
    let mut buffer = [0; 4];
    regex.push_str(&regex::escape(c.encode_utf8(&mut buffer)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        for (before, after) in [
            ("", "."),
            ("a/./b//c/", "a/b/c"),
            ("a/../b", "b"),
            ("../a/../../b", "../../b"),
            ("/../a", "/a"),
            ("a/..", "."),
            ("/", "/"),
        ] {
            assert_eq!(clean(before), after, "{before}");
        }
        assert_eq!(join("a", "../b"), "b");
        assert_eq!(
            join("a/charts/b", "templates/x.yaml"),
            "a/charts/b/templates/x.yaml"
        );
    }

    #[test]
    fn ends_of_paths() {
        for (path, name, end) in [
            ("", ".", ""),
            ("a/b.tar.gz", "b.tar.gz", ".gz"),
            ("a/.b", ".b", ".b"),
            ("a.d/", "a.d", ""),
            ("//", "/", ""),
        ] {
            assert_eq!((base(path), extension(path)), (name, end), "{path}");
        }
    }

    #[test]
    fn patterns_match_names() {
        for (pattern, name, wanted) in [
            ("*.md", "a.md", Ok(true)),
            ("*.md", "d/a.md", Ok(false)),
            ("a/*.txt", "a/b.txt", Ok(true)),
            ("q/\\[x].txt", "q/[x].txt", Ok(true)),
            ("*.m[c-e]", "a.md", Ok(true)),
            ("[^a]", "a", Ok(false)),
            ("*a*b", "xaxb", Ok(true)),
            ("a?c", "a/c", Ok(false)),
            ("[a", "a", Err(BadPattern)),
            ("b[", "a", Err(BadPattern)),
            ("*[", "", Err(BadPattern)),
            // What is wrong is behind the part that does not match.
            ("b*[", "a", Ok(false)),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(name),
                wanted,
                "{pattern} {name}"
            );
        }
    }
}
