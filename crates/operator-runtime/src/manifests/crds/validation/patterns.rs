//! Patterns in the syntax of Go, RE2 (documentation of Go's package `regexp/syntax`), which is nearly Rust's.

use regex_syntax::ast::{
    Ast, Error, ErrorKind, Flag, FlagsItemKind, GroupKind, HexLiteralKind, LiteralKind,
    RepetitionKind, RepetitionRange, parse::Parser,
};

/// Go's limit of one repetition, and of nested ones together.
const MOST: u32 = 1000;

/// Judges a pattern.
///
/// # Errors
/// Why Go does not compile it, to follow the pattern.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    match Parser::new().parse(pattern) {
        Ok(ast) => check_ast(&ast).map(|_| ()),
        Err(error) if is_plain_in_go(&error) => Ok(()),
        Err(error) => Err(format!("is not a regular expression: {}", error.kind())),
    }
}

/// Whether Go takes for plain characters what Rust wants to have a `\\` before it, or has an escape that Rust lacks.
fn is_plain_in_go(error: &Error) -> bool {
    let pattern = error.pattern();
    let rest = &pattern[error.span().start.offset..];
    match error.kind() {
        ErrorKind::ClassRangeLiteral
        | ErrorKind::DecimalEmpty
        | ErrorKind::RepetitionCountDecimalEmpty
        | ErrorKind::RepetitionCountUnclosed => true,
        ErrorKind::RepetitionMissing => {
            let count = rest.strip_prefix('{');
            count.is_some_and(|count| !count.starts_with(|c: char| c.is_ascii_digit()))
        }
        ErrorKind::ClassUnclosed => pattern.contains("[["),
        _ => pattern.contains("\\Q") || pattern.contains("\\C"),
    }
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
        Ast::Literal(literal) => match literal.kind {
            LiteralKind::HexFixed(HexLiteralKind::UnicodeShort | HexLiteralKind::UnicodeLong)
            | LiteralKind::HexBrace(HexLiteralKind::UnicodeShort | HexLiteralKind::UnicodeLong) => {
                Err("has `\\u`, which Go writes as `\\x{…}`".to_owned())
            }
            _ => Ok(1),
        },
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
