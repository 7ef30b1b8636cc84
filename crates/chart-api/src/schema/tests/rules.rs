//! The rules of the API server for schemas, and what a schema says of values, as far as the tests need both.

use serde_json::{Value as Json, json};

const WORDS: [&str; 21] = [
    "type",
    "properties",
    "additionalProperties",
    "items",
    "required",
    "nullable",
    "description",
    "allOf",
    "anyOf",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];
const OPEN: &str = "x-kubernetes-preserve-unknown-fields";
const BOTH: &str = "x-kubernetes-int-or-string";

/// What breaks the rules for structural schemas.
pub(super) fn broken_rules(schema: &Json) -> Vec<String> {
    let mut broken = Vec::new();
    if schema["type"] != "object" || schema.get("nullable").is_some() {
        broken.push("spec: is no object, or may be null".to_owned());
    }
    check_node(schema, "spec", &mut broken);
    broken
}

fn check_node(schema: &Json, path: &str, broken: &mut Vec<String>) {
    let mut check = |holds: bool, rule: &str| {
        if !holds {
            broken.push(format!("{path}: {rule}: {schema}"));
        }
    };
    let has = |word: &str| schema.get(word).is_some();
    let words = schema.as_object().unwrap().keys();
    let mut words = words.map(String::as_str);
    check(
        words.all(|it| WORDS.contains(&it) || it == OPEN || it == BOTH),
        "unknown word",
    );
    check(has("type") || has(OPEN) || has(BOTH), "no type");
    check(!has(OPEN) || !has(BOTH), "both extensions");
    check(
        !has("properties") || !has("additionalProperties"),
        "both properties",
    );
    check(schema["type"] != "array" || has("items"), "no items");
    check(!has("enum"), "an enum, which refuses null");
    for word in ["exclusiveMinimum", "exclusiveMaximum"] {
        check(!has(word) || schema[word].is_boolean(), "no boolean");
    }
    for nested in ["allOf", "anyOf"]
        .iter()
        .flat_map(|it| schema[it].as_array().into_iter().flatten())
    {
        let words = [
            "enum",
            "anyOf",
            "pattern",
            "minLength",
            "maxLength",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ];
        let mut keys = nested.as_object().unwrap().keys();
        check(
            keys.all(|it| words.contains(&it.as_str()) || it == "format"),
            "more than checks are nested",
        );
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        check_node(field, &format!("{path}.{name}"), broken);
    }
    for word in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(word) {
            check_node(inner, &format!("{path}.{word}"), broken);
        }
    }
}

/// What of a value does not fit a schema, a line for each place.
pub(super) fn misfits(schema: &Json, value: &Json) -> String {
    let mut wrong = String::new();
    check_value(schema, value, "", &mut wrong);
    wrong
}

fn check_value(schema: &Json, value: &Json, path: &str, wrong: &mut String) {
    let mut refuse = |what: String| wrong.push_str(&format!("{path}: {what}\n"));
    let is = |word: &str| schema.get(word) == Some(&json!(true));
    if value.is_null() {
        if !is("nullable") {
            refuse("null".to_owned());
        }
        return;
    }
    let is_integer = value.as_f64().is_some_and(|it| it.fract() == 0.0);
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => is_integer,
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ if is(BOTH) => is_integer || value.is_string(),
        _ => true,
    };
    if !fits {
        refuse(format!(
            "{value} is no {}",
            schema["type"].as_str().unwrap_or("text or integer")
        ));
    }
    if let Some(values) = schema["allOf"][0]["enum"].as_array()
        && !values.contains(value)
    {
        refuse(format!("{value} is not listed"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            refuse(format!("lacks {name}"));
        }
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        if schema.get("items").is_some() {
            check_value(&schema["items"], item, &format!("{path}/{at}"), wrong);
        }
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        match schema["properties"]
            .get(name)
            .or(schema.get("additionalProperties"))
        {
            Some(schema) => check_value(schema, field, &path, wrong),
            None if is(OPEN) => {}
            None => wrong.push_str(&format!("{path}: is not known\n")),
        }
    }
}
