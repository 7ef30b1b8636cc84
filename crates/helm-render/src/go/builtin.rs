//! The functions that `text/template` has by itself.

use std::cmp::Ordering;

use super::print;
use crate::{
    function::{Functions, Kind, Result},
    value::{List, Value},
};

/// Adds them.
pub fn add(all: &mut Functions) {
    // The executor evaluates the arguments of these two one by one.
    all.add_variadic("and", &[Kind::Reflect], Kind::Reflect, |_, given| {
        Ok(given[0].clone())
    });
    all.add_variadic("or", &[Kind::Reflect], Kind::Reflect, |_, given| {
        Ok(given[0].clone())
    });
    all.add("not", &[Kind::Reflect], |_, given| {
        Ok(Value::Bool(!given[0].is_true()))
    });
    all.add_variadic(
        "call",
        &[Kind::Reflect],
        Kind::Reflect,
        |_, given| match &given[0] {
            Value::Nil => Err("call of nil".to_owned()),
            other => Err(format!("non-function of type {}", other.type_name())),
        },
    );
    all.add_variadic("print", &[], Kind::Any, |_, given| {
        Ok(print::print(given).into())
    });
    all.add_variadic("println", &[], Kind::Any, |_, given| {
        Ok(print::println(given).into())
    });
    all.add_variadic("printf", &[Kind::String], Kind::Any, |_, given| {
        let format = given[0].as_str().unwrap_or_default();
        Ok(print::printf(format, &given[1..]).into())
    });
    all.add_variadic("html", &[], Kind::Any, |_, given| {
        Ok(html(&print::print(&printable(given))).into())
    });
    all.add_variadic("js", &[], Kind::Any, |_, given| {
        Ok(js(&print::print(&printable(given))).into())
    });
    all.add_variadic("urlquery", &[], Kind::Any, |_, given| {
        Ok(query(&print::print(&printable(given))).into())
    });
    all.add("len", &[Kind::Reflect], |_, given| len(&given[0]));
    all.add_variadic("index", &[Kind::Reflect], Kind::Reflect, |_, given| {
        let mut value = given[0].clone();
        if matches!(value, Value::Nil) {
            return Err("index of untyped nil".to_owned());
        }
        for (number, at) in given[1..].iter().enumerate() {
            let is_byte = matches!(value, Value::String(_) | Value::Bytes(_));
            value = index(&value, at)?;
            if is_byte && number + 2 < given.len() {
                return Err("can't index item of type uint8".to_owned());
            }
        }
        Ok(value)
    });
    all.add_variadic("slice", &[Kind::Reflect], Kind::Reflect, |_, given| {
        slice(given)
    });
    all.add_variadic("eq", &[Kind::Reflect], Kind::Reflect, |_, given| {
        let Some((first, others)) = given.split_first().filter(|(_, others)| !others.is_empty())
        else {
            return Err("missing argument for comparison".to_owned());
        };
        for other in others {
            if equal(first, other)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    });
    let two = [Kind::Reflect, Kind::Reflect];
    all.add("ne", &two, |_, given| {
        Ok(Value::Bool(!equal(&given[0], &given[1])?))
    });
    all.add("lt", &two, |_, given| {
        Ok(Value::Bool(
            compare(&given[0], &given[1])? == Some(Ordering::Less),
        ))
    });
    all.add("le", &two, |_, given| {
        let order = compare(&given[0], &given[1])?;
        Ok(Value::Bool(matches!(
            order,
            Some(Ordering::Less | Ordering::Equal)
        )))
    });
    all.add("gt", &two, |_, given| {
        let order = compare(&given[0], &given[1])?;
        Ok(Value::Bool(
            order.is_none() || order == Some(Ordering::Greater),
        ))
    });
    all.add("ge", &two, |_, given| {
        Ok(Value::Bool(
            compare(&given[0], &given[1])? != Some(Ordering::Less),
        ))
    });
}

/// What escaping functions print: nothing has a text there.
fn printable(given: &[Value]) -> Vec<Value> {
    let shown = |it: &Value| match it {
        Value::Nil => Value::from("<no value>"),
        it => it.clone(),
    };
    given.iter().map(shown).collect()
}

/// The kinds that comparisons tell apart.
#[derive(PartialEq)]
enum Basic<'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    String(&'a str),
}

fn basic(value: &Value) -> Option<Basic<'_>> {
    Some(match value {
        Value::Bool(it) => Basic::Bool(*it),
        Value::Int(it) | Value::Int64(it) => Basic::Int(*it),
        Value::Uint64(it) => Basic::Uint(*it),
        Value::Float(it) => Basic::Float(*it),
        Value::String(it) => Basic::String(it),
        _ => return None,
    })
}

fn incompatible(one: &Value, other: &Value) -> String {
    format!(
        "incompatible types for comparison: {} and {}",
        one.type_name(),
        other.type_name()
    )
}

/// `eq` of two values.
pub fn equal(one: &Value, other: &Value) -> std::result::Result<bool, String> {
    let values = (one, other);
    Ok(match (basic(one), basic(other)) {
        (Some(Basic::Int(one)), Some(Basic::Uint(other))) => u64::try_from(one) == Ok(other),
        (Some(Basic::Uint(one)), Some(Basic::Int(other))) => u64::try_from(other) == Ok(one),
        (Some(one), Some(other)) => {
            if std::mem::discriminant(&one) != std::mem::discriminant(&other) {
                return Err(incompatible(values.0, values.1));
            }
            one == other
        }
        _ => {
            if matches!(one, Value::Nil) || matches!(other, Value::Nil) {
                return Ok(matches!((one, other), (Value::Nil, Value::Nil)));
            }
            let is_basic = |it: &Value| basic(it).is_some();
            if is_basic(one) != is_basic(other) {
                return Err(incompatible(one, other));
            }
            let shown = |it: &Value| print::printf("%s", std::slice::from_ref(it));
            let type_name = other.type_name();
            return Err(match one.kind() == other.kind() {
                true => format!("non-comparable type {}: {type_name}", shown(other)),
                false => format!(
                    "non-comparable types {}: {}, {type_name}: {}",
                    shown(one),
                    one.type_name(),
                    print::any(other)
                ),
            });
        }
    })
}

/// The order of two values; `None` where one is no number.
fn compare(one: &Value, other: &Value) -> std::result::Result<Option<Ordering>, String> {
    let values = (one, other);
    let (Some(one), Some(other)) = (basic(one), basic(other)) else {
        return Err("invalid type for comparison".to_owned());
    };
    Ok(match (one, other) {
        (Basic::Int(one), Basic::Int(other)) => Some(one.cmp(&other)),
        (Basic::Uint(one), Basic::Uint(other)) => Some(one.cmp(&other)),
        (Basic::Int(one), Basic::Uint(other)) => Some(i128::from(one).cmp(&i128::from(other))),
        (Basic::Uint(one), Basic::Int(other)) => Some(i128::from(one).cmp(&i128::from(other))),
        (Basic::Float(one), Basic::Float(other)) => one.partial_cmp(&other),
        (Basic::String(one), Basic::String(other)) => Some(one.cmp(other)),
        (Basic::Bool(_), Basic::Bool(_)) => return Err("invalid type for comparison".to_owned()),
        _ => return Err(incompatible(values.0, values.1)),
    })
}

/// What Go's reflection says of nothing.
const NO_TYPE: &str = "reflect: call of reflect.Value.Type on zero Value";

fn len(value: &Value) -> Result {
    let length = match value {
        Value::Nil => return Err(NO_TYPE.to_owned()),
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.items.len(),
        Value::Map(map) => map.len(),
        Value::Object(object) if object.entries().is_some() => {
            object.entries().unwrap_or_default().len()
        }
        other => return Err(format!("len of type {}", other.type_name())),
    };
    Ok(Value::Int(length as i64))
}

/// The place that an index names.
fn place(at: &Value, length: usize) -> std::result::Result<usize, String> {
    let number = match at {
        Value::Int(it) | Value::Int64(it) => *it,
        Value::Uint64(it) => i64::try_from(*it).unwrap_or(i64::MAX),
        Value::Nil => return Err("cannot index slice/array with nil".to_owned()),
        other => {
            return Err(format!(
                "cannot index slice/array with type {}",
                other.type_name()
            ));
        }
    };
    match usize::try_from(number) {
        Ok(place) if place < length => Ok(place),
        _ => Err(format!("index out of range: {number}")),
    }
}

fn index(value: &Value, at: &Value) -> Result {
    match value {
        Value::Nil => Err("index of nil pointer".to_owned()),
        Value::List(list) => Ok(list.items[place(at, list.items.len())?].clone()),
        Value::Bytes(bytes) => Ok(Value::Int(bytes[place(at, bytes.len())?].into())),
        Value::String(text) => Ok(Value::Int(text.as_bytes()[place(at, text.len())?].into())),
        Value::Map(map) => match at {
            Value::String(key) => Ok(map.get(key).unwrap_or_else(|| map.zero())),
            Value::Nil => Err("value is nil; should be of type string".to_owned()),
            other => Err(format!(
                "value has type {}; should be string",
                other.type_name()
            )),
        },
        Value::Object(object) if object.entries().is_some() => {
            let entries = object.entries().unwrap_or_default();
            let found = entries
                .into_iter()
                .find(|(key, _)| Some(&**key) == at.as_str());
            Ok(found.map(|(_, value)| value).unwrap_or_default())
        }
        other => Err(format!("can't index item of type {}", other.type_name())),
    }
}

fn slice(given: &[Value]) -> Result {
    let (value, ends) = (&given[0], &given[1..]);
    if ends.len() > 3 {
        return Err(format!("too many slice indexes: {}", ends.len()));
    }
    let length = match value {
        Value::String(_) if ends.len() == 3 => {
            return Err("cannot 3-index slice a string".to_owned());
        }
        Value::String(text) => text.len(),
        Value::List(list) => list.items.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Nil => return Err("slice of untyped nil".to_owned()),
        other => return Err(format!("can't slice item of type {}", other.type_name())),
    };
    let mut places = [0, length, length];
    for (at, end) in ends.iter().enumerate() {
        places[at] = place(end, length + 1)?;
    }
    let [start, end, _] = places;
    if start > end {
        return Err(format!("invalid slice index: {start} > {end}"));
    }
    Ok(match value {
        Value::String(text) => match text.get(start..end) {
            Some(part) => part.into(),
            None => return Err("the slice of a string cuts a character".to_owned()),
        },
        Value::List(list) => Value::List(List {
            of: list.of,
            items: list.items[start..end].into(),
        }),
        Value::Bytes(bytes) => Value::Bytes(bytes[start..end].into()),
        other => other.clone(),
    })
}

/// `template.HTMLEscapeString`.
pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\0' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// `template.JSEscapeString`.
fn js(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\'' => escaped.push_str("\\'"),
            '"' => escaped.push_str("\\\""),
            '<' => escaped.push_str("\\u003C"),
            '>' => escaped.push_str("\\u003E"),
            '&' => escaped.push_str("\\u0026"),
            '=' => escaped.push_str("\\u003D"),
            c if c < ' ' => escaped.push_str(&format!("\\u{:04X}", c as u32)),
            c => escaped.push(c),
        }
    }
    escaped
}

/// `url.QueryEscape`.
pub fn query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte))
            }
            b' ' => escaped.push('+'),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
