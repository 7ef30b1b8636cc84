//! `fmt.Sprint`, `Sprintln` and `Sprintf`.

mod verb;

use std::cell::Cell;

use self::verb::one;
use super::number::plain;
use crate::value::{DEEPEST, MOST_PARTS, Value};

thread_local! {
    static VISITED: Cell<usize> = const { Cell::new(0) };
}

/// Counts a value that is printed. It is left out if it is too deep, or if too many were printed before it.
fn visit(depth: usize) -> bool {
    visit_text(depth, 0)
}

/// As `visit`, for a text of as many bytes: 64 count like a value.
pub fn visit_text(depth: usize, bytes: usize) -> bool {
    let count = match depth > DEEPEST {
        true => MOST_PARTS + 1,
        false => VISITED.get().saturating_add(1 + bytes / 64),
    };
    VISITED.set(count);
    count <= MOST_PARTS
}

/// Begins to count anew.
///
/// # Errors
/// Something was left out since the last time: Go prints all of it, or ends when its stack does.
pub fn check() -> Result<(), String> {
    match VISITED.replace(0) > MOST_PARTS {
        true => Err(format!(
            "what is printed is nested deeper than {DEEPEST}, has more than {MOST_PARTS} parts, or is as long"
        )),
        false => Ok(()),
    }
}

/// `%v` of a value.
pub fn any(value: &Value) -> String {
    let mut text = String::new();
    write_any(value, &mut text, 0);
    text
}

fn write_any(value: &Value, text: &mut String, depth: usize) {
    if !visit(depth) {
        return;
    }
    match value {
        Value::Nil => text.push_str("<nil>"),
        Value::Bool(it) => text.push_str(if *it { "true" } else { "false" }),
        Value::Int(it) | Value::Int64(it) => text.push_str(&it.to_string()),
        Value::Uint64(it) => text.push_str(&it.to_string()),
        Value::Float(it) => text.push_str(&plain(*it)),
        Value::String(it) if !visit_text(depth, it.len()) => {}
        Value::String(it) => text.push_str(it),
        Value::Bytes(bytes) => {
            let bytes: Vec<_> = bytes.iter().map(ToString::to_string).collect();
            text.push_str(&format!("[{}]", bytes.join(" ")));
        }
        Value::List(list) => {
            text.push('[');
            for (at, item) in list.items.iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                write_any(item, text, depth + 1);
            }
            text.push(']');
        }
        Value::Map(map) => {
            text.push_str("map[");
            for (at, (key, value)) in map.entries().iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                text.push_str(key);
                text.push(':');
                write_any(value, text, depth + 1);
            }
            text.push(']');
        }
        Value::Object(object) => text.push_str(&object.text()),
    }
}

/// `Sprint`: spaces between two operands of which neither is a string.
pub fn print(values: &[Value]) -> String {
    let mut text = String::new();
    for (at, value) in values.iter().enumerate() {
        let is_string = |it: &Value| matches!(it, Value::String(_));
        if at > 0 && !is_string(value) && !is_string(&values[at - 1]) {
            text.push(' ');
        }
        write_any(value, &mut text, 0);
    }
    text
}

/// `Sprintln`: spaces between all operands, and a line end.
pub fn println(values: &[Value]) -> String {
    let texts: Vec<_> = values.iter().map(any).collect();
    texts.join(" ") + "\n"
}

/// The flags, the width and the precision of a verb.
#[derive(Clone, Copy, Default)]
struct Form {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// How deep the value is in others.
    depth: usize,
}

/// The most characters that a width or a precision may ask for, as in Go.
const WIDEST: usize = 1_000_000;

/// `Sprintf`.
pub fn printf(format: &str, values: &[Value]) -> String {
    let mut text = String::new();
    let chars: Vec<char> = format.chars().collect();
    let (mut at, mut next, mut reordered) = (0, 0, false);
    while at < chars.len() {
        if text.len() > MOST_PARTS * 64 {
            VISITED.set(MOST_PARTS + 1);
            break;
        }
        if chars[at] != '%' {
            text.push(chars[at]);
            at += 1;
            continue;
        }
        at += 1;
        let mut form = Form::default();
        while let Some(flag) = chars.get(at) {
            match flag {
                '#' => form.sharp = true,
                '0' => form.zero = true,
                '+' => form.plus = true,
                '-' => form.minus = true,
                ' ' => form.space = true,
                _ => break,
            }
            at += 1;
        }
        let mut is_good = index(&chars, &mut at, &mut next, values.len(), &mut reordered);
        match star(&chars, &mut at, &mut next, values) {
            Some(Ok(width)) => {
                form.minus |= width < 0;
                form.width = Some(width.unsigned_abs() as usize);
            }
            Some(Err(())) => text.push_str("%!(BADWIDTH)"),
            None => form.width = number(&chars, &mut at),
        }
        if chars.get(at) == Some(&'.') {
            at += 1;
            is_good &= index(&chars, &mut at, &mut next, values.len(), &mut reordered);
            match star(&chars, &mut at, &mut next, values) {
                Some(Ok(precision)) if precision >= 0 => {
                    form.precision = Some(precision.unsigned_abs() as usize);
                }
                Some(Ok(_)) | Some(Err(())) => text.push_str("%!(BADPREC)"),
                None => form.precision = Some(number(&chars, &mut at).unwrap_or_default()),
            }
        }
        is_good &= index(&chars, &mut at, &mut next, values.len(), &mut reordered);
        let Some(&verb) = chars.get(at) else {
            text.push_str("%!(NOVERB)");
            break;
        };
        at += 1;
        match verb {
            '%' => text.push('%'),
            _ if !is_good => text.push_str(&format!("%!{verb}(BADINDEX)")),
            _ if next >= values.len() => text.push_str(&format!("%!{verb}(MISSING)")),
            _ => {
                text.push_str(&one(verb, form, &values[next]));
                next += 1;
            }
        }
    }
    if !reordered && next < values.len() {
        let extra: Vec<_> = values[next..]
            .iter()
            .map(|value| match value {
                Value::Nil => "<nil>".to_owned(),
                value => format!("{}={}", value.type_name(), any(value)),
            })
            .collect();
        text.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
    text
}

/// Reads `[n]`, the number of an operand from 1. Returns whether there is such an operand.
fn index(chars: &[char], at: &mut usize, next: &mut usize, count: usize, seen: &mut bool) -> bool {
    if chars.get(*at) != Some(&'[') {
        return true;
    }
    *seen = true;
    let Some(end) = chars[*at..].iter().position(|c| *c == ']') else {
        *at += 1;
        return false;
    };
    let inside: String = chars[*at + 1..*at + end].iter().collect();
    *at += end + 1;
    match inside.parse::<usize>() {
        Ok(number) if (1..=count).contains(&number) => {
            *next = number - 1;
            true
        }
        _ => false,
    }
}

/// Reads `*`, a width or a precision that is an operand.
fn star(
    chars: &[char],
    at: &mut usize,
    next: &mut usize,
    values: &[Value],
) -> Option<Result<i64, ()>> {
    if chars.get(*at) != Some(&'*') {
        return None;
    }
    *at += 1;
    let value = values.get(*next);
    *next += 1;
    Some(match value {
        Some(Value::Int(it) | Value::Int64(it)) if it.unsigned_abs() as usize <= WIDEST => Ok(*it),
        _ => Err(()),
    })
}

fn number(chars: &[char], at: &mut usize) -> Option<usize> {
    let start = *at;
    while chars.get(*at).is_some_and(char::is_ascii_digit) {
        *at += 1;
    }
    let digits: String = chars[start..*at].iter().collect();
    digits.parse().ok().filter(|number| *number <= WIDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs() {
        let int = |it| Value::Int(it);
        for (format, values, text) in [
            ("%s-%d", vec![Value::from("a"), int(3)], "a-3"),
            (
                "%5d|%-5d|%05d",
                vec![int(3), int(3), int(-3)],
                "    3|3    |-0003",
            ),
            ("%q", vec![Value::from("a\"b")], "\"a\\\"b\""),
            ("%d", vec![Value::from("a")], "%!d(string=a)"),
            ("%d", vec![], "%!d(MISSING)"),
            ("a", vec![int(1)], "a%!(EXTRA int=1)"),
            ("%.2f", vec![Value::Float(1.005)], "1.00"),
            ("%v %v", vec![Value::Float(1e6), Value::Nil], "1e+06 <nil>"),
            ("%s", vec![Value::Nil], "%!s(<nil>)"),
            (
                "%[2]s %[1]s",
                vec![Value::from("a"), Value::from("b")],
                "b a",
            ),
            ("%x", vec![Value::from("hi")], "6869"),
            ("%t%%", vec![Value::Bool(true)], "true%"),
            ("%", vec![], "%!(NOVERB)"),
        ] {
            assert_eq!(printf(format, &values), text, "{format}");
        }
    }
}
