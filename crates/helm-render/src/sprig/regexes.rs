//! Regular expressions.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::{
    pattern::{Pattern, translate},
    strings::{number, string},
};
use crate::{
    Budget,
    function::{Functions, Kind},
    value::{List, Value},
};

/// The most expressions that are kept compiled.
const KEPT: usize = 64;

/// The largest text that a replacement may make, in bytes.
const LARGEST: usize = 16 << 20;

type Fallible<T> = Result<T, String>;

/// The weight from which an expression may need more than one step for each byte that it looks at.
const HEAVY: u64 = 1_024;

/// The steps of looking at a text once: those of texts of any function, and more for an expression of many states.
fn look(pattern: &Pattern, text: &str) -> u64 {
    (text.len() as u64).saturating_mul(pattern.weight.saturating_sub(HEAVY)) / 64
}

/// Counts a match. What was looked at to find it may be the whole rest of the text, so that texts of many matches take long.
fn count(budget: &Budget, text: &str, end: usize) -> Fallible<()> {
    budget.work((text.len() - end) as u64 / 1024)
}

/// Compiled expressions: charts use the same ones in loops.
#[derive(Default)]
struct Cache(RefCell<HashMap<String, Rc<Pattern>>>);

impl Cache {
    /// The compiled expression, or what is wrong with it; an error of its own if the steps end.
    fn get(&self, expression: &str, budget: &Budget) -> Fallible<Fallible<Rc<Pattern>>> {
        if let Some(pattern) = self.0.borrow().get(expression) {
            return Ok(Ok(pattern.clone()));
        }
        let translated = match translate(expression) {
            Ok(translated) => translated,
            Err(error) => return Ok(Err(error)),
        };
        budget.work(translated.weight)?;
        let pattern = match translated.compile() {
            Ok(pattern) => Rc::new(pattern),
            Err(error) => return Ok(Err(error)),
        };
        let mut kept = self.0.borrow_mut();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(expression.to_owned(), pattern.clone());
        Ok(Ok(pattern))
    }
}

pub fn add(all: &mut Functions) {
    let cache = Rc::new(Cache::default());
    // Those without `must` fail, too, because they panic in Go: but regexMatch.
    let mut both = |name: &str,
                    parameters: &[Kind],
                    call: fn(&Pattern, &[Value], &Budget) -> Fallible<Value>| {
        let must = format!("mustR{}", &name[1..]);
        for name in [name, &must] {
            let cache = cache.clone();
            let hides_errors = name == "regexMatch";
            // Go has another name for the function that panics.
            let panics = !name.starts_with("must");
            all.add(name, parameters, move |of, given| {
                let budget = &*of.scope.budget;
                match cache.get(string(&given[0]), budget)? {
                    Ok(pattern) => {
                        budget.work(look(&pattern, string(&given[1])))?;
                        call(&pattern, given, budget)
                    }
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
    both("regexMatch", &two, |pattern, given, _| {
        Ok(pattern.regex.is_match(string(&given[1])).into())
    });
    both("regexFind", &two, |pattern, given, _| {
        Ok(pattern
            .regex
            .find(string(&given[1]))
            .map_or("", |found| found.as_str())
            .into())
    });
    both("regexFindAll", &counted, |pattern, given, budget| {
        let text = string(&given[1]);
        let most = usize::try_from(number(&given[2])).unwrap_or(usize::MAX);
        let found = pattern.regex.find_iter(text).take(most).map(|found| {
            count(budget, text, found.end())?;
            Ok(found.as_str())
        });
        let found: Vec<&str> = found.collect::<Fallible<_>>()?;
        Ok(Value::List(List::of_strings(found)))
    });
    both("regexSplit", &counted, |pattern, given, budget| {
        let parts = split(pattern, string(&given[1]), number(&given[2]), budget)?;
        Ok(Value::List(List::of_strings(parts)))
    });
    both("regexReplaceAll", &three, |pattern, given, budget| {
        let template = string(&given[2]);
        replace(pattern, string(&given[1]), budget, |found, out| {
            expand(pattern, found, template, out)
        })
    });
    both(
        "regexReplaceAllLiteral",
        &three,
        |pattern, given, budget| {
            replace(pattern, string(&given[1]), budget, |_, out| {
                out.push_str(string(&given[2]))
            })
        },
    );
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

fn split<'t>(
    pattern: &Pattern,
    text: &'t str,
    wanted: i64,
    budget: &Budget,
) -> Fallible<Vec<&'t str>> {
    if wanted == 0 {
        return Ok(Vec::new());
    }
    if text.is_empty() && !pattern.regex.as_str().is_empty() {
        return Ok(vec![""]);
    }
    let most = usize::try_from(wanted).unwrap_or(usize::MAX);
    let (mut parts, mut start, mut end) = (Vec::new(), 0, 0);
    for found in pattern.regex.find_iter(text).take(most) {
        if parts.len() >= most - 1 {
            break;
        }
        count(budget, text, found.end())?;
        end = found.start();
        if found.end() != 0 {
            parts.push(&text[start..end]);
        }
        start = found.end();
    }
    if end != text.len() {
        parts.push(&text[start..]);
    }
    Ok(parts)
}

fn replace(
    pattern: &Pattern,
    text: &str,
    budget: &Budget,
    with: impl Fn(&regex::Captures<'_>, &mut String),
) -> Fallible<Value> {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for found in pattern.regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        count(budget, text, whole.end())?;
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
