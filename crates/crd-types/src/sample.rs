//! Objects that a schema allows.

mod text;

use serde_json::{Map, Value, json};

pub use self::text::matches;
use crate::{
    known,
    model::QUANTITY,
    schema::{Object, is_true, text},
};

/// An object that a schema allows: it has what is required, and the fields that have a default.
///
/// Rules in CEL, `not`, `allOf`, `anyOf` and `oneOf` are not considered.
pub fn sample(schema: &Value) -> Value {
    let empty = Object::new();
    value(schema.as_object().unwrap_or(&empty), 0)
}

/// A value. Another `seed` gives another one, where the schema allows that.
fn value(schema: &Object, seed: u64) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let index = usize::try_from(seed).unwrap_or_default();
        return values
            .get(index)
            .or(values.first())
            .cloned()
            .unwrap_or_default();
    }
    if is_true(schema, "x-kubernetes-int-or-string") {
        return match text(schema, "pattern") {
            Some(QUANTITY) => json!(format!("{}", seed + 1)),
            Some(_) => text::text(schema, seed).into(),
            None => json!(seed + 1),
        };
    }
    match text(schema, "type") {
        Some("boolean") => json!(seed % 2 == 1),
        Some("integer") => json!(number(schema, 1.0, seed) as i64),
        Some("number") => json!(number(schema, 0.5, seed)),
        Some("string") => text::text(schema, seed).into(),
        Some("array") => items(schema, seed),
        Some("object") => object(schema, seed),
        _ => json!({}),
    }
}

fn object(schema: &Object, seed: u64) -> Value {
    let mut object = Map::new();
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let property = property.as_object().cloned().unwrap_or_default();
        if is_required(name) || property.contains_key("default") {
            object.insert(name.clone(), value(&property, seed));
        }
    }
    let values = schema
        .get("additionalProperties")
        .and_then(Value::as_object);
    let least = schema
        .get("minProperties")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    for (values, number) in values.into_iter().cycle().zip(0..least) {
        object.insert(format!("key-{number}"), value(values, seed));
    }
    Value::Object(object)
}

/// As few items as the schema allows, all different.
fn items(schema: &Object, seed: u64) -> Value {
    let least = schema
        .get("minItems")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let items = schema.get("items").and_then(Value::as_object);
    let items = items.into_iter().cycle().zip(0..least);
    items
        .map(|(items, number)| value(items, seed + number))
        .collect()
}

/// A number between the limits.
fn number(schema: &Object, step: f64, seed: u64) -> f64 {
    let limit = |keyword| schema.get(keyword).and_then(Value::as_f64);
    let step = limit("multipleOf").unwrap_or(step);
    let inside = |keyword: &str| match is_true(schema, keyword) {
        true => step,
        false => 0.0,
    };
    let low = limit("minimum").map(|low| ((low + inside("exclusiveMinimum")) / step).ceil() * step);
    let high =
        limit("maximum").map(|high| ((high - inside("exclusiveMaximum")) / step).floor() * step);
    let start = low.unwrap_or_else(|| high.unwrap_or(f64::INFINITY).min(1.0));
    (start + seed as f64 * step).min(high.unwrap_or(f64::INFINITY))
}

/// A value of a well-known type: what it requires, and for a template of Pods a container, without which no Pod starts.
pub(crate) fn of_path(path: &str) -> Value {
    let containers = || json!([{ "name": "main", "image": "registry.k8s.io/pause:3.10" }]);
    let template =
        |policy: &str| json!({ "spec": { "containers": containers(), "restartPolicy": policy } });
    match path.rsplit("::").next().unwrap_or_default() {
        _ if path == known::DURATION => json!("5m"),
        "PodSpec" => json!({ "containers": containers() }),
        "PodTemplateSpec" => template("Always"),
        "JobSpec" => json!({ "template": template("OnFailure") }),
        "JobTemplateSpec" => json!({ "spec": { "template": template("OnFailure") } }),
        _ => of_definition(&known::definition(path)),
    }
}

/// A value of a type of Kubernetes, by the name of its definition: what it requires.
fn of_definition(name: &str) -> Value {
    let type_ = known::TYPES.get(name).cloned().unwrap_or_default();
    let required = type_["required"].as_array().into_iter().flatten();
    let required = required.filter_map(Value::as_str);
    let property = |property: &str| {
        let kind = type_["properties"][property].as_str().unwrap_or_default();
        (property.to_owned(), of_kind(kind))
    };
    Value::Object(required.map(property).collect())
}

/// A value of a property in `known/types.json`.
fn of_kind(kind: &str) -> Value {
    match kind {
        "boolean" => json!(false),
        "integer" | "int-or-string" | "number" => json!(1),
        "quantity" => json!("1"),
        "string" => json!("example"),
        "time" => json!(text::TIME),
        "any" | "object" => json!({}),
        _ if kind.starts_with('[') => json!([]),
        _ if kind.starts_with('{') => json!({}),
        _ => of_definition(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(sample(&schema), expected);
    }

    #[test]
    fn samples_have_what_is_required() {
        check(json!({ "type": "integer", "minimum": 3 }), json!(3));
        check(json!({ "type": "integer", "maximum": -3 }), json!(-3));
        check(
            json!({ "type": "number", "minimum": 1, "exclusiveMinimum": true }),
            json!(1.5),
        );
        check(json!({ "type": "string", "enum": ["a", "b"] }), json!("a"));
        check(
            json!({ "type": "array", "minItems": 2, "items": { "type": "string" } }),
            json!(["example", "example-2"]),
        );
        check(
            json!({ "type": "object", "required": ["a"], "properties": {
                "a": { "type": "boolean" },
                "b": { "type": "boolean" },
                "c": { "type": "string", "default": "d" },
            } }),
            json!({ "a": false, "c": "d" }),
        );
    }

    #[test]
    fn well_known_types_have_samples() {
        assert_eq!(
            of_path("k8s_openapi::api::core::v1::SecretKeySelector"),
            json!({ "key": "example", "name": "example" })
        );
        assert_eq!(of_path(known::DURATION), json!("5m"));
        for path in crate::well_known() {
            assert!(!of_path(path).is_null(), "{path}");
        }
    }
}
