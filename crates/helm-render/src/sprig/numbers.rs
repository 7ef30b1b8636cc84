//! Numbers.

use super::{
    cast::{float, int},
    strings::number,
};
use crate::{
    function::{Functions, Kind, Result},
    go::print,
    value::{Item, List, Value},
};

/// The most numbers that one list may have.
const LONGEST: usize = 1_000_000;

pub fn add(all: &mut Functions) {
    all.add("int", &[Kind::Any], |_, given| {
        Ok(Value::Int(int(&given[0])))
    });
    all.add("int64", &[Kind::Any], |_, given| {
        Ok(Value::Int64(int(&given[0])))
    });
    all.add("float64", &[Kind::Any], |_, given| {
        Ok(Value::Float(float(&given[0])))
    });
    all.add("atoi", &[Kind::String], |_, given| {
        Ok(Value::Int(decimal(given[0].as_str().unwrap_or_default())))
    });
    all.add("toDecimal", &[Kind::Any], |_, given| {
        let text = print::any(&given[0]);
        Ok(Value::Int64(
            i64::from_str_radix(&text, 8).unwrap_or_default(),
        ))
    });
    all.add("add1", &[Kind::Any], |_, given| {
        Ok(Value::Int64(int(&given[0]).wrapping_add(1)))
    });
    all.add_variadic("add", &[], Kind::Any, |_, given| {
        Ok(Value::Int64(
            given.iter().map(int).fold(0, i64::wrapping_add),
        ))
    });
    all.add("sub", &[Kind::Any; 2], |_, given| {
        Ok(Value::Int64(int(&given[0]).wrapping_sub(int(&given[1]))))
    });
    all.add("div", &[Kind::Any; 2], |_, given| {
        divide(&given[0], &given[1], i64::wrapping_div)
    });
    all.add("mod", &[Kind::Any; 2], |_, given| {
        divide(&given[0], &given[1], i64::wrapping_rem)
    });
    all.add_variadic("mul", &[Kind::Any], Kind::Any, |_, given| {
        Ok(Value::Int64(
            given.iter().map(int).fold(1, i64::wrapping_mul),
        ))
    });
    for name in ["max", "biggest"] {
        all.add_variadic(name, &[Kind::Any], Kind::Any, |_, given| {
            Ok(Value::Int64(
                given.iter().map(int).max().unwrap_or_default(),
            ))
        });
    }
    all.add_variadic("min", &[Kind::Any], Kind::Any, |_, given| {
        Ok(Value::Int64(
            given.iter().map(int).min().unwrap_or_default(),
        ))
    });
    all.add_variadic("maxf", &[Kind::Any], Kind::Any, |_, given| {
        let all = given.iter().map(float);
        Ok(Value::Float(all.reduce(largest).unwrap_or_default()))
    });
    all.add_variadic("minf", &[Kind::Any], Kind::Any, |_, given| {
        let all = given.iter().map(float);
        Ok(Value::Float(
            all.reduce(|a, b| -largest(-a, -b)).unwrap_or_default(),
        ))
    });
    all.add("floor", &[Kind::Any], |_, given| {
        Ok(Value::Float(float(&given[0]).floor()))
    });
    all.add("ceil", &[Kind::Any], |_, given| {
        Ok(Value::Float(float(&given[0]).ceil()))
    });
    all.add_variadic("round", &[Kind::Any, Kind::Int], Kind::Float, |_, given| {
        let limit = given.get(2).map_or(0.5, float);
        let power = ten_to(number(&given[1]));
        let digit = power * float(&given[0]);
        let rounded = if digit.fract() >= limit {
            digit.ceil()
        } else {
            digit.floor()
        };
        Ok(Value::Float(rounded / power))
    });
    all.add("until", &[Kind::Int], |_, given| {
        let count = number(&given[0]);
        numbers(0, count, if count < 0 { -1 } else { 1 }).map(list)
    });
    all.add("untilStep", &[Kind::Int; 3], |_, given| {
        numbers(number(&given[0]), number(&given[1]), number(&given[2])).map(list)
    });
    all.add_variadic("seq", &[], Kind::Int, |_, given| {
        let given: Vec<i64> = given.iter().map(number).collect();
        let (start, end, step) = match given[..] {
            [end] => (1, end, if end < 1 { -1 } else { 1 }),
            [start, end] => (start, end, if end < start { -1 } else { 1 }),
            [start, step, end] if end < start && step > 0 => return Ok("".into()),
            [start, step, end] => (start, end, step),
            _ => return Ok("".into()),
        };
        let beyond = if end < start {
            end.saturating_sub(1)
        } else {
            end.saturating_add(1)
        };
        let all = numbers(start, beyond, step)?;
        let all: Vec<_> = all.iter().map(ToString::to_string).collect();
        Ok(all.join(" ").into())
    });
}

/// `math.Pow(10, power)`, with the error that Go's way of squares has.
fn ten_to(power: i64) -> f64 {
    let (mut result, mut exponent) = (1.0, 0i64);
    // The parts of a number between a half and one, and a power of two.
    let (mut part, mut part_exponent) = (10.0 / 16.0, 4i64);
    let mut rest = power.unsigned_abs();
    while rest != 0 {
        if part_exponent.abs() > 1 << 12 {
            exponent += part_exponent;
            break;
        }
        if rest & 1 == 1 {
            result *= part;
            exponent += part_exponent;
        }
        part *= part;
        part_exponent <<= 1;
        if part < 0.5 {
            part += part;
            part_exponent -= 1;
        }
        rest >>= 1;
    }
    if power < 0 {
        result = 1.0 / result;
        exponent = -exponent;
    }
    // In two steps, because a power of two may be out of range where the product is not.
    let half = (exponent / 2).clamp(-2_000, 2_000) as i32;
    let other = (exponent - exponent / 2).clamp(-2_000, 2_000) as i32;
    result * 2f64.powi(half) * 2f64.powi(other)
}

/// `strconv.ParseInt` with base 10: the nearest number for one that is too large.
pub fn decimal(text: &str) -> i64 {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    let end = if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    text.parse().unwrap_or(end)
}

/// `math.Max`: not a number wins.
fn largest(one: f64, other: f64) -> f64 {
    match one.is_nan() || other.is_nan() {
        true => f64::NAN,
        false => one.max(other),
    }
}

fn divide(one: &Value, other: &Value, by: fn(i64, i64) -> i64) -> Result {
    match int(other) {
        0 => Err("runtime error: integer divide by zero".to_owned()),
        other => Ok(Value::Int64(by(int(one), other))),
    }
}

fn numbers(start: i64, stop: i64, step: i64) -> std::result::Result<Vec<i64>, String> {
    let goes = if stop < start { step < 0 } else { step > 0 };
    if !goes {
        return Ok(Vec::new());
    }
    let distance = (i128::from(stop) - i128::from(start)).unsigned_abs();
    let count = distance.div_ceil(i128::from(step).unsigned_abs());
    match usize::try_from(count) {
        Ok(count) if count <= LONGEST => Ok((0..count as i64)
            .map(|at| start.wrapping_add(at.wrapping_mul(step)))
            .collect()),
        _ => Err(format!("more than {LONGEST} numbers")),
    }
}

fn list(all: Vec<i64>) -> Value {
    Value::List(List {
        of: Item::Int,
        items: all.into_iter().map(Value::Int).collect(),
    })
}
