//! Conversions of any value, as sprig and the library cast make them: what cannot be converted is zero.

use crate::{
    go::{number, print},
    value::Value,
};

/// `strval`: a string as it is, anything else as `%v` prints it.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        value => print::any(value),
    }
}

/// `cast.ToInt64`.
pub fn int(value: &Value) -> i64 {
    match value {
        Value::Int(it) | Value::Int64(it) => *it,
        Value::Uint64(it) => *it as i64,
        Value::Float(it) => truncated(*it),
        Value::Bool(it) => i64::from(*it),
        Value::String(text) => {
            let number = number::integer(without_zero_decimals(text));
            number
                .and_then(|it| i64::try_from(it).ok())
                .unwrap_or_default()
        }
        _ => 0,
    }
}

/// A float as an integer. Out of range, Go's conversion on amd64 is the smallest integer.
fn truncated(it: f64) -> i64 {
    let is_inside = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&it);
    if is_inside { it as i64 } else { i64::MIN }
}

/// `cast.ToFloat64`.
pub fn float(value: &Value) -> f64 {
    match value {
        Value::Int(it) | Value::Int64(it) => *it as f64,
        Value::Uint64(it) => *it as f64,
        Value::Float(it) => *it,
        Value::Bool(it) => f64::from(u8::from(*it)),
        Value::String(text) => parse_float(text).unwrap_or_default(),
        _ => 0.0,
    }
}

/// `1.00` is `1`; `1.05` stays.
fn without_zero_decimals(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, decimals))
            if !decimals.is_empty() && decimals.bytes().all(|it| it == b'0') =>
        {
            whole
        }
        Some((whole, "")) => whole,
        _ => text,
    }
}

/// `strconv.ParseFloat(text, 64)`.
pub fn parse_float(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let unsigned = lower.trim_start_matches(['+', '-']);
    match unsigned {
        "inf" | "infinity" | "nan" => {}
        _ if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {}
        _ => return None,
    }
    lower.parse().ok()
}

/// `strslice`: the items of a list as texts, without `nil`; anything else alone.
pub fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Nil => Vec::new(),
        Value::List(list) => {
            let some = list.items.iter().filter(|it| !matches!(it, Value::Nil));
            let small = |it: &&Value| print::visit_text(0, it.as_str().map_or(0, str::len));
            some.take_while(small).map(text).collect()
        }
        Value::Bytes(bytes) => bytes.iter().map(ToString::to_string).collect(),
        value => vec![text(value)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers() {
        for (given, number) in [
            ("12", 12),
            ("-0x1F", -31),
            ("010", 8),
            ("08", 0),
            ("1.0", 1),
            ("1.5", 0),
            ("a", 0),
            ("", 0),
            ("1_000", 1000),
        ] {
            assert_eq!(int(&Value::from(given)), number, "{given}");
        }
    }
}
