//! The checks of one value, such as `minimum`: which of them a structural schema has, and in which words.

use helm_render::values::Table;
use serde_json::{Value as Json, json};

use super::{node::Shape, pattern};

/// The version of JSON schema, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draft {
    /// Up to 4: without `const`.
    Fourth,
    /// 6 and 7: nothing beside a `$ref` counts.
    Seventh,
    /// Any later one, and that of a schema which does not tell.
    Latest,
}

impl Draft {
    pub(super) fn of(schema: &Json) -> Self {
        let name = schema.get("$schema").and_then(Json::as_str);
        let is = |draft: &str| name.is_some_and(|it| it.contains(draft));
        match () {
            () if is("draft-03") || is("draft-04") => Self::Fourth,
            () if is("draft-06") || is("draft-07") => Self::Seventh,
            () => Self::Latest,
        }
    }

    pub(super) fn is_reference_alone(self) -> bool {
        self != Self::Latest
    }
}

/// About how many bytes a schema takes, without the schemas in it.
pub(super) fn size(table: &Table) -> usize {
    let texts = ["title", "description", "pattern", "format"];
    let lists = ["type", "enum", "const", "required"];
    let texts = texts.into_iter().chain(lists);
    let texts: usize = texts.filter_map(|it| table.get(it)).map(size_of).sum();
    let parts = ["allOf", "anyOf", "oneOf"].into_iter();
    let parts = parts.filter_map(|it| table.get(it)?.as_array());
    texts + parts.map(Vec::len).sum::<usize>()
}

fn size_of(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|it| 8 + size_of(it)).sum(),
        Json::Object(fields) => fields
            .iter()
            .map(|(key, it)| key.len() + 8 + size_of(it))
            .sum(),
        _ => 8,
    }
}

/// The only values that a schema takes, if it lists them.
pub(super) fn values(table: &Table, draft: Draft) -> Option<Vec<&Json>> {
    let one = table.get("const").filter(|_| draft != Draft::Fourth);
    match (one, table.get("enum")) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(Json::Array(all))) => Some(all.iter().collect()),
        _ => None,
    }
}

/// Whether a number has no fraction, which is all that JSON schema asks of an integer.
pub(super) fn is_integer(value: &Json) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
}

/// The checks of a schema for a value of a shape. What cannot be said is added to `left_out`.
pub(super) fn of(
    table: &Table,
    shape: &Shape,
    draft: Draft,
    left_out: &mut Vec<&'static str>,
) -> Table {
    let mut checks = Table::new();
    let is_open = matches!(shape, Shape::Anything | Shape::Unsaid);
    if is_open || matches!(shape, Shape::Text | Shape::IntOrText) {
        of_length(table, ["minLength", "maxLength"], &mut checks);
        of_text(table, &mut checks, left_out);
    }
    if is_open || matches!(shape, Shape::Integer | Shape::Number | Shape::IntOrText) {
        of_number(table, shape, &mut checks, left_out);
    }
    if let Shape::List(_) = shape {
        of_length(table, ["minItems", "maxItems"], &mut checks);
        if table.get("uniqueItems") == Some(&json!(true)) {
            left_out.push("uniqueItems");
        }
    }
    if let Some(values) = values(table, draft) {
        of_values(values, shape, &mut checks, left_out);
    }
    checks
}

fn of_length(table: &Table, words: [&str; 2], checks: &mut Table) {
    for word in words {
        let length = table.get(word).filter(|it| is_integer(it));
        let length = length.and_then(Json::as_f64);
        // Helm checks longer ones, if there are any.
        if let Some(length) = length.filter(|it| (0.0..1e9).contains(it)) {
            checks.insert(word.to_owned(), json!(length as u32));
        }
    }
}

fn of_text(table: &Table, checks: &mut Table, left_out: &mut Vec<&'static str>) {
    match table.get("pattern") {
        Some(Json::String(it)) if pattern::is_plain(it) => {
            checks.insert("pattern".to_owned(), json!(it));
        }
        Some(_) => left_out.push("pattern"),
        None => {}
    }
    // Helm and the API server read some formats differently. Helm takes no notice of those of numbers.
    let is_of_number = |it: &Json| {
        ["int32", "int64", "float", "double"]
            .iter()
            .any(|of| it == of)
    };
    if table.get("format").is_some_and(|it| !is_of_number(it)) {
        left_out.push("format");
    }
}

fn of_number(table: &Table, shape: &Shape, checks: &mut Table, left_out: &mut Vec<&'static str>) {
    let bounds = [
        ("minimum", "exclusiveMinimum", 1.0),
        ("maximum", "exclusiveMaximum", -1.0),
    ];
    let is_whole = matches!(shape, Shape::Integer | Shape::IntOrText);
    for (word, exclusive, sign) in bounds {
        let number = |word: &str| table.get(word).filter(|it| it.is_number());
        let weight = |it: &Json| it.as_f64().unwrap_or_default() * sign;
        let (bound, other) = (number(word), number(exclusive));
        let is_other_stricter =
            other.is_some_and(|other| bound.is_none_or(|bound| weight(other) >= weight(bound)));
        let is_exclusive = is_other_stricter || table.get(exclusive) == Some(&json!(true));
        let Some(bound) = other.filter(|_| is_other_stricter).or(bound) else {
            continue;
        };
        // The API server cuts the fraction of a bound before it compares it with an integer, and takes none for integers.
        if is_int64(bound) {
            checks.insert(word.to_owned(), bound.clone());
            if is_exclusive {
                checks.insert(exclusive.to_owned(), json!(true));
            }
        } else if !is_whole {
            checks.insert(word.to_owned(), bound.clone());
        } else {
            left_out.push(word);
        }
    }
    match table.get("multipleOf") {
        // The API server computes with floats, of which some fractions are none.
        Some(it) if is_int64(it) && it.as_f64() > Some(0.0) => {
            checks.insert("multipleOf".to_owned(), it.clone());
        }
        Some(_) => left_out.push("multipleOf"),
        None => {}
    }
}

fn is_int64(value: &Json) -> bool {
    is_integer(value) && value.as_f64().is_some_and(|it| it.abs() < 9e18)
}

/// Removes the bounds that the API server does not take for integers.
pub(super) fn keep_whole(checks: &mut Table) {
    let is_whole = |it: &Json| !it.is_number() || is_int64(it);
    checks.retain(|_, check| is_whole(check));
    if let Some(Json::Array(all)) = checks.get_mut("anyOf") {
        for nested in all.iter_mut().filter_map(Json::as_object_mut) {
            keep_whole(nested);
        }
    }
}

fn of_values(
    values: Vec<&Json>,
    shape: &Shape,
    checks: &mut Table,
    left_out: &mut Vec<&'static str>,
) {
    let is_scalar = |value: &Json| !value.is_array() && !value.is_object();
    let fits = |value: &Json| match shape {
        Shape::Boolean => value.is_boolean(),
        Shape::Integer => is_integer(value),
        Shape::Number => value.is_number(),
        Shape::Text => value.is_string(),
        Shape::IntOrText => value.is_string() || is_integer(value),
        _ => true,
    };
    let is_sayable = (shape.is_scalar() || matches!(shape, Shape::Anything))
        && values.iter().all(|it| is_scalar(it));
    // A null is accepted in any case.
    let fitting = values.into_iter().filter(|it| !it.is_null() && fits(it));
    let fitting: Vec<&Json> = fitting.collect();
    match is_sayable && !fitting.is_empty() {
        true => {
            checks.insert("enum".to_owned(), json!(fitting));
        }
        false => left_out.push("enum"),
    }
}
