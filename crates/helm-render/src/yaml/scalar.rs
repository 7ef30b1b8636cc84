//! The style in which a text is written: plain, in quotes, or as a block.

use super::resolve::{Scalar, is_base_60, resolve};

/// The library that writes: they differ in details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// yaml v2, behind `toYaml`.
    V2,
    /// yaml v3, behind `toYamlPretty`.
    V3,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Whether a character breaks a line.
pub fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character may stand in a text as it is. Those beyond the first 65,536 may not.
pub fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && c != '\u{feff}'
}

/// What a text allows.
struct Allowed {
    plain: bool,
    single: bool,
    block: bool,
    has_break: bool,
}

fn allowed(text: &str, library: Library) -> Allowed {
    let mut has_indicator = text.starts_with("---") || text.starts_with("...");
    let (mut is_special, mut has_break, mut has_tab) = (false, false, false);
    let (mut space_then_break, mut break_then_space) = (false, false);
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_followed_by_blank = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
        has_indicator |= match (before, c) {
            (None, '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>') => true,
            (None, '\'' | '"' | '%' | '@' | '`') => true,
            (None, '?' | '-') | (_, ':') => is_followed_by_blank,
            (Some(before), '#') => before == ' ' || before == '\t' || is_break(before),
            _ => false,
        };
        has_tab |= c == '\t';
        is_special |= !(is_printable(c) || library == Library::V3 && c == '\t');
        has_break |= is_break(c);
        space_then_break |= is_break(c) && before == Some(' ');
        break_then_space |= c == ' ' && before.is_some_and(is_break);
        before = Some(c);
    }
    let at_an_end = |is: fn(char) -> bool| text.starts_with(is) || text.ends_with(is);
    let is_bare = at_an_end(|c| c == ' ') || at_an_end(is_break);
    let is_broken = space_then_break || is_special;
    Allowed {
        plain: !(is_bare || is_broken || has_break || has_indicator || has_tab),
        single: !(is_broken || break_then_space || has_tab),
        block: !(is_broken || text.ends_with(' ') || text.is_empty()),
        has_break,
    }
}

/// Whether a text takes more than one line.
pub fn has_break(text: &str) -> bool {
    text.contains(is_break)
}

/// The style of a text, as a key that stands in one line, or elsewhere.
pub fn style(text: &str, is_key: bool, library: Library) -> Style {
    let is_text = resolve(text) == Scalar::String && !is_base_60(text);
    let allowed = allowed(text, library);
    let wanted = match text.contains('\n') {
        true => Style::Literal,
        false if is_text => Style::Plain,
        false => Style::Double,
    };
    match wanted {
        _ if is_key && allowed.has_break => Style::Double,
        Style::Literal if allowed.block && !is_key => Style::Literal,
        Style::Literal | Style::Double => Style::Double,
        Style::Plain if allowed.plain => Style::Plain,
        _ if allowed.single => Style::Single,
        _ => Style::Double,
    }
}
