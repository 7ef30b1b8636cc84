//! Makes the schema of a Rust type structural, so that the API server accepts it, and keeps what the type holds.
//!
//! schemars describes some types with keywords that a CRD cannot have (Kubernetes documentation, "Extend the Kubernetes API with
//! CustomResourceDefinitions", "Specifying a structural schema"). Where a CRD cannot say what a value is, it keeps the value as
//! it is: the API server would otherwise refuse the CRD, or drop the value without a message.

use serde_json::{Map, Value, json};

/// The keyword with which the API server keeps a value that has no schema.
pub(super) const KEEPS: &str = "x-kubernetes-preserve-unknown-fields";

/// The keywords that say what a value is.
const ABOUT_VALUES: [&str; 11] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "enum",
    "items",
    "not",
    "oneOf",
    "properties",
    "type",
    "x-kubernetes-int-or-string",
    KEEPS,
];

/// A default in Rust that no object of the API server has.
#[derive(Debug, PartialEq)]
pub(super) struct Ignored {
    /// The field, from the root: `spec.retries.seconds`.
    pub(super) path: String,
    /// What the `Default` of its struct says.
    pub(super) rust: Value,
    /// The default of the field itself, which the API server sets.
    pub(super) crd: Value,
}

/// Makes `schema` and the schemas of its fields, items and values structural.
///
/// - A value of any type, such as a `serde_json::Value`, keeps what it holds, also in lists and maps.
/// - A map with keys of a pattern, such as a `BTreeMap<u16, _>`, is a map.
/// - A map beside fields, which `#[serde(flatten)]` makes, keeps what is in it.
/// - The items of a tuple, which a CRD cannot tell apart, are kept.
/// - A type inside itself is kept from there on.
/// - A default of a struct leaves out the fields with a default of their own, as if the struct were given without them.
/// - Rust's formats of integers that Kubernetes warns about, such as `uint32`, go.
pub(super) fn make(schema: &mut Value) -> Vec<Ignored> {
    drop_formats(schema);
    let mut ignored = Vec::new();
    make_place("", schema, &mut ignored);
    ignored
}

fn make_place(path: &str, schema: &mut Value, ignored: &mut Vec<Ignored>) {
    if schema.is_boolean() {
        *schema = json!({});
    }
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    let alternatives = ["allOf", "anyOf", "not", "oneOf"].map(|key| schema.get(key));
    let is_recursive = alternatives.into_iter().flatten().any(refers);
    if is_recursive || schema.contains_key("$ref") {
        keep(schema);
    }
    let patterns = schema.remove("patternProperties");
    if let Some(Value::Object(patterns)) = patterns {
        let mut values = patterns.into_iter().map(|(_, values)| values);
        match (values.next(), values.next()) {
            (Some(values), None) => schema.insert("additionalProperties".to_owned(), values),
            _ => schema.remove("additionalProperties"),
        };
    }
    let has_fields = schema.get("properties").and_then(Value::as_object);
    let has_fields = has_fields.is_some_and(|fields| !fields.is_empty());
    match schema.get("additionalProperties") {
        Some(Value::Bool(true) | Value::Object(_)) if has_fields => {
            schema.remove("additionalProperties");
            schema.insert(KEEPS.to_owned(), json!(true));
        }
        // What is not allowed is pruned.
        Some(Value::Bool(false)) => {
            schema.remove("additionalProperties");
        }
        _ => {}
    }
    if schema.get("type").is_some_and(|type_| type_ == "array") {
        let items = schema.entry("items").or_insert_with(|| json!({}));
        if items.is_array() {
            *items = json!({});
        }
    }
    if !schema
        .keys()
        .any(|key| ABOUT_VALUES.contains(&key.as_str()))
    {
        schema.insert(KEEPS.to_owned(), json!(true));
    }
    if let Some(mut default) = schema.remove("default") {
        if let Value::Object(default) = &mut default {
            let fields = schema.get("properties").unwrap_or(&Value::Null);
            leave_defaults(path, default, fields, ignored);
        }
        schema.insert("default".to_owned(), default);
    }
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    fields
        .into_iter()
        .flatten()
        .for_each(|(name, field)| make_place(&inside(path, name), field, ignored));
    for (key, step) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(schema) = schema.get_mut(key) {
            make_place(&format!("{path}{step}"), schema, ignored);
        }
    }
}

/// Removes what the defaults of `fields` set anyway.
fn leave_defaults(
    path: &str,
    default: &mut Map<String, Value>,
    fields: &Value,
    ignored: &mut Vec<Ignored>,
) {
    default.retain(|name, value| {
        let field = &fields[name];
        let path = inside(path, name);
        if let Some(crd) = field.get("default") {
            if crd != value {
                let (rust, crd) = (value.take(), crd.clone());
                ignored.push(Ignored { path, rust, crd });
            }
            return false;
        }
        if let Value::Object(value) = value {
            leave_defaults(&path, value, &field["properties"], ignored);
        }
        true
    });
}

fn inside(path: &str, field: &str) -> String {
    match path {
        "" => field.to_owned(),
        _ => format!("{path}.{field}"),
    }
}

fn drop_formats(schema: &mut Value) {
    match schema {
        Value::Object(schema) => {
            let is_known = |format: &Value| format == "int32" || format == "int64";
            let is_number = schema.get("type").is_some_and(|type_| type_ == "integer");
            if is_number && schema.get("format").is_some_and(|it| !is_known(it)) {
                schema.remove("format");
            }
            schema.values_mut().for_each(drop_formats);
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(drop_formats),
        _ => {}
    }
}

/// Whether a schema, or one inside it, is that of a type that it is inside of.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(schema) => schema.contains_key("$ref") || schema.values().any(refers),
        Value::Array(schemas) => schemas.iter().any(refers),
        _ => false,
    }
}

/// Leaves nothing but the description and the keyword that keeps the value.
fn keep(schema: &mut Map<String, Value>) {
    schema.retain(|key, _| ["description", "nullable"].contains(&key.as_str()));
    schema.insert(KEEPS.to_owned(), json!(true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut schema: Value, expected: Value) {
        make(&mut schema);
        assert_eq!(schema, expected);
        make(&mut schema);
        assert_eq!(schema, expected, "a second time");
    }

    #[test]
    fn any_value_is_kept() {
        let any = json!({ KEEPS: true });
        check(json!({}), any.clone());
        check(json!(true), any.clone());
        check(
            json!({ "description": "Anything.", "nullable": true }),
            json!({ "description": "Anything.", "nullable": true, KEEPS: true }),
        );
        check(
            json!({ "type": "object", "additionalProperties": true }),
            json!({ "type": "object", "additionalProperties": any }),
        );
        check(
            json!({ "type": "array", "items": true }),
            json!({ "type": "array", "items": any }),
        );
        check(
            json!({ "type": "object", "properties": { "a": {}, "b": { "type": "array", "items": {} } } }),
            json!({ "type": "object", "properties": { "a": any, "b": { "type": "array", "items": any } } }),
        );
    }

    #[test]
    fn what_a_crd_can_say_stays() {
        for schema in [
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            json!({ "x-kubernetes-int-or-string": true }),
            json!({ "type": "array", "items": { "type": "string" } }),
            json!({ "type": "object" }),
        ] {
            check(schema.clone(), schema);
        }
    }

    #[test]
    fn a_field_has_one_default() {
        let fields = json!({
            "seconds": { "type": "integer", "default": 90 },
            "name": { "type": "string" },
            "inner": {
                "type": "object",
                "properties": { "a": { "type": "integer", "default": 1 }, "b": { "type": "integer" } },
            },
        });
        let with =
            |default: Value| json!({ "type": "object", "properties": fields, "default": default });
        check(
            with(json!({ "seconds": 0, "name": "a", "inner": { "a": 0, "b": 0 } })),
            with(json!({ "name": "a", "inner": { "b": 0 } })),
        );
        check(with(json!({ "seconds": 0 })), with(json!({})));

        let mut list = json!({ "type": "object", "properties": { "list": { "type": "array", "items": with(
            json!({ "seconds": 90, "name": "a", "inner": { "a": 0, "b": 0 } }),
        ) } } });
        let ignored = Ignored {
            path: "list[].inner.a".to_owned(),
            rust: json!(0),
            crd: json!(1),
        };
        assert_eq!(make(&mut list), [ignored]);
    }

    #[test]
    fn formats_of_rust_go() {
        check(
            json!({ "type": "integer", "format": "uint32", "minimum": 0 }),
            json!({ "type": "integer", "minimum": 0 }),
        );
        check(
            json!({ "oneOf": [{ "type": "integer", "format": "uint8" }, { "type": "integer", "format": "int32" }] }),
            json!({ "oneOf": [{ "type": "integer" }, { "type": "integer", "format": "int32" }] }),
        );
    }

    #[test]
    fn what_a_crd_cannot_say_is_kept() {
        let string = json!({ "type": "string" });
        check(
            json!({ "type": "object", "patternProperties": { "^\\d+$": string }, "additionalProperties": false }),
            json!({ "type": "object", "additionalProperties": string }),
        );
        check(
            json!({ "type": "object", "properties": { "a": string }, "additionalProperties": string }),
            json!({ "type": "object", "properties": { "a": string }, KEEPS: true }),
        );
        check(
            json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": [string, string] }),
            json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": { KEEPS: true } }),
        );
        check(
            json!({ "$ref": "#/$defs/Node", "description": "A child." }),
            json!({ "description": "A child.", KEEPS: true }),
        );
        check(
            json!({ "anyOf": [string, { "$ref": "#/$defs/Node" }], "nullable": true }),
            json!({ "nullable": true, KEEPS: true }),
        );
    }
}
