//! Values with all that is in them: copies and comparisons.

use std::rc::Rc;

use super::{certificates::Certificate, semver::Version, time::Time};
use crate::value::{DEEPEST, List, MOST_PARTS, Map, Value};

type Fallible<T> = Result<T, String>;

/// The error of a value that is deeper, or that has itself in it.
pub fn too_deep() -> String {
    format!("a value nested more than {DEEPEST} deep is not supported")
}

/// Counts a value that is visited.
pub fn visit(count: &mut usize) -> Fallible<()> {
    *count += 1;
    match *count > MOST_PARTS {
        true => Err(format!("more than {MOST_PARTS} values in one")),
        false => Ok(()),
    }
}

/// A value that shares nothing with the other.
///
/// # Errors
/// It is too large or too deep.
pub fn copy(value: &Value) -> Fallible<Value> {
    copy_at(value, &mut 0, 0)
}

fn copy_at(value: &Value, count: &mut usize, depth: usize) -> Fallible<Value> {
    visit(count)?;
    if depth > DEEPEST {
        return Err(too_deep());
    }
    Ok(match value {
        Value::Map(map) => {
            let entries = map.entries().into_iter();
            let entries = entries.map(|(key, value)| Ok((key, copy_at(&value, count, depth + 1)?)));
            Value::Map(Map::of(map.of, entries.collect::<Fallible<_>>()?))
        }
        Value::List(list) => Value::List(List {
            of: list.of,
            items: list
                .items
                .iter()
                .map(|it| copy_at(it, count, depth + 1))
                .collect::<Fallible<_>>()?,
        }),
        other => match other.as_object::<Version>() {
            Some(version) => Value::Object(Rc::new(Version::empty(version.is_pointer()))),
            None => other.clone(),
        },
    })
}

/// `reflect.DeepEqual`: the types count, too.
pub fn equal(one: &Value, other: &Value, count: &mut usize) -> Fallible<bool> {
    equal_at(one, other, count, 0)
}

fn equal_at(one: &Value, other: &Value, count: &mut usize, depth: usize) -> Fallible<bool> {
    visit(count)?;
    if depth > DEEPEST {
        return Err(too_deep());
    }
    Ok(match (one, other) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Int(one), Value::Int(other)) | (Value::Int64(one), Value::Int64(other)) => {
            one == other
        }
        (Value::Uint64(one), Value::Uint64(other)) => one == other,
        (Value::Float(one), Value::Float(other)) => one == other,
        (Value::String(one), Value::String(other)) => {
            // Long texts of one length take as long as many values.
            if one.len() == other.len() {
                *count += one.len() / 4096;
            }
            one == other
        }
        (Value::Bytes(one), Value::Bytes(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            if one.of != other.of || one.items.len() != other.items.len() {
                return Ok(false);
            }
            for (one, other) in one.items.iter().zip(other.items.iter()) {
                if !equal_at(one, other, count, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(one), Value::Map(other)) => {
            if one.of != other.of || one.len() != other.len() {
                return Ok(false);
            }
            // One map is equal to itself, even with what is no number in it.
            if one.is_same(other) {
                return Ok(true);
            }
            for (key, value) in one.entries() {
                let Some(other) = other.get(&key) else {
                    return Ok(false);
                };
                if !equal_at(&value, &other, count, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Object(first), Value::Object(second)) => {
            Rc::ptr_eq(first, second)
                || is_same::<Version>(one, other)
                || is_same::<Time>(one, other)
                || is_same::<Certificate>(one, other)
        }
        _ => false,
    })
}

/// Whether a list has a value. The count goes on from one call to the next.
pub fn contains(all: &[Value], wanted: &Value, count: &mut usize) -> Fallible<bool> {
    for it in all {
        if equal(wanted, it, count)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_same<T: PartialEq + 'static>(one: &Value, other: &Value) -> bool {
    one.as_object::<T>()
        .is_some_and(|one| Some(one) == other.as_object())
}
