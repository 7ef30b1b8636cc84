//! JSON as Go writes and reads it.

mod read;

use std::fmt::Write as _;

use data_encoding::BASE64;

use crate::{
    go::number,
    value::{List, Value},
};

pub use self::read::value as read;

/// What JSON can say of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object, its keys sorted.
    Map(Vec<(String, Node)>),
}

/// A number that is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of any signed type.
    Int(i64),
    /// Of an unsigned type.
    Uint(u64),
    /// Of a type for floats.
    Float(f64),
}

impl Number {
    /// In JSON: a float has an exponent below 1e-6, and from 1e21 on.
    pub fn in_json(self) -> String {
        let Self::Float(it) = self else {
            return self.in_yaml();
        };
        let is_plain = it == 0.0 || (1e-6..1e21).contains(&it.abs());
        match is_plain {
            true => number::float(it, 'f', None),
            // The exponent has two digits only where it needs them, if it is negative.
            false => number::float(it, 'e', None).replace("e-0", "e-"),
        }
    }

    /// In YAML that is written as it is.
    pub fn in_yaml(self) -> String {
        match self {
            Self::Int(it) => it.to_string(),
            Self::Uint(it) => it.to_string(),
            Self::Float(it) => number::float(it, 'g', None),
        }
    }

    /// In YAML that was JSON before: a float without decimals has become an integer.
    pub fn in_yaml_of_json(self) -> String {
        let json = self.in_json();
        let integer = json.parse::<i128>().ok();
        match integer {
            Some(0) => "0".to_owned(),
            Some(it) if i64::try_from(it).is_ok() || u64::try_from(it).is_ok() => json,
            _ => self.in_yaml(),
        }
    }
}

impl Node {
    /// What JSON can say of a value.
    ///
    /// # Errors
    /// As Go's, for a number that is none, and for a map that contains itself.
    pub fn of(value: &Value) -> Result<Self, String> {
        value.check_size()?;
        Self::part(value)
    }

    fn part(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::Nil => Self::Null,
            Value::Bool(it) => Self::Bool(*it),
            Value::Int(it) | Value::Int64(it) => Self::Number(Number::Int(*it)),
            Value::Uint64(it) => Self::Number(Number::Uint(*it)),
            Value::Float(it) if !it.is_finite() => {
                let it = number::float(*it, 'g', None);
                return Err(format!("json: unsupported value: {it}"));
            }
            Value::Float(it) => Self::Number(Number::Float(*it)),
            Value::String(text) => Self::Text(text.to_string()),
            Value::Bytes(bytes) => Self::Text(BASE64.encode(bytes)),
            Value::List(List { items, .. }) => {
                let items = items.iter().map(Self::part);
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Value::Map(map) => {
                let entries = map.entries().into_iter();
                let entries = entries.map(|(key, value)| Ok((key, Self::part(&value)?)));
                Self::Map(entries.collect::<Result<_, String>>()?)
            }
            Value::Object(object) => match object.json() {
                Some(json) => Self::part(&Value::of_json(&json))?,
                None => return Err(format!("json: unsupported type: {}", object.type_name())),
            },
        })
    }

    fn write(&self, out: &mut String, layout: Layout, depth: usize) {
        let line = |out: &mut String, depth: usize| {
            if layout.is_indented {
                out.push('\n');
                (0..depth).for_each(|_| out.push_str("  "));
            }
        };
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
            Self::Number(number) => out.push_str(&number.in_json()),
            Self::Text(text) => quote(text, layout.escapes_html, out),
            Self::List(items) if items.is_empty() => out.push_str("[]"),
            Self::Map(entries) if entries.is_empty() => out.push_str("{}"),
            Self::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    out.push(if at == 0 { '[' } else { ',' });
                    line(out, depth + 1);
                    item.write(out, layout, depth + 1);
                }
                line(out, depth);
                out.push(']');
            }
            Self::Map(entries) => {
                for (at, (key, value)) in entries.iter().enumerate() {
                    out.push(if at == 0 { '{' } else { ',' });
                    line(out, depth + 1);
                    quote(key, layout.escapes_html, out);
                    out.push_str(if layout.is_indented { ": " } else { ":" });
                    value.write(out, layout, depth + 1);
                }
                line(out, depth);
                out.push('}');
            }
        }
    }
}

/// How JSON is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Each item in a line of its own, by two blanks deeper than what it is in.
    pub is_indented: bool,
    /// `<`, `>` and `&` as escapes, as Go has them by default.
    pub escapes_html: bool,
}

impl Layout {
    /// That of `toJson`.
    pub const COMPACT: Self = Self {
        is_indented: false,
        escapes_html: true,
    };
    /// That of `toPrettyJson`.
    pub const PRETTY: Self = Self {
        is_indented: true,
        escapes_html: true,
    };
    /// That of `toRawJson`.
    pub const RAW: Self = Self {
        is_indented: false,
        escapes_html: false,
    };
}

/// A value as JSON, without a line break at its end.
///
/// # Errors
/// As [`Node::of`].
pub fn write(value: &Value, layout: Layout) -> Result<String, String> {
    let mut out = String::new();
    Node::of(value)?.write(&mut out, layout, 0);
    Ok(out)
}

/// A text in quotes.
fn quote(text: &str, escapes_html: bool, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '\u{2028}' | '\u{2029}' => _ = write!(out, "\\u{:04x}", c as u32),
            '<' | '>' | '&' if escapes_html => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_three_ways() {
        for (number, json, yaml, yaml_of_json) in [
            (1.0, "1", "1", "1"),
            (1e6, "1000000", "1e+06", "1000000"),
            (1234567.5, "1234567.5", "1.2345675e+06", "1.2345675e+06"),
            (1e20, "100000000000000000000", "1e+20", "1e+20"),
            (1e21, "1e+21", "1e+21", "1e+21"),
            (1e-7, "1e-7", "1e-07", "1e-07"),
            (-0.0, "-0", "-0", "0"),
            (
                18446744073709551615.0,
                "18446744073709552000",
                "1.8446744073709552e+19",
                "1.8446744073709552e+19",
            ),
        ] {
            let it = Number::Float(number);
            assert_eq!(it.in_json(), json);
            assert_eq!(it.in_yaml(), yaml);
            assert_eq!(it.in_yaml_of_json(), yaml_of_json);
        }
    }
}
