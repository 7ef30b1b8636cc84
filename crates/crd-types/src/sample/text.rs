//! Strings that a schema allows.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

use crate::schema::{Object, text as keyword};

/// Whether a pattern matches a text; `None` if it is no pattern.
pub fn matches(pattern: &str, text: &str) -> Option<bool> {
    let pattern = regex::Regex::new(pattern).ok()?;
    Some(pattern.is_match(text))
}

/// A moment, as Kubernetes writes it.
pub(super) const TIME: &str = "2030-01-02T03:04:05Z";

/// A string that a schema allows. Another `seed` gives another one.
pub(super) fn text(schema: &Object, seed: u64) -> String {
    let limit = |keyword| schema.get(keyword).and_then(Value::as_u64);
    let limit = |keyword| limit(keyword).and_then(|limit| usize::try_from(limit).ok());
    let least = limit("minLength").unwrap_or_default();
    let most = limit("maxLength").unwrap_or(usize::MAX);
    let fits = |text: &String| (least..=most).contains(&text.chars().count());
    let pattern = keyword(schema, "pattern").and_then(|pattern| regex_syntax::parse(pattern).ok());
    if let Some(pattern) = pattern {
        let mut texts = (0..8).map(|double| {
            let mut text = String::new();
            write(&pattern, 1 << double, seed, &mut text);
            text
        });
        return texts.find(fits).unwrap_or_default();
    }
    let text = match keyword(schema, "format").and_then(|format| formatted(format, seed)) {
        Some(text) => text,
        None if seed == 0 => "example".to_owned(),
        None => format!("example-{}", seed + 1),
    };
    // The ends of two texts differ.
    let cut = text.len().saturating_sub(most);
    format!("{:x<least$}", &text[cut..])
}

/// Adds a text that the expression matches; what may be repeated is repeated that often.
fn write(pattern: &Hir, repeat: u32, seed: u64, text: &mut String) {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(character(class, seed)),
        HirKind::Repetition(it) => {
            let times = repeat.clamp(it.min, it.max.unwrap_or(u32::MAX).max(it.min));
            for number in 0..u64::from(times) {
                write(&it.sub, repeat, seed + number, text);
            }
        }
        HirKind::Capture(group) => write(&group.sub, repeat, seed, text),
        HirKind::Concat(parts) => parts
            .iter()
            .for_each(|part| write(part, repeat, seed, text)),
        HirKind::Alternation(choices) => {
            let index = usize::try_from(seed).unwrap_or_default() % choices.len();
            write(&choices[index], repeat, seed, text);
        }
    }
}

/// A letter or digit of a class, or whatever it has.
fn character(class: &Class, seed: u64) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let has = |c: &char| {
        class
            .iter()
            .any(|range| (range.start()..=range.end()).contains(c))
    };
    let plain: Vec<char> = ('a'..='z')
        .chain('0'..='9')
        .chain('A'..='Z')
        .filter(has)
        .collect();
    match plain.is_empty() {
        true => class.iter().next().map(|range| range.start()),
        false => plain
            .get(usize::try_from(seed).unwrap_or_default() % plain.len())
            .copied(),
    }
}

/// A text of a format that the API server checks.
fn formatted(format: &str, seed: u64) -> Option<String> {
    let two = seed % 50 + 10;
    Some(match format {
        "date-time" => TIME.to_owned(),
        "date" => format!("20{two}-01-02"),
        "duration" => format!("{two}s"),
        "byte" => format!("AA{two}"),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => format!("c0ffee00-00{two}-4000-8000-000000000000"),
        "ip" | "ipv4" => format!("10.0.0.{two}"),
        "ipv6" => format!("fd00::{two}"),
        "cidr" => format!("10.0.{two}.0/24"),
        "mac" => format!("00:00:00:00:00:{two}"),
        "email" => format!("user-{two}@example.com"),
        "hostname" => format!("host-{two}.example.com"),
        "uri" => format!("https://example.com/{two}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_fit_their_schema() {
        let check = |schema: Value, expected: &str| {
            assert_eq!(text(schema.as_object().unwrap(), 0), expected, "{schema}");
        };
        check(json!({}), "example");
        check(json!({ "minLength": 9 }), "examplexx");
        check(json!({ "maxLength": 2 }), "le");
        check(json!({ "pattern": "^[a-z]+:[0-9]{2}$" }), "a:01");
        check(json!({ "pattern": "^(v|w)x?$", "minLength": 2 }), "vx");
        check(json!({ "format": "ipv4" }), "10.0.0.10");
    }
}
