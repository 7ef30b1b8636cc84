//! What stands behind a backslash, and in brackets.

use regex::Regex;

use super::{Fault, before};

pub const BAD_RANGE: &str = "invalid character class range";
pub const BAD_ESCAPE: &str = "invalid escape sequence";
pub const NO_BRACKET: &str = "missing closing ]";

/// A character of a class.
pub fn class_char<'a>(text: &'a str, class: &'a str) -> Result<(char, &'a str), Fault<'a>> {
    match text.chars().next() {
        None => Err((NO_BRACKET, class)),
        Some('\\') => escaped(text),
        Some(c) => Ok((c, &text[c.len_utf8()..])),
    }
}

/// Whether a class such as `[:alpha:]` has this name.
pub fn is_posix(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
        "space", "upper", "word", "xdigit",
    ];
    NAMES.contains(&name.strip_prefix('^').unwrap_or(name))
}

/// A character behind a backslash.
pub fn escaped(text: &str) -> Result<(char, &str), Fault<'_>> {
    let mut chars = text[1..].chars();
    let Some(c) = chars.next() else {
        return Err(("trailing backslash at end of expression", ""));
    };
    let rest = chars.as_str();
    let simple = |c: char| Ok((c, rest));
    let bad = |rest: &str| Err((BAD_ESCAPE, before(text, rest)));
    match c {
        '1'..='7' if !rest.starts_with(|c: char| matches!(c, '0'..='7')) => bad(rest),
        '0'..='7' => {
            let digits = text[1..]
                .bytes()
                .take(3)
                .take_while(|it| (b'0'..=b'7').contains(it))
                .count();
            let code = u32::from_str_radix(&text[1..1 + digits], 8).unwrap_or_default();
            match char::from_u32(code) {
                Some(c) => Ok((c, &text[1 + digits..])),
                None => bad(rest),
            }
        }
        'x' => hexadecimal(text, rest),
        'a' => simple('\u{7}'),
        'f' => simple('\u{c}'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'v' => simple('\u{b}'),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => simple(c),
        _ => bad(rest),
    }
}

/// `x41` or `x{10FFFF}`.
fn hexadecimal<'a>(text: &'a str, rest: &'a str) -> Result<(char, &'a str), Fault<'a>> {
    let mut chars = rest.chars();
    let mut code = String::new();
    let mut value = |digit: char, rest: &'a str| {
        code.push(digit);
        match u32::from_str_radix(&code, 16) {
            Ok(it) if digit.is_ascii_hexdigit() && it <= 0x10_FFFF => Ok(it),
            _ => Err((BAD_ESCAPE, before(text, rest))),
        }
    };
    let result = match chars.next() {
        Some('{') => {
            let mut last = None;
            loop {
                match chars.next() {
                    None => return Err((BAD_ESCAPE, text)),
                    Some('}') => break last,
                    Some(digit) => last = Some(value(digit, chars.as_str())?),
                }
            }
        }
        Some(first) => {
            let second = chars.next();
            let rest = chars.as_str();
            value(first, rest)?;
            second.map(|digit| value(digit, rest)).transpose()?
        }
        None => None,
    };
    match result.and_then(char::from_u32) {
        Some(c) => Ok((c, chars.as_str())),
        None => Err((BAD_ESCAPE, before(text, chars.as_str()))),
    }
}

/// `\d`, `\pL` or `\p{Greek}` as a class of the crate, and what follows.
pub fn named_class(text: &str) -> Result<Option<(String, &str)>, Fault<'_>> {
    let perl = match text.get(..2) {
        Some(r"\d") => "[0-9]",
        Some(r"\D") => "[^0-9]",
        Some(r"\s") => r"[\t\n\f\r ]",
        Some(r"\S") => r"[^\t\n\f\r ]",
        Some(r"\w") => "[0-9A-Za-z_]",
        Some(r"\W") => "[^0-9A-Za-z_]",
        Some(r"\p" | r"\P") => return unicode_class(text).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((perl.to_owned(), &text[2..])))
}

fn unicode_class(text: &str) -> Result<(String, &str), Fault<'_>> {
    let mut is_negative = text.starts_with(r"\P");
    let after = &text[2..];
    let (mut name, rest) = match after.chars().next() {
        None => return Err((BAD_ESCAPE, text)),
        Some('{') => after[1..].split_once('}').ok_or((BAD_RANGE, text))?,
        Some(c) => after.split_at(c.len_utf8()),
    };
    if let Some(inner) = name.strip_prefix('^') {
        is_negative = !is_negative;
        name = inner;
    }
    let letter = if is_negative { 'P' } else { 'p' };
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || b"_- ".contains(&it));
    let candidates = [
        format!("\\{letter}{{gc={name}}}"),
        format!("\\{letter}{{sc={name}}}"),
    ];
    let found = candidates
        .into_iter()
        .find(|it| is_name && Regex::new(it).is_ok());
    match found {
        Some(class) => Ok((class, rest)),
        None => Err((BAD_RANGE, before(text, rest))),
    }
}
