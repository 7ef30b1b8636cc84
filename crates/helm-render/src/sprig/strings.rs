//! Texts.

use std::collections::HashSet;

use super::{
    case,
    cast::{text, texts},
    words,
};
use crate::{
    function::{Functions, Kind},
    go::number::quote,
    value::{List, Map, MapType, Value},
};

/// The text of a parameter that is one.
pub fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The number of a parameter that is an `int`.
pub fn number(value: &Value) -> i64 {
    match value {
        Value::Int(it) | Value::Int64(it) => *it,
        _ => 0,
    }
}

/// The largest text that one function may make: more than that is a mistake, or an attack.
const LARGEST: usize = 16 << 20;

pub fn add(all: &mut Functions) {
    let one = [Kind::String];
    let two = [Kind::String, Kind::String];
    let mut map = |name: &str, call: fn(&str) -> String| {
        all.add(name, &one, move |_, given| {
            Ok(call(string(&given[0])).into())
        });
    };
    map("trim", |it| it.trim().to_owned());
    map("upper", |it| case::map(it, case::upper));
    map("lower", |it| case::map(it, case::lower));
    map("title", words::title);
    map("untitle", words::untitle);
    map("nospace", words::without_spaces);
    map("initials", words::initials);
    map("swapcase", words::swapcase);
    map("snakecase", |it| words::lower_with(it, '_'));
    map("kebabcase", |it| words::lower_with(it, '-'));
    map("camelcase", words::pascal);

    let mut both = |name: &str, call: fn(&str, &str) -> Value| {
        all.add(name, &two, move |_, given| {
            Ok(call(string(&given[0]), string(&given[1])))
        });
    };
    // The text comes last in each, as pipelines give it.
    both("trimall", |cut, it| trim(it, cut).into());
    both("trimAll", |cut, it| trim(it, cut).into());
    both("trimSuffix", |end, it| {
        it.strip_suffix(end).unwrap_or(it).into()
    });
    both("trimPrefix", |start, it| {
        it.strip_prefix(start).unwrap_or(it).into()
    });
    both("contains", |part, it| it.contains(part).into());
    both("hasPrefix", |start, it| it.starts_with(start).into());
    both("hasSuffix", |end, it| it.ends_with(end).into());
    both("splitList", |by, it| {
        Value::List(List::of_strings(split(it, by, None)))
    });
    both("split", |by, it| numbered(split(it, by, None)));

    all.add(
        "splitn",
        &[Kind::String, Kind::Int, Kind::String],
        |_, given| {
            let count = number(&given[1]);
            Ok(numbered(split(
                string(&given[2]),
                string(&given[0]),
                Some(count),
            )))
        },
    );
    all.add("repeat", &[Kind::Int, Kind::String], |_, given| {
        let (count, it) = (number(&given[0]), string(&given[1]));
        match usize::try_from(count) {
            Err(_) => Err("strings: negative Repeat count".to_owned()),
            Ok(count) if count.saturating_mul(it.len()) > LARGEST => {
                Err(format!("the text is larger than {LARGEST} bytes"))
            }
            Ok(count) => Ok(it.repeat(count).into()),
        }
    });
    all.add("replace", &[Kind::String; 3], |_, given| {
        let (from, to, it) = (string(&given[0]), string(&given[1]), string(&given[2]));
        let count = if to.len() > from.len() {
            it.matches(from).count()
        } else {
            0
        };
        match count.saturating_mul(to.len()) > LARGEST {
            true => Err(format!("the text is larger than {LARGEST} bytes")),
            false => Ok(it.replace(from, to).into()),
        }
    });
    all.add("trunc", &[Kind::Int, Kind::String], |_, given| {
        let (count, it) = (number(&given[0]), string(&given[1]));
        let length = it.len() as i64;
        let part = match count {
            count if count < 0 && length + count > 0 => cut(it, length + count, length),
            count if count >= 0 && length > count => cut(it, 0, count),
            _ => Ok(it.to_owned()),
        };
        part.map(Value::from)
    });
    all.add(
        "substr",
        &[Kind::Int, Kind::Int, Kind::String],
        |_, given| {
            let (start, end, it) = (number(&given[0]), number(&given[1]), string(&given[2]));
            let length = it.len() as i64;
            let out_of_range =
                |range: String| Err(format!("runtime error: slice bounds out of range {range}"));
            let part = match (start, end) {
                (..0, ..0) => return out_of_range(format!("[:{end}]")),
                (..0, end) if end > length => {
                    return out_of_range(format!("[:{end}] with length {length}"));
                }
                (..0, end) => cut(it, 0, end),
                (start, end) if end < 0 || end > length => match start > length {
                    true => return out_of_range(format!("[{start}:{length}]")),
                    false => cut(it, start, length),
                },
                (start, end) if start > end => return out_of_range(format!("[{start}:{end}]")),
                (start, end) => cut(it, start, end),
            };
            part.map(Value::from)
        },
    );
    all.add("indent", &[Kind::Int, Kind::String], |_, given| {
        indent(number(&given[0]), string(&given[1])).map(Value::from)
    });
    all.add("nindent", &[Kind::Int, Kind::String], |_, given| {
        let indented = indent(number(&given[0]), string(&given[1]))?;
        Ok(format!("\n{indented}").into())
    });
    all.add("wrap", &[Kind::Int, Kind::String], |_, given| {
        Ok(words::wrap(string(&given[1]), number(&given[0]), "", false)?.into())
    });
    all.add(
        "wrapWith",
        &[Kind::Int, Kind::String, Kind::String],
        |_, given| {
            let (width, by, it) = (number(&given[0]), string(&given[1]), string(&given[2]));
            let lines =
                it.len() / usize::try_from(width).unwrap_or(1).max(1) + it.matches(' ').count();
            match lines.saturating_mul(by.len()) > LARGEST {
                true => Err(format!("the text is larger than {LARGEST} bytes")),
                false => Ok(words::wrap(it, width, by, true)?.into()),
            }
        },
    );
    all.add("abbrev", &[Kind::Int, Kind::String], |_, given| {
        Ok(words::abbreviate(string(&given[1]), 0, number(&given[0]))?.into())
    });
    all.add(
        "abbrevboth",
        &[Kind::Int, Kind::Int, Kind::String],
        |_, given| {
            let (left, right, it) = (number(&given[0]), number(&given[1]), string(&given[2]));
            match right < 4 || (left > 0 && right < 7) {
                true => Ok(it.into()),
                false => Ok(words::abbreviate(it, left, right)?.into()),
            }
        },
    );
    all.add(
        "plural",
        &[Kind::String, Kind::String, Kind::Int],
        |_, given| Ok(given[usize::from(number(&given[2]) != 1)].clone()),
    );
    all.add_variadic("quote", &[], Kind::Any, |_, given| {
        let some = given.iter().filter(|it| !matches!(it, Value::Nil));
        let quoted: Vec<_> = some.map(|it| quote(&text(it))).collect();
        Ok(quoted.join(" ").into())
    });
    all.add_variadic("squote", &[], Kind::Any, |_, given| {
        let some = given.iter().filter(|it| !matches!(it, Value::Nil));
        let quoted: Vec<_> = some
            .map(|it| format!("'{}'", crate::go::print::any(it)))
            .collect();
        Ok(quoted.join(" ").into())
    });
    all.add_variadic("cat", &[], Kind::Any, |_, given| {
        let some = given.iter().filter(|it| !matches!(it, Value::Nil));
        let all: Vec<_> = some.map(crate::go::print::any).collect();
        Ok(all.join(" ").into())
    });
    all.add("toString", &[Kind::Any], |_, given| {
        Ok(text(&given[0]).into())
    });
    all.add("toStrings", &[Kind::Any], |_, given| {
        Ok(Value::List(List::of_strings(texts(&given[0]))))
    });
    all.add("join", &[Kind::String, Kind::Any], |_, given| {
        let (by, all) = (string(&given[0]), texts(&given[1]));
        let length: usize = all.iter().map(|it| it.len().saturating_add(by.len())).sum();
        match length > LARGEST {
            true => Err(format!("the text is larger than {LARGEST} bytes")),
            false => Ok(all.join(by).into()),
        }
    });
    all.add("sortAlpha", &[Kind::Any], |_, given| {
        let mut all = match &given[0] {
            Value::Nil => vec![text(&Value::Nil)],
            list => texts(list),
        };
        all.sort();
        Ok(Value::List(List::of_strings(all)))
    });
    all.add("hello", &[], |_, _| Ok("Hello!".into()));
}

/// Bytes of a text. Go would cut a character; here that is an error, because a text is UTF-8.
fn cut(text: &str, start: i64, end: i64) -> Result<String, String> {
    let length = text.len() as i64;
    let out = "runtime error: slice bounds out of range";
    if end > length {
        return Err(format!("{out} [:{end}] with length {length}"));
    }
    if end < 0 {
        return Err(format!("{out} [:{end}]"));
    }
    if start > end {
        return Err(format!("{out} [{start}:{end}]"));
    }
    match text.get(start.max(0) as usize..end as usize) {
        Some(part) => Ok(part.to_owned()),
        None => Err("a part would end in a character".to_owned()),
    }
}

/// `strings.Trim`.
fn trim(text: &str, cut: &str) -> String {
    let cut: HashSet<char> = cut.chars().collect();
    text.trim_matches(|c| cut.contains(&c)).to_owned()
}

/// `strings.SplitN`: without a limit, all; by nothing, each character.
fn split(text: &str, by: &str, count: Option<i64>) -> Vec<String> {
    let limit = match count {
        Some(0) => return Vec::new(),
        Some(count) if count > 0 => count as usize,
        _ => usize::MAX,
    };
    if by.is_empty() {
        let chars: Vec<char> = text.chars().collect();
        let single = chars.len().min(limit.saturating_sub(1));
        let mut parts: Vec<String> = chars[..single].iter().map(char::to_string).collect();
        if single < chars.len() {
            parts.push(chars[single..].iter().collect());
        }
        return parts;
    }
    text.splitn(limit, by).map(str::to_owned).collect()
}

/// `_0`, `_1` and so on.
fn numbered(parts: Vec<String>) -> Value {
    let parts = parts.into_iter().enumerate();
    let parts = parts.map(|(at, part)| (format!("_{at}"), Value::from(part)));
    Value::Map(Map::of(MapType::Strings, parts.collect()))
}

fn indent(spaces: i64, text: &str) -> Result<String, String> {
    let Ok(spaces) = usize::try_from(spaces) else {
        return Err("strings: negative Repeat count".to_owned());
    };
    let lines = text.matches('\n').count() + 1;
    if spaces.saturating_mul(lines) > LARGEST {
        return Err(format!("the text is larger than {LARGEST} bytes"));
    }
    let pad = " ".repeat(spaces);
    Ok(format!("{pad}{}", text.replace('\n', &format!("\n{pad}"))))
}
