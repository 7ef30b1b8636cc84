//! Splits an expression into tokens.

use super::{
    Fault,
    texts::{self, Quoted},
};

/// What an expression consists of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    /// A name in backticks, without these.
    Quoted(&'a str),
    Int(&'a str),
    Uint(&'a str),
    Double(&'a str),
    Text(String),
    Bytes(Vec<u8>),
    Sign(&'static str),
    End,
}

/// The longer ones come first.
pub(super) const SIGNS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!",
    "?", ":", "+", "*", "/", "%",
];

/// The tokens, each with its offset; the last is the end.
pub(super) fn split(code: &str) -> Result<Vec<(usize, Token<'_>)>, Fault> {
    let mut tokens = Vec::new();
    let mut rest = code;
    loop {
        rest = skip(rest);
        let at = code.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            tokens.push((at, Token::End));
            return Ok(tokens);
        };
        let (token, length) = match first {
            _ if texts::begins(rest) => {
                let (quoted, length) = texts::read(rest).map_err(|why| Fault::at(at, why))?;
                match quoted {
                    Quoted::Text(text) => (Token::Text(text), length),
                    Quoted::Bytes(bytes) => (Token::Bytes(bytes), length),
                }
            }
            '0'..='9' => number(rest),
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => number(rest),
            'a'..='z' | 'A'..='Z' | '_' => {
                let name = &rest[..span(rest, is_part)];
                (Token::Name(name), name.len())
            }
            '`' => quoted(rest).ok_or_else(|| Fault::at(at, "a name in backticks does not end"))?,
            _ => {
                let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
                    return Err(Fault::at(at, format!("`{first}` has no meaning")));
                };
                (Token::Sign(sign), sign.len())
            }
        };
        tokens.push((at, token));
        rest = &rest[length..];
    }
}

/// Skips white space and comments.
fn skip(code: &str) -> &str {
    let mut rest = code;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']);
        match rest.strip_prefix("//") {
            Some(comment) => rest = &comment[span(comment, |c| c != '\n')..],
            None => return rest,
        }
    }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of the start of which all characters fit.
fn span(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|c| !fits(c)).unwrap_or(text.len())
}

fn quoted(rest: &str) -> Option<(Token<'_>, usize)> {
    let (name, _) = rest[1..].split_once('`')?;
    let fits = |c: char| is_part(c) || matches!(c, '.' | '-' | '/' | ' ');
    let is_name = !name.is_empty() && name.chars().all(fits);
    is_name.then(|| (Token::Quoted(name), name.len() + 2))
}

fn number(rest: &str) -> (Token<'_>, usize) {
    let digits = |from: usize| from + span(&rest[from..], |c| c.is_ascii_digit());
    let is_unsigned = |end: usize| rest[end..].starts_with(['u', 'U']);
    if let Some(hex) = rest.strip_prefix("0x") {
        let end = 2 + span(hex, |c| c.is_ascii_hexdigit());
        if end > 2 {
            return whole(rest, end, is_unsigned(end));
        }
    }
    let mut end = digits(0);
    let mut is_whole = true;
    if rest[end..].starts_with('.') && digits(end + 1) > end + 1 {
        (end, is_whole) = (digits(end + 1), false);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let exponent = end + 1 + sign;
        if digits(exponent) > exponent {
            (end, is_whole) = (digits(exponent), false);
        }
    }
    match is_whole {
        true => whole(rest, end, is_unsigned(end)),
        false => (Token::Double(&rest[..end]), end),
    }
}

fn whole(rest: &str, end: usize, is_unsigned: bool) -> (Token<'_>, usize) {
    match is_unsigned {
        true => (Token::Uint(&rest[..end]), end + 1),
        false => (Token::Int(&rest[..end]), end),
    }
}
