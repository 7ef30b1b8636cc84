//! What the rules ask of one schema, and of what is around it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray,
};
use serde_json::Value;

/// The fields that Kubernetes describes itself.
pub(super) const HEAD: [&str; 3] = ["apiVersion", "kind", "metadata"];

// Helps of several rules.
pub(super) const ANYTHING: &str = "`#[schemars(with = \"serde_json::Value\")]` at the field, and the API server stores it as it is";
pub(super) const TYPED: &str =
    "`#[schemars(extend(\"type\" = \"…\"))]`, or a Rust type with a schema";
pub(super) const META: &str =
    "a field of another name: Kubernetes has a type for `metadata`, `apiVersion` and `kind`";

/// What surrounds a schema.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) is_root: bool,
    /// It describes `metadata`, `apiVersion` or `kind`, or something in them.
    pub(super) in_head: bool,
    /// It may have a default.
    pub(super) has_defaults: bool,
}

/// The keywords that are set. The API server does not tell false, an empty text, an empty list and no properties from an absent
/// keyword.
pub(super) fn set(schema: &JSONSchemaProps) -> Vec<(String, Value)> {
    let is_set = |keyword: &str, value: &Value| match (keyword, value) {
        ("default" | "example", _) => true,
        ("definitions" | "patternProperties" | "properties", Value::Object(schemas)) => {
            !schemas.is_empty()
        }
        (_, Value::Bool(flag)) => *flag,
        (_, Value::String(text)) => !text.is_empty(),
        (_, Value::Array(values)) => !values.is_empty(),
        _ => true,
    };
    let Ok(Value::Object(mut keywords)) = serde_json::to_value(schema) else {
        return Vec::new();
    };
    keywords.retain(|keyword, value| is_set(keyword, value));
    keywords.into_iter().collect()
}

/// The schema of the items, if they have one.
pub(super) fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.items.as_ref()? {
        JSONSchemaPropsOrArray::Schema(items) => Some(items),
        JSONSchemaPropsOrArray::Schemas(_) => None,
    }
}

pub(super) fn type_of(schema: &JSONSchemaProps) -> Option<&str> {
    schema.type_.as_deref().filter(|type_| !type_.is_empty())
}

pub(super) fn is_true(flag: Option<bool>) -> bool {
    flag == Some(true)
}
