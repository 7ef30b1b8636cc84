//! What a plain scalar means: a text, or one of the other types of YAML 1.1.

use std::sync::LazyLock;

use regex::Regex;

use crate::go::number;

/// The meaning of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    /// A date. It is read as a text, but written in quotes.
    Timestamp,
    String,
}

/// The words that are no texts.
fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// The meaning of a plain scalar, as the Go library yaml v2 has it.
pub fn resolve(text: &str) -> Scalar {
    if let Some(found) = word(text) {
        return found;
    }
    match text.as_bytes()[0] {
        b'.' => finite(text).map_or(Scalar::String, Scalar::Float),
        b'+' | b'-' | b'0'..=b'9' => numeric(text),
        _ => Scalar::String,
    }
}

fn numeric(text: &str) -> Scalar {
    static FLOAT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$").expect("it is valid")
    });
    if is_timestamp(text) {
        return Scalar::Timestamp;
    }
    let plain = text.replace('_', "");
    if let Some(integer) = number::integer(&plain) {
        if let Ok(it) = i64::try_from(integer) {
            return Scalar::Int(it);
        }
        if let (Ok(it), false) = (u64::try_from(integer), plain.starts_with('+')) {
            return Scalar::Uint(it);
        }
    }
    match FLOAT.is_match(&plain) {
        true => finite(&plain).map_or(Scalar::String, Scalar::Float),
        false => Scalar::String,
    }
}

/// A number that is in the range of floats.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|it: &f64| it.is_finite())
}

/// Whether a text is a date that the Go library knows, with or without a time.
fn is_timestamp(text: &str) -> bool {
    static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
        let date = r"^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})";
        let time = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})([.,][0-9]+)?";
        let zone = r"(Z|[+-]([0-9]{2}):([0-9]{2}))";
        Regex::new(&format!("{date}(?:[Tt]{time}{zone}| +{time})?$")).expect("it is valid")
    });
    let Some(found) = TIMESTAMP.captures(text) else {
        return false;
    };
    let part = |at: usize| found.get(at).and_then(|it| it.as_str().parse::<u32>().ok());
    let (year, month, day) = (
        part(1).unwrap_or(0),
        part(2).unwrap_or(0),
        part(3).unwrap_or(0),
    );
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let below = |at: usize, limit: u32| part(at).is_none_or(|it| it < limit);
    let in_time = |at: usize| below(at, 24) && below(at + 1, 60) && below(at + 2, 60);
    (1..=days).contains(&day) && in_time(4) && below(9, 25) && below(10, 61) && in_time(11)
}

/// Whether a text looks like a number to the base of 60, which other readers of YAML 1.1 know.
pub fn is_base_60(text: &str) -> bool {
    static BASE_60: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$").expect("it is valid")
    });
    text.contains(':') && BASE_60.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_meanings() {
        for (text, meaning) in [
            ("yes", Scalar::Bool(true)),
            ("off", Scalar::Bool(false)),
            ("yEs", Scalar::String),
            ("~", Scalar::Null),
            ("010", Scalar::Int(8)),
            ("08", Scalar::Float(8.0)),
            ("0o17", Scalar::Int(15)),
            ("0x_1F", Scalar::Int(31)),
            ("-0b11", Scalar::Int(-3)),
            ("1_000", Scalar::Int(1000)),
            ("18446744073709551615", Scalar::Uint(u64::MAX)),
            (
                "18446744073709551616",
                Scalar::Float(18446744073709551616.0),
            ),
            ("1e3", Scalar::Float(1000.0)),
            (".5", Scalar::Float(0.5)),
            ("1.", Scalar::Float(1.0)),
            ("1e400", Scalar::String),
            ("2024-02-29", Scalar::Timestamp),
            ("2023-02-29", Scalar::String),
            ("2024-1-2T3:4:5.6Z", Scalar::Timestamp),
            ("2024-1-2 3:4:5", Scalar::Timestamp),
            ("2024-1-2 3:4", Scalar::String),
            ("1.2.3", Scalar::String),
            ("<<", Scalar::String),
        ] {
            assert_eq!(resolve(text), meaning, "{text}");
        }
        assert!(is_base_60("1:30") && !is_base_60("1:60") && !is_base_60("a:30"));
    }
}
