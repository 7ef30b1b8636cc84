//! TOML as `toToml` and `fromToml` have it.

use std::fmt::Write as _;

use crate::{
    go::number,
    value::{List, Map, MapType, Value},
};

/// A value as TOML: tables in tables are indented by two blanks, and what is `nil` is left out.
///
/// # Errors
/// The message of the Go library, which `toToml` gives as its text.
pub fn write(value: &Value) -> Result<String, String> {
    value.check_size()?;
    let mut out = String::new();
    entry(&mut out, &mut Vec::new(), value)?;
    Ok(out)
}

const NIL_IN_ARRAY: &str = "toml: cannot encode array with nil element";

/// What TOML calls a value.
#[derive(PartialEq)]
enum Type {
    Nothing,
    Table,
    Tables,
    Other,
}

fn type_of(value: &Value) -> Result<Type, String> {
    Ok(match value {
        Value::Nil => Type::Nothing,
        Value::Map(_) => Type::Table,
        Value::List(List { items, .. }) => {
            let mut are_tables = !items.is_empty();
            for item in items.iter() {
                match item {
                    Value::Nil => return Err(NIL_IN_ARRAY.to_owned()),
                    // Also an array in an array is looked through.
                    item => are_tables &= type_of(item)? == Type::Table,
                }
            }
            if are_tables {
                Type::Tables
            } else {
                Type::Other
            }
        }
        _ => Type::Other,
    })
}

/// Writes what stands under a path.
fn entry(out: &mut String, path: &mut Vec<String>, value: &Value) -> Result<(), String> {
    let indent = "  ".repeat(path.len().saturating_sub(1));
    let blank_line = |out: &mut String| {
        if !out.is_empty() {
            out.push('\n');
        }
    };
    match (value, type_of(value)?) {
        (Value::Nil, _) => {}
        (Value::Map(map), _) => {
            if path.len() == 1 {
                blank_line(out);
            }
            if !path.is_empty() {
                _ = writeln!(out, "{indent}[{}]", dotted(path));
            }
            table(out, path, map)?;
        }
        (Value::List(_), Type::Tables) if path.is_empty() => {
            return Err("toml: top-level values must be Go maps or structs".to_owned());
        }
        (Value::List(List { items, .. }), Type::Tables) => {
            for item in items.iter() {
                let Value::Map(map) = item else { continue };
                blank_line(out);
                _ = writeln!(out, "{indent}[[{}]]", dotted(path));
                table(out, path, map)?;
            }
        }
        _ if path.is_empty() => element(out, value)?,
        _ => {
            let key = path.last().map(|it| key(it)).unwrap_or_default();
            _ = write!(out, "{indent}{key} = ");
            element(out, value)?;
            blank_line(out);
        }
    }
    Ok(())
}

/// The entries of a map: first those that are no tables, `nil` among them.
fn sorted(map: &Map) -> Result<Vec<(String, Value)>, String> {
    let mut direct = Vec::new();
    let mut tables = Vec::new();
    for (key, value) in map.entries() {
        match type_of(&value)? {
            Type::Table | Type::Tables => tables.push((key, value)),
            Type::Nothing | Type::Other => direct.push((key, value)),
        }
    }
    direct.extend(tables);
    Ok(direct)
}

fn table(out: &mut String, path: &mut Vec<String>, map: &Map) -> Result<(), String> {
    for (key, value) in sorted(map)? {
        path.push(key);
        entry(out, path, &value)?;
        path.pop();
    }
    Ok(())
}

/// Writes a value in one line.
fn element(out: &mut String, value: &Value) -> Result<(), String> {
    match value {
        Value::Nil => return Err(NIL_IN_ARRAY.to_owned()),
        Value::Bool(it) => _ = write!(out, "{it}"),
        Value::Int(it) | Value::Int64(it) => _ = write!(out, "{it}"),
        Value::Uint64(it) => _ = write!(out, "{it}"),
        Value::Float(it) => out.push_str(&float(*it)),
        Value::String(text) => quote(out, text),
        Value::Bytes(bytes) => {
            let all: Vec<_> = bytes.iter().map(ToString::to_string).collect();
            _ = write!(out, "[{}]", all.join(", "));
        }
        Value::Object(object) => quote(out, &object.text()),
        Value::List(List { items, .. }) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                element(out, item)?;
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            let entries = sorted(map)?;
            let last = entries.len().saturating_sub(1);
            for (at, (name, value)) in entries.iter().enumerate() {
                if matches!(value, Value::Nil) {
                    continue;
                }
                _ = write!(out, "{} = ", key(name));
                element(out, value)?;
                // The Go library counts what it leaves out, so a comma may stand at the end.
                if at < last {
                    out.push_str(", ");
                }
            }
            out.push('}');
        }
    }
    Ok(())
}

fn float(it: f64) -> String {
    let sign = if it.is_sign_negative() { "-" } else { "" };
    match () {
        () if it.is_nan() => format!("{sign}nan"),
        () if it.is_infinite() => format!("{sign}inf"),
        () => {
            let text = number::plain(it);
            let is_float = text.contains(['e', '.']);
            if is_float { text } else { format!("{text}.0") }
        }
    }
}

fn dotted(path: &[String]) -> String {
    let keys: Vec<_> = path.iter().map(|it| key(it)).collect();
    keys.join(".")
}

fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => {
            let mut quoted = String::new();
            quote(&mut quoted, name);
            quoted
        }
    }
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..=' ' | '\u{7f}' if c != ' ' => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Why a document cannot be read.
pub enum Unread {
    /// It is no TOML. The words are not those of the Go library.
    Invalid(String),
    /// It holds a date, which has a type of its own in Go that nothing here has.
    Date,
}

/// The table of a TOML document.
///
/// # Errors
/// It is no TOML, or holds a date.
pub fn read(text: &str) -> Result<Map, Unread> {
    let table = text.parse::<toml::Table>();
    map(table.map_err(|error| Unread::Invalid(format!("toml: {}", error.message())))?)
}

fn map(table: toml::Table) -> Result<Map, Unread> {
    let entries = table.into_iter();
    let entries = entries.map(|(key, value)| Ok((key, of(value)?)));
    Ok(Map::of(
        MapType::Any,
        entries.collect::<Result<_, Unread>>()?,
    ))
}

fn of(value: toml::Value) -> Result<Value, Unread> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(it) => Value::Int64(it),
        toml::Value::Float(it) => Value::Float(it),
        toml::Value::Boolean(it) => it.into(),
        toml::Value::Datetime(_) => return Err(Unread::Date),
        toml::Value::Array(items) => {
            let items = items.into_iter().map(of);
            Value::list(items.collect::<Result<Vec<_>, _>>()?)
        }
        toml::Value::Table(table) => Value::Map(map(table)?),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_are_indented() {
        let value = json!({"b": 1, "a": {"x": "y\n", "in": {"c": [1.5, "d"]}}, "t": [{"n": 1}, {"n": 2}], "none": null, "m": [1, {"k": true}]});
        assert_eq!(
            write(&Value::of_json(&value)).unwrap(),
            "b = 1.0\nm = [1.0, {k = true}]\n\n[a]\n  x = \"y\\n\"\n  [a.in]\n    c = [1.5, \"d\"]\n\n[[t]]\n  n = 1.0\n\n[[t]]\n  n = 2.0\n"
        );
    }
}
