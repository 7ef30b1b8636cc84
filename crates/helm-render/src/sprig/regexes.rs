//! Regular expressions.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::{
    pattern::{Pattern, compile},
    strings::{number, string},
};
use crate::{
    function::{Functions, Kind},
    value::{List, Value},
};

/// The most expressions that are kept compiled.
const KEPT: usize = 64;

/// The largest text that a replacement may make, in bytes.
const LARGEST: usize = 16 << 20;

type Fallible<T> = Result<T, String>;

/// Compiled expressions: charts use the same ones in loops.
#[derive(Default)]
struct Cache(RefCell<HashMap<String, Rc<Pattern>>>);

impl Cache {
    fn get(&self, expression: &str) -> Fallible<Rc<Pattern>> {
        if let Some(pattern) = self.0.borrow().get(expression) {
            return Ok(pattern.clone());
        }
        let pattern = Rc::new(compile(expression)?);
        let mut kept = self.0.borrow_mut();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(expression.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

pub fn add(all: &mut Functions) {
    let cache = Rc::new(Cache::default());
    // Those without `must` fail, too, because they panic in Go: but regexMatch.
    let mut both =
        |name: &str, parameters: &[Kind], call: fn(&Pattern, &[Value]) -> Fallible<Value>| {
            let must = format!("mustR{}", &name[1..]);
            for name in [name, &must] {
                let cache = cache.clone();
                let hides_errors = name == "regexMatch";
                // Go has another name for the function that panics.
                let panics = !name.starts_with("must");
                all.add(name, parameters, move |_, given| {
                    match cache.get(string(&given[0])) {
                        Ok(pattern) => call(&pattern, given),
                        Err(_) if hides_errors => Ok(false.into()),
                        Err(error) if panics => Err(panic_of(string(&given[0]), error)),
                        Err(error) => Err(error),
                    }
                });
            }
        };
    let two = [Kind::String; 2];
    let three = [Kind::String; 3];
    let counted = [Kind::String, Kind::String, Kind::Int];
    both("regexMatch", &two, |pattern, given| {
        Ok(pattern.regex.is_match(string(&given[1])).into())
    });
    both("regexFind", &two, |pattern, given| {
        Ok(pattern
            .regex
            .find(string(&given[1]))
            .map_or("", |found| found.as_str())
            .into())
    });
    both("regexFindAll", &counted, |pattern, given| {
        let found = pattern
            .regex
            .find_iter(string(&given[1]))
            .map(|found| found.as_str());
        let count = usize::try_from(number(&given[2])).unwrap_or(usize::MAX);
        Ok(Value::List(List::of_strings(found.take(count))))
    });
    both("regexSplit", &counted, |pattern, given| {
        let parts = split(pattern, string(&given[1]), number(&given[2]));
        Ok(Value::List(List::of_strings(parts)))
    });
    both("regexReplaceAll", &three, |pattern, given| {
        let template = string(&given[2]);
        replace(pattern, string(&given[1]), |found, out| {
            expand(pattern, found, template, out)
        })
    });
    both("regexReplaceAllLiteral", &three, |pattern, given| {
        replace(pattern, string(&given[1]), |_, out| {
            out.push_str(string(&given[2]))
        })
    });
    all.add("regexQuoteMeta", &[Kind::String], |_, given| {
        let mut quoted = String::new();
        for c in string(&given[0]).chars() {
            if r"\.+*?()|[]{}^$".contains(c) {
                quoted.push('\\');
            }
            quoted.push(c);
        }
        Ok(quoted.into())
    });
}

/// What `regexp.MustCompile` says.
fn panic_of(expression: &str, error: String) -> String {
    let quoted =
        match expression.contains('`') || expression.chars().any(|c| c.is_control() && c != '\t') {
            true => crate::go::number::quote(expression),
            false => format!("`{expression}`"),
        };
    format!("regexp: Compile({quoted}): {error}")
}

fn split<'t>(pattern: &Pattern, text: &'t str, count: i64) -> Vec<&'t str> {
    if count == 0 {
        return Vec::new();
    }
    if text.is_empty() && !pattern.regex.as_str().is_empty() {
        return vec![""];
    }
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    let (mut parts, mut start, mut end) = (Vec::new(), 0, 0);
    for found in pattern.regex.find_iter(text).take(most) {
        if parts.len() >= most - 1 {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            parts.push(&text[start..end]);
        }
        start = found.end();
    }
    if end != text.len() {
        parts.push(&text[start..]);
    }
    parts
}

fn replace(
    pattern: &Pattern,
    text: &str,
    with: impl Fn(&regex::Captures<'_>, &mut String),
) -> Fallible<Value> {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for found in pattern.regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        out.push_str(&text[end..whole.start()]);
        with(&found, &mut out);
        if out.len() > LARGEST {
            return Err(format!("the text is larger than {LARGEST} bytes"));
        }
        end = whole.end();
    }
    out.push_str(&text[end..]);
    Ok(out.into())
}

/// Adds a replacement, with `$1` and `${name}` in it.
fn expand(pattern: &Pattern, found: &regex::Captures<'_>, template: &str, out: &mut String) {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let inner = after.strip_prefix('{').unwrap_or(after);
        let is_braced = inner.len() < after.len();
        let is_name = |c: char| c.is_alphabetic() || c.is_numeric() || c == '_';
        let length = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
        let (name, behind) = inner.split_at(length);
        let behind = if is_braced {
            behind.strip_prefix('}')
        } else {
            Some(behind)
        };
        let (false, Some(behind)) = (name.is_empty(), behind) else {
            out.push('$');
            rest = after;
            continue;
        };
        rest = behind;
        let is_number =
            name.bytes().all(|it| it.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
        let group = match is_number {
            true => name.parse().ok(),
            false => pattern
                .names
                .iter()
                .position(|it| it.as_deref() == Some(name)),
        };
        if let Some(text) = group.and_then(|group: usize| found.get(group)) {
            out.push_str(text.as_str());
        }
    }
    out.push_str(rest);
}
