//! Finds the types that kube's derive cannot describe, before it panics or describes something else.
//!
//! Kubernetes takes no `properties` and no `type` in `oneOf` and `anyOf` (Kubernetes documentation, "Specifying a structural
//! schema"), so kube moves them from the variants of an enum to the enum itself. That is right for variants with different keys,
//! as serde writes an enum without attributes.

mod variants;

use std::collections::BTreeMap;

use k8s_openapi::schemars::Schema;
use serde_json::{Value, json};

use super::structural::KEEPS;

/// A place that a CRD cannot describe.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    /// From the root of the type: `spec.sources[].git`.
    pub(super) path: String,
    pub(super) why: String,
}

/// Checks a schema that schemars generated.
///
/// # Errors
/// The first place that kube cannot describe.
pub(super) fn check(schema: &Value) -> Result<(), Place> {
    check_at("", schema)
}

/// Lets kube's derive describe a type that it cannot describe alone: write `#[schemars(transform = operator_runtime::structural)]`
/// above the type, or above a struct that has it.
///
/// - An enum with `#[serde(tag = "..")]` has the fields of all its variants. The tag is an enum, and CEL rules require what only
///   some variants need.
/// - An enum whose variants are integers and texts is an `IntOrString`; other variants of different types are kept as they are,
///   without a check. So is a field that differs in the variants.
/// - The items of a list of `serde_json::Value` are kept as they are.
///
/// Without it, [`Crds::merge`](crate::Crds::merge) fails for such a type.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
/// #[serde(tag = "type")]
/// #[schemars(transform = operator_runtime::structural)]
/// enum Source {
///     Git { branch: String },
///     Archive { url: String },
/// }
/// ```
pub fn structural(schema: &mut Schema) {
    if let Some(schema) = schema.as_object_mut() {
        let mut value = Value::Object(std::mem::take(schema));
        open(&mut value);
        if let Value::Object(opened) = value {
            *schema = opened;
        }
    }
}

/// Makes each place of a schema one that kube can describe, from the inside.
fn open(schema: &mut Value) {
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(open),
        Value::Array(schemas) => return schemas.iter_mut().for_each(open),
        _ => return,
    }
    if is_any(&schema["items"]) {
        schema["items"] = json!({ KEEPS: true });
    }
    for key in ["oneOf", "anyOf"] {
        if variants_of(schema, key).is_err()
            && let Some(fields) = schema.as_object_mut()
            && let Some(Value::Array(variants)) = fields.remove(key)
        {
            variants::merge(fields, &variants);
        }
    }
}

fn is_any(schema: &Value) -> bool {
    *schema == Value::Bool(true) || schema.as_object().is_some_and(|schema| schema.is_empty())
}

fn check_at(path: &str, schema: &Value) -> Result<(), Place> {
    let wrong = |why: String| Place {
        path: path.to_owned(),
        why,
    };
    let items = &schema["items"];
    if is_any(items) {
        return Err(wrong("the items of the list can be anything".to_owned()));
    }
    if !schema.is_object() || schema["x-kubernetes-int-or-string"] == Value::Bool(true) {
        return Ok(());
    }
    for key in ["oneOf", "anyOf"] {
        for variant in variants_of(schema, key).map_err(wrong)? {
            check_at(path, variant)?;
        }
    }
    for (name, field) in entries(&schema["properties"]) {
        let separator = if path.is_empty() { "" } else { "." };
        check_at(&format!("{path}{separator}{name}"), field)?;
    }
    check_at(&format!("{path}[]"), items)?;
    check_at(&format!("{path}{{}}"), &schema["additionalProperties"])
}

/// The variants of an enum, without the `None` of an `Option`.
///
/// # Errors
/// Why kube cannot describe them together.
fn variants_of<'a>(schema: &'a Value, key: &str) -> Result<Vec<&'a Value>, String> {
    let variants = schema[key].as_array().into_iter().flatten();
    let variants: Vec<_> = variants.filter(|variant| !is_null(variant)).collect();
    let mut types = variants.iter().filter_map(|variant| type_of(variant));
    if let Some(first) = types.next()
        && let Some(other) = types.find(|other| *other != first)
    {
        return Err(format!(
            "one of its variants is of type `{first}`, another of type `{other}`"
        ));
    }
    let mut fields = BTreeMap::new();
    for variant in &variants {
        for (name, field) in entries(&variant["properties"]) {
            if *fields.entry(name).or_insert(field) != field {
                return Err(format!("the field `{name}` differs in its variants"));
            }
        }
    }
    Ok(variants)
}

/// The type of a value that is not null.
fn type_of(schema: &Value) -> Option<&str> {
    let types = schema["type"].as_array().into_iter().flatten();
    let mut types = types.filter_map(Value::as_str);
    schema["type"]
        .as_str()
        .or_else(|| types.find(|type_| *type_ != "null"))
}

/// Whether a variant is the `None` of an `Option`.
fn is_null(variant: &Value) -> bool {
    variant["type"] == "null" || variant["enum"] == Value::Array(vec![Value::Null])
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
#[allow(dead_code, reason = "only the schemas of these types are used")]
mod tests {
    use schemars::{JsonSchema, generate::SchemaSettings};
    use serde::Serialize;

    use super::*;

    fn found<T: JsonSchema>() -> Option<Place> {
        let settings = SchemaSettings::openapi3().with(|it| it.inline_subschemas = true);
        check(
            settings
                .into_generator()
                .into_root_schema_for::<T>()
                .as_value(),
        )
        .err()
    }

    #[track_caller]
    fn refused<T: JsonSchema>(path: &str, why: &str) {
        let place = found::<T>().expect(why);
        assert!(place.why.contains(why), "{place:?}");
        assert_eq!(place.path, path);
    }

    #[derive(JsonSchema, Serialize)]
    struct In<T> {
        list: Vec<T>,
    }

    #[derive(JsonSchema, Serialize)]
    #[serde(tag = "type")]
    enum Tagged {
        A { size: u8 },
        B,
    }

    #[derive(JsonSchema, Serialize)]
    #[serde(tag = "type", content = "value")]
    enum Adjacent {
        A(String),
        B(u8),
    }

    #[derive(JsonSchema, Serialize)]
    #[serde(untagged)]
    enum Mixed {
        Text(String),
        Number(u8),
        Object { size: u8 },
    }

    #[derive(JsonSchema, Serialize)]
    enum HalfUnit {
        Off,
        On { size: u8 },
    }

    #[derive(JsonSchema, Serialize)]
    #[serde(untagged)]
    enum Keys {
        A { a: String },
        B { b: Option<u8> },
    }

    #[derive(JsonSchema, Serialize)]
    enum Plain {
        /// One.
        A,
        B,
    }

    #[derive(JsonSchema, Serialize)]
    enum OfKeys {
        A { size: u8 },
        B(String),
    }

    #[test]
    fn what_kube_cannot_describe_is_named() {
        refused::<In<Tagged>>("list[]", "the field `type` differs");
        refused::<In<Adjacent>>("list[]", "the field `type` differs");
        refused::<In<Mixed>>(
            "list[]",
            "one of its variants is of type `string`, another of type `integer`",
        );
        refused::<In<Option<HalfUnit>>>("list[]", "one of its variants is of type `string`");
        refused::<In<Value>>("list", "the items of the list can be anything");
    }

    #[test]
    fn what_kube_describes_is_no_error() {
        assert_eq!(found::<In<Keys>>(), None);
        assert_eq!(found::<In<Option<Plain>>>(), None);
        assert_eq!(found::<In<OfKeys>>(), None);
        assert_eq!(found::<In<Option<OfKeys>>>(), None);
    }
}
