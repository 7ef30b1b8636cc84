//! Finds the types that kube's derive cannot describe, before it panics or describes something else.
//!
//! Kubernetes takes no `properties` and no `type` in `oneOf` and `anyOf` (Kubernetes documentation, "Specifying a structural
//! schema"), so kube moves them from the variants of an enum to the enum itself. That is right for variants with different keys,
//! as serde writes an enum without attributes.

use std::collections::BTreeMap;

use serde_json::Value;

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

fn check_at(path: &str, schema: &Value) -> Result<(), Place> {
    let wrong = |why: String| {
        let path = path.to_owned();
        Err(Place { path, why })
    };
    let items = &schema["items"];
    if *items == Value::Bool(true) || items.as_object().is_some_and(|items| items.is_empty()) {
        return wrong("the items of the list can be anything".to_owned());
    }
    if !schema.is_object() || schema["x-kubernetes-int-or-string"] == Value::Bool(true) {
        return Ok(());
    }
    for key in ["oneOf", "anyOf"] {
        let variants = schema[key].as_array().into_iter().flatten();
        let variants: Vec<_> = variants.filter(|variant| !is_null(variant)).collect();
        let mut types = variants
            .iter()
            .filter_map(|variant| variant["type"].as_str());
        if let Some(first) = types.next()
            && let Some(other) = types.find(|other| *other != first)
        {
            return wrong(format!(
                "one of its variants is of type `{first}`, another of type `{other}`"
            ));
        }
        let mut fields = BTreeMap::new();
        for variant in variants {
            for (name, field) in entries(&variant["properties"]) {
                if *fields.entry(name).or_insert(field) != field {
                    return wrong(format!("the field `{name}` differs in its variants"));
                }
            }
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
