//! Judges what is known before a rule runs: patterns, formats, conversions of literals, and lists of mixed types.

use super::super::patterns;
use super::{
    Fault,
    checker::{Checked, mixed},
    expressions::{Call, Expr, Kind, Literal},
    formats,
    range::TOO_MUCH,
    times::{is_duration, is_timestamp},
    types::Type,
};

pub(super) fn check(checked: &Checked) -> Result<(), Fault> {
    check_node(checked, &checked.root, false)
}

/// Judges a node; values of several types may be in a list that is formatted.
fn check_node(checked: &Checked, node: &Expr, is_formatted: bool) -> Result<(), Fault> {
    let mut is_formatted = is_formatted;
    match &node.kind {
        Kind::Call(call) => {
            call_of_pattern(call)?;
            formats::check(checked, node.at, call)?;
            if constant(node) == Constant::Wrong {
                let function = &call.function;
                return Err(Fault::at(
                    node.at,
                    format!("`{function}` cannot convert its argument"),
                ));
            }
            is_formatted |= call.function == "format";
        }
        Kind::List(items) if !is_formatted => {
            same(
                checked,
                items.iter().map(|item| (&item.value, item.is_optional)),
            )?;
        }
        Kind::Map(entries) if !is_formatted => {
            same(checked, entries.iter().map(|entry| (&entry.key, false)))?;
            same(
                checked,
                entries
                    .iter()
                    .map(|entry| (&entry.value, entry.is_optional)),
            )?;
        }
        _ => {}
    }
    let mut below = node.below().into_iter();
    below.try_for_each(|below| check_node(checked, below, is_formatted))
}

/// Whether all values have the same type.
fn same<'a>(
    checked: &Checked,
    values: impl Iterator<Item = (&'a Expr, bool)>,
) -> Result<(), Fault> {
    let mut first: Option<&Type> = None;
    for (value, is_optional) in values {
        let type_ = match checked.type_of(value) {
            Type::Optional(of) if is_optional => of,
            type_ => type_,
        };
        match first {
            Some(first) if first != type_ => return Err(mixed(value.at, first, type_)),
            _ => first = Some(type_),
        }
    }
    Ok(())
}

fn call_of_pattern(call: &Call) -> Result<(), Fault> {
    let is_method = call.target.is_some();
    let arguments: Vec<_> = call
        .target
        .as_deref()
        .into_iter()
        .chain(&call.arguments)
        .collect();
    let places: &[usize] = match call.function.as_str() {
        // The API server takes the first argument for the pattern, too.
        "matches" if !is_method => &[0, 1],
        "matches" | "find" | "findAll" => &[1],
        _ => &[],
    };
    for place in places {
        let Some(argument) = arguments.get(*place) else {
            continue;
        };
        let pattern = match place {
            0 => argument
                .literal()
                .cloned()
                .map_or(Constant::Unknown, Constant::Literal),
            _ => constant(argument),
        };
        if let Constant::Literal(Literal::Text(pattern)) = pattern
            && let Err(why) = patterns::check(&pattern)
        {
            return Err(Fault::at(
                argument.at,
                format!("the pattern `{pattern}` {why}"),
            ));
        }
    }
    Ok(())
}

// Any of the texts that durations and times convert to: they convert to the same types.
const DURATION: &str = "1s";
const TIME: &str = "2000-01-01T00:00:00Z";

/// What is known of a value before a rule runs.
#[derive(Debug, PartialEq)]
enum Constant {
    Literal(Literal),
    /// A time or a duration, which converts to the text.
    Written(&'static str),
    /// It has no value.
    Wrong,
    Unknown,
}

fn constant(node: &Expr) -> Constant {
    match &node.kind {
        Kind::Literal(literal) => Constant::Literal(literal.clone()),
        Kind::Call(Call {
            function,
            target: None,
            arguments,
        }) if arguments.len() == 1 => match constant(&arguments[0]) {
            Constant::Literal(literal) => convert(function, literal),
            Constant::Written(text) => match function.as_str() {
                "string" => Constant::Literal(Literal::Text(text.to_owned())),
                "dyn" | "duration" | "timestamp" => Constant::Written(text),
                _ => Constant::Unknown,
            },
            _ => Constant::Unknown,
        },
        _ => Constant::Unknown,
    }
}

fn convert(function: &str, literal: Literal) -> Constant {
    let known = |literal: Option<Literal>| literal.map_or(Constant::Wrong, Constant::Literal);
    let written = |is_valid: bool, text| match is_valid {
        true => Constant::Written(text),
        false => Constant::Wrong,
    };
    match (function, literal) {
        ("dyn", literal)
        | ("bool", literal @ Literal::Bool(_))
        | ("int", literal @ Literal::Int(_))
        | ("uint", literal @ Literal::Uint(_))
        | ("double", literal @ Literal::Double(_))
        | ("string", literal @ Literal::Text(_)) => Constant::Literal(literal),
        ("bool", Literal::Text(text)) => {
            let is = |words: [&str; 6]| words.contains(&text.as_str());
            match (
                is(["1", "t", "T", "true", "TRUE", "True"]),
                is(["0", "f", "F", "false", "FALSE", "False"]),
            ) {
                (false, false) => Constant::Wrong,
                (is_true, _) => Constant::Literal(Literal::Bool(is_true)),
            }
        }
        ("int", Literal::Text(text)) => known(text.parse().ok().map(Literal::Int)),
        ("int", Literal::Uint(number)) => known(i64::try_from(number).ok().map(Literal::Int)),
        ("int", Literal::Double(number)) => {
            let fits = number.abs() < TOO_MUCH / 2.0;
            known(fits.then_some(Literal::Int(number as i64)))
        }
        ("uint", Literal::Text(text)) => known(
            text.parse()
                .ok()
                .filter(|_| !text.starts_with('+'))
                .map(Literal::Uint),
        ),
        ("uint", Literal::Int(number)) => known(u64::try_from(number).ok().map(Literal::Uint)),
        ("uint", Literal::Double(number)) => {
            let fits = (0.0..TOO_MUCH).contains(&number);
            known(fits.then_some(Literal::Uint(number as u64)))
        }
        // Go reads more ways to write a number.
        ("double", Literal::Text(text))
            if !["0x", "0X", "_"].iter().any(|it| text.contains(it)) =>
        {
            let is_digit = |c: char| c.is_ascii_digit();
            let fits = |number: &f64| number.is_finite() || !text.contains(is_digit);
            known(text.parse().ok().filter(fits).map(Literal::Double))
        }
        ("double", Literal::Int(number)) => Constant::Literal(Literal::Double(number as f64)),
        ("double", Literal::Uint(number)) => Constant::Literal(Literal::Double(number as f64)),
        ("string", Literal::Bool(flag)) => Constant::Literal(Literal::Text(flag.to_string())),
        ("string", Literal::Int(number)) => Constant::Literal(Literal::Text(number.to_string())),
        ("string", Literal::Uint(number)) => Constant::Literal(Literal::Text(number.to_string())),
        ("string", Literal::Bytes(bytes)) => {
            known(String::from_utf8(bytes).ok().map(Literal::Text))
        }
        ("bytes", Literal::Text(text)) => Constant::Literal(Literal::Bytes(text.into_bytes())),
        ("duration", Literal::Text(text)) => written(is_duration(&text), DURATION),
        ("timestamp", Literal::Text(text)) => written(is_timestamp(&text), TIME),
        ("timestamp", Literal::Int(seconds)) => {
            written((-62_135_596_800..=253_402_300_799).contains(&seconds), TIME)
        }
        _ => Constant::Unknown,
    }
}
