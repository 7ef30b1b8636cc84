//! Which patterns are surely fine with RE2, which the API server has.
//!
//! It is a part of RE2's grammar: what is not in it may be fine as well, but is left to Helm.

use std::{iter::Peekable, str::Chars};

/// How deep groups may be.
const MOST_DEPTH: usize = 50;
/// How often RE2 repeats something at most, also by repetitions of repetitions.
const MOST_REPEATS: usize = 1000;

/// Whether RE2 surely takes a pattern.
pub(super) fn is_plain(pattern: &str) -> bool {
    let mut reader = Reader {
        rest: pattern.chars().peekable(),
    };
    reader.alternatives(0).is_some() && reader.rest.next().is_none()
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    /// Reads up to the end of a group. Returns how often something in it is repeated.
    fn alternatives(&mut self, depth: usize) -> Option<usize> {
        let mut most = 1;
        while let Some(c) = self.rest.next_if(|c| *c != ')') {
            most = most.max(match c {
                '^' | '$' | '|' => 1,
                '(' if depth < MOST_DEPTH => {
                    if self.rest.next_if_eq(&'?').is_some() {
                        self.rest.next_if_eq(&':')?;
                    }
                    let inner = self.alternatives(depth + 1)?;
                    self.rest.next_if_eq(&')')?;
                    self.repeated(inner)?
                }
                '[' => {
                    self.class()?;
                    self.repeated(1)?
                }
                '\\' => {
                    let c = self.rest.next()?;
                    match c {
                        'A' | 'z' | 'b' | 'B' => 1,
                        _ => {
                            escaped(c)?;
                            self.repeated(1)?
                        }
                    }
                }
                '(' | '*' | '+' | '?' | '{' | '}' | ']' => return None,
                _ => self.repeated(1)?,
            });
        }
        Some(most)
    }

    /// Reads how often something is repeated, which itself repeats something so often.
    fn repeated(&mut self, inner: usize) -> Option<usize> {
        let count = match self.rest.peek() {
            Some('*' | '+' | '?') => {
                self.rest.next();
                1
            }
            Some('{') => {
                self.rest.next();
                self.counts()?.max(1)
            }
            _ => return Some(inner),
        };
        self.rest.next_if_eq(&'?');
        // RE2 refuses two repetitions of one thing.
        if let Some('*' | '+' | '?' | '{') = self.rest.peek() {
            return None;
        }
        inner.checked_mul(count).filter(|it| *it <= MOST_REPEATS)
    }

    /// Reads `3}`, `3,}` or `3,5}`.
    fn counts(&mut self) -> Option<usize> {
        let least = self.number()?;
        let most = match self.rest.next()? {
            '}' => return Some(least),
            ',' if self.rest.next_if_eq(&'}').is_some() => return Some(least),
            ',' => self.number()?,
            _ => return None,
        };
        (self.rest.next()? == '}' && least <= most).then_some(most)
    }

    fn number(&mut self) -> Option<usize> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        let is_plain = digits == "0" || !digits.starts_with('0');
        let number = digits.parse().ok()?;
        (is_plain && number <= MOST_REPEATS).then_some(number)
    }

    /// Reads the rest of `[a-z]`.
    fn class(&mut self) -> Option<()> {
        self.rest.next_if_eq(&'^');
        let mut is_first = true;
        loop {
            let c = match self.rest.next()? {
                ']' if is_first => return None,
                ']' => return Some(()),
                '[' => return None,
                '\\' => match self.rest.next()? {
                    'd' | 'D' | 'w' | 'W' | 's' | 'S' => None,
                    c => Some(escaped(c)?),
                },
                // In the middle it would have to be a range.
                '-' if !is_first && self.rest.peek() != Some(&']') => return None,
                c => Some(c),
            };
            is_first = false;
            let Some(low) = c else { continue };
            let mut ahead = self.rest.clone();
            if ahead.next() != Some('-') || ahead.peek() == Some(&']') {
                continue;
            }
            self.rest = ahead;
            let high = match self.rest.next()? {
                '[' => return None,
                '\\' => escaped(self.rest.next()?).filter(|c| !c.is_ascii_alphabetic())?,
                c => c,
            };
            if low > high {
                return None;
            }
        }
    }
}

/// The character behind a backslash; for one such as `\d` it stands for others.
fn escaped(c: char) -> Option<char> {
    let is_known = matches!(
        c,
        'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'n' | 't' | 'r' | 'f' | 'v'
    );
    (is_known || c.is_ascii_punctuation()).then_some(c)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn patterns() {
        for (pattern, plain) in [
            ("", true),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", true),
            (r"^(\d+)(\.\d+){0,2}$", true),
            (r"^[\w.\-/]+$", true),
            ("^(?:a|b|)+?$", true),
            ("a{2,}", true),
            ("[a-z-]", true),
            (r"\p{L}", false),
            ("(?=a)b", false),
            ("(?<n>a)", false),
            (r"(a)\1", false),
            ("a{1001}", false),
            ("(a{100}){100}", false),
            ("a**", false),
            ("*", false),
            ("(a", false),
            ("a)", false),
            ("[z-a]", false),
            ("[", false),
            (r"\", false),
        ] {
            assert_eq!(is_plain(pattern), plain, "{pattern}");
        }
        assert!(!is_plain(&"(".repeat(100_000)));
    }
}
