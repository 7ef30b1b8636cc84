//! Spans of time: Helm's functions for what is a text such as `1h30m`, or a number of seconds.

use std::{any::Any, rc::Rc};

use crate::{
    function::{Functions, Kind},
    go::number,
    sprig::{durations, parse_float},
    value::{Object, Value},
};

const SECOND: f64 = 1e9;

/// A `time.Duration`.
struct Duration(i64);

impl Object for Duration {
    fn type_name(&self) -> &'static str {
        "time.Duration"
    }

    fn kind(&self) -> &'static str {
        "int64"
    }

    fn field(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        if !arguments.is_empty() {
            return None;
        }
        Some(Ok(match name {
            "String" => self.text().into(),
            "Seconds" => Value::Float(seconds(self.0)),
            "Minutes" => Value::Float(minutes(self.0)),
            "Hours" => Value::Float(hours(self.0)),
            "Nanoseconds" => Value::Int64(self.0),
            "Microseconds" => Value::Int64(self.0 / 1_000),
            "Milliseconds" => Value::Int64(self.0 / 1_000_000),
            _ => return None,
        }))
    }

    fn text(&self) -> String {
        durations::show(self.0)
    }

    fn json(&self) -> Option<serde_json::Value> {
        Some(self.0.into())
    }

    fn is_true(&self) -> bool {
        self.0 != 0
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Adds the functions. One that cannot read its argument gives zero, but for `mustToDuration`.
pub fn add(all: &mut Functions) {
    all.add("mustToDuration", &[Kind::Any], |_, given| {
        read(&given[0]).map(of)
    });
    let mut number = |name: &str, call: fn(i64) -> Value| {
        all.add(name, &[Kind::Any], move |_, given| {
            Ok(call(read(&given[0]).unwrap_or_default()))
        });
    };
    number("durationSeconds", |it| Value::Float(seconds(it)));
    number("durationMilliseconds", |it| Value::Int64(it / 1_000_000));
    number("durationMicroseconds", |it| Value::Int64(it / 1_000));
    number("durationNanoseconds", Value::Int64);
    number("durationMinutes", |it| Value::Float(minutes(it)));
    number("durationHours", |it| Value::Float(hours(it)));
    number("durationDays", |it| Value::Float(hours(it) / 24.0));
    number("durationWeeks", |it| Value::Float(hours(it) / 24.0 / 7.0));
    let mut to_multiple = |name: &str, call: fn(i64, i64) -> i64| {
        all.add(name, &[Kind::Any; 2], move |_, given| {
            let it = read(&given[0]);
            Ok(of(match (it, read(&given[1])) {
                (Err(_), _) => 0,
                (Ok(it), Ok(multiple)) if multiple > 0 => call(it, multiple),
                (Ok(it), _) => it,
            }))
        });
    };
    to_multiple("durationRoundTo", rounded);
    to_multiple("durationTruncateTo", |it, multiple| it - it % multiple);
}

fn of(nanoseconds: i64) -> Value {
    Value::Object(Rc::new(Duration(nanoseconds)))
}

/// As Go computes them: the whole part and the rest, which keeps more digits.
fn parts(it: i64, unit: i64) -> f64 {
    (it / unit) as f64 + (it % unit) as f64 / unit as f64
}

fn seconds(it: i64) -> f64 {
    parts(it, 1_000_000_000)
}

fn minutes(it: i64) -> f64 {
    parts(it, 60_000_000_000)
}

fn hours(it: i64) -> f64 {
    parts(it, 3_600_000_000_000)
}

/// The nearest multiple; of two, the one that is farther from nought. Out of range, the last one in it.
fn rounded(it: i64, multiple: i64) -> i64 {
    let (it, multiple) = (i128::from(it), i128::from(multiple));
    let rest = it % multiple;
    let near = match rest.abs() * 2 < multiple {
        true => it - rest,
        false => it - rest + multiple * it.signum(),
    };
    i64::try_from(near).unwrap_or(if near < 0 { i64::MIN } else { i64::MAX })
}

fn read(value: &Value) -> Result<i64, String> {
    match value {
        Value::Nil => Err("invalid duration".to_owned()),
        Value::String(text) => {
            let text = text.trim();
            if text.is_empty() {
                return Err("empty duration".to_owned());
            }
            if let Ok(it) = durations::parse(text) {
                return Ok(it);
            }
            match parse_float(text) {
                Some(it) => of_seconds(it),
                None => Err(format!(
                    "could not parse duration {}",
                    number::quote(value.as_str().unwrap_or_default())
                )),
            }
        }
        Value::Int(it) | Value::Int64(it) => {
            let it = it.checked_mul(1_000_000_000);
            it.ok_or_else(|| {
                format!(
                    "duration seconds overflow: {}",
                    crate::go::print::any(value)
                )
            })
        }
        Value::Uint64(it) => {
            let it = i64::try_from(*it)
                .ok()
                .and_then(|it| it.checked_mul(1_000_000_000));
            it.ok_or_else(|| {
                format!(
                    "duration seconds overflow: {}",
                    crate::go::print::any(value)
                )
            })
        }
        Value::Float(it) => of_seconds(*it),
        other => match other.as_object::<Duration>() {
            Some(Duration(it)) => Ok(*it),
            None => Err(format!("unsupported duration type {}", other.type_name())),
        },
    }
}

fn of_seconds(it: f64) -> Result<i64, String> {
    let most = i64::MAX as f64;
    if !it.is_finite() {
        return Err(format!("invalid duration seconds: {}", number::plain(it)));
    }
    if it.abs() > most / SECOND {
        return Err(format!("duration seconds overflow: {}", number::plain(it)));
    }
    Ok((it * SECOND) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_durations() {
        for (value, nanoseconds) in [
            (Value::from("1h30m"), Ok(5_400_000_000_000)),
            (Value::from(" 1.5 "), Ok(1_500_000_000)),
            (Value::Int(2), Ok(2_000_000_000)),
            (Value::Float(-0.5), Ok(-500_000_000)),
            (
                Value::from("x"),
                Err("could not parse duration \"x\"".to_owned()),
            ),
            (Value::Nil, Err("invalid duration".to_owned())),
        ] {
            assert_eq!(read(&value), nanoseconds);
        }
        assert_eq!(rounded(-1_500, 1_000), -2_000);
        assert_eq!(rounded(1_499, 1_000), 1_000);
    }
}
