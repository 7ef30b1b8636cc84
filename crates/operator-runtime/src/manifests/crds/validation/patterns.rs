//! Patterns in the syntax of Go, RE2 (documentation of Go's package `regexp/syntax`), which is nearly Rust's.

use regex_syntax::ast::{
    Ast, Error, ErrorKind, Flag, FlagsItemKind, GroupKind, RepetitionKind, RepetitionRange,
    parse::Parser,
};

/// Go's limit of one repetition, and of nested ones together.
const MOST: u32 = 1000;

/// Judges a pattern.
///
/// # Errors
/// Why Go does not compile it, to follow the pattern.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    if escapes(pattern).any(|c| matches!(c, 'u' | 'U')) {
        return Err("has `\\u`, which Go writes as `\\x{…}`".to_owned());
    }
    match Parser::new().parse(pattern) {
        Ok(ast) => check_ast(&ast).map(|_| ()),
        Err(error) if is_wrong_in_go(&error) => {
            Err(format!("is not a regular expression: {}", error.kind()))
        }
        Err(_) => Ok(()),
    }
}

/// The characters after a `\\`.
fn escapes(pattern: &str) -> impl Iterator<Item = char> {
    let mut characters = pattern.chars();
    std::iter::from_fn(move || {
        characters.find(|c| *c == '\\')?;
        characters.next()
    })
}

/// Whether what Rust does not parse is wrong in Go, too. Go takes more characters for themselves, such as `[` in a class and a
/// `{` that begins no count, and has more escapes, so what is not listed here may be right.
fn is_wrong_in_go(error: &Error) -> bool {
    let pattern = error.pattern();
    let rest = &pattern[error.span().start.offset..];
    // Rust reads on in another place of the pattern.
    if has_plain_bracket(pattern) || pattern.contains("\\Q") {
        return false;
    }
    let is_digit = |c: char| c.is_ascii_digit();
    match error.kind() {
        ErrorKind::ClassRangeInvalid
        | ErrorKind::ClassUnclosed
        | ErrorKind::EscapeUnexpectedEof
        | ErrorKind::GroupUnclosed
        | ErrorKind::GroupUnopened
        | ErrorKind::UnsupportedLookAround => true,
        ErrorKind::EscapeUnrecognized => rest
            .get(1..)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())),
        ErrorKind::RepetitionCountInvalid => !pattern.contains(' '),
        ErrorKind::RepetitionMissing => {
            let count = rest.strip_prefix('{').map(|rest| rest.split_once('}'));
            let is_count = |count: &str| {
                count.starts_with(is_digit) && count.chars().all(|c| is_digit(c) || c == ',')
            };
            count.is_none_or(|count| count.is_some_and(|(count, _)| is_count(count)))
        }
        // Go reads octal numbers of several digits, and `\\0`.
        ErrorKind::UnsupportedBackreference => {
            let more = rest.get(2..).unwrap_or_default();
            !rest.starts_with("\\0") && !more.starts_with(is_digit)
        }
        _ => false,
    }
}

/// Whether a class has a `[` that Go takes for itself, where Rust begins a class inside the class.
fn has_plain_bracket(pattern: &str) -> bool {
    let (mut inside, mut characters) = (false, pattern.chars().peekable());
    while let Some(c) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            '[' if inside && characters.peek() != Some(&':') => return true,
            '[' if !inside => {
                inside = true;
                // A `]` at the start is one of the characters.
                characters.next_if_eq(&'^');
                characters.next_if_eq(&']');
            }
            ']' => inside = false,
            _ => {}
        }
    }
    false
}

/// The product of the nested repetitions of a pattern that Go compiles.
fn check_ast(ast: &Ast) -> Result<u32, String> {
    let most = |parts: &[Ast]| {
        let mut counts = parts.iter().map(check_ast);
        counts.try_fold(1, |most, count| Ok(count?.max(most)))
    };
    match ast {
        Ast::Flags(flags) => check_flags(&flags.flags.items).map(|()| 1),
        Ast::Group(group) => {
            if let GroupKind::NonCapturing(flags) = &group.kind {
                check_flags(&flags.items)?;
            }
            check_ast(&group.ast)
        }
        Ast::Repetition(repetition) => {
            if matches!(*repetition.ast, Ast::Repetition(_)) {
                return Err("repeats a repetition without parentheses".to_owned());
            }
            let inner = check_ast(&repetition.ast)?;
            let RepetitionKind::Range(range) = &repetition.op.kind else {
                return Ok(inner);
            };
            let count = match range {
                RepetitionRange::Exactly(most) | RepetitionRange::AtLeast(most) => *most,
                RepetitionRange::Bounded(_, most) => *most,
            };
            let product = inner.saturating_mul(count.max(1));
            match product > MOST {
                true => Err(format!("repeats more than {MOST} times")),
                false => Ok(product),
            }
        }
        Ast::Alternation(alternation) => most(&alternation.asts),
        Ast::Concat(concat) => most(&concat.asts),
        _ => Ok(1),
    }
}

/// Go has the flags `i`, `m`, `s` and `U`.
fn check_flags(items: &[regex_syntax::ast::FlagsItem]) -> Result<(), String> {
    let is_unknown = |kind: &FlagsItemKind| {
        let FlagsItemKind::Flag(flag) = kind else {
            return false;
        };
        matches!(flag, Flag::CRLF | Flag::IgnoreWhitespace | Flag::Unicode)
    };
    match items.iter().any(|item| is_unknown(&item.kind)) {
        true => Err("has a flag that Go does not have".to_owned()),
        false => Ok(()),
    }
}
