//! Finds the nullable fields: those that a type writes as null.
//!
//! kube makes most `Option`s nullable, because serde writes `None` as null, and every `Quantity` and `IntOrString` with a
//! default, because it looks like one. With `skip_serializing_if`,
//! serde writes nothing, and the field is what Go calls `omitempty`: absent, and not nullable. The API
//! server then drops a null in it, from requests and from stored objects. A field that is written as null
//! stays nullable: otherwise the API server would refuse a server-side apply of the whole object.

use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceDefinition, JSON, JSONSchemaProps, JSONSchemaPropsOrArray,
        JSONSchemaPropsOrBool,
    },
    schemars::{JsonSchema, generate::SchemaSettings},
};
use serde_json::Value;

/// Makes the fields and items nullable that `K` writes as null, and no others: not those that it omits when they have no value,
/// nor those that always have one.
///
/// schemars knows these fields: a field that is always written is required in the schema for serialization.
/// A field whose own schema sets `nullable` keeps it.
pub(super) fn leave_where_written<K: JsonSchema>(crd: &mut CustomResourceDefinition) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let written = settings.into_generator().into_root_schema_for::<K>();
    for version in &mut crd.spec.versions {
        let schema = version.schema.as_mut();
        if let Some(schema) = schema.and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            walk(schema, written.as_value());
        }
    }
}

/// Visits the places that both schemas have; the variants of an enum are not among them.
fn walk(schema: &mut JSONSchemaProps, written: &Value) {
    let written = without_null(written);
    let required = written["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    for (name, field) in schema.properties.iter_mut().flatten() {
        if let Some(written) = written["properties"].get(name) {
            set(field, written, is_required(name));
        }
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        set(items, &written["items"], true);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        set(values, &written["additionalProperties"], true);
    }
}

/// Makes a place nullable if its type writes null there, and `is_written` even without a value.
fn set(schema: &mut JSONSchemaProps, written: &Value, is_written: bool) {
    if written.get("nullable").is_none() {
        let is_nullable = is_written && (allows_null(written) || is_optional_number(schema));
        schema.nullable = is_nullable.then_some(true);
        if let Some(values) = &mut schema.enum_ {
            values.retain(|value| !value.0.is_null());
            // The API server refuses a null beside an enum, even where it is one of the values.
            if is_nullable && let Some(pattern) = pattern(values) {
                schema.enum_ = None;
                schema.pattern = Some(pattern);
            }
        }
    }
    walk(schema, written);
}

/// Whether kube takes the field for an optional `Quantity` or `IntOrString`, of which schemars describes all alike: it is not
/// required, and has no default.
fn is_optional_number(schema: &JSONSchemaProps) -> bool {
    let has_default = schema.default.as_ref().is_some_and(|it| !it.0.is_null());
    schema.x_kubernetes_int_or_string == Some(true) && schema.nullable == Some(true) && !has_default
}

/// The pattern that matches these texts, and nothing else. `None` if there is another value among them.
fn pattern(values: &[JSON]) -> Option<String> {
    let texts = values.iter().map(|value| value.0.as_str().map(escaped));
    let texts = texts.collect::<Option<Vec<_>>>()?;
    Some(format!("^({})$", texts.join("|")))
}

/// A text as a part of a pattern, in the syntax of RE2.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Whether the schema of an `Option` allows null: as a type, as an alternative, as a value, or as anything.
fn allows_null(schema: &Value) -> bool {
    let holds = |list: &Value, null: &Value| list.as_array().is_some_and(|all| all.contains(null));
    let of_type = Value::from("null");
    *schema == Value::Bool(true)
        || schema["type"] == of_type
        || holds(&schema["type"], &of_type)
        || holds(&schema["enum"], &Value::Null)
        || schema["anyOf"]
            .as_array()
            .is_some_and(|all| all.iter().any(allows_null))
}

/// The schema without its null alternative.
fn without_null(schema: &Value) -> &Value {
    match schema["anyOf"].as_array().map(Vec::as_slice) {
        Some([some, null]) if null["type"] == "null" => some,
        _ => schema,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use k8s_openapi::apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString};
    use kube::{CustomResource, CustomResourceExt, KubeSchema};
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "example.com",
        version = "v1",
        kind = "Thing",
        status = "ThingStatus"
    )]
    #[serde(rename_all = "camelCase")]
    struct ThingSpec {
        written: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<IntOrString>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("nullable" = true))]
        says_so: Option<String>,
        #[serde(default)]
        list: Vec<Part>,
        map: BTreeMap<String, Part>,
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<Part>,
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<Source>,
        #[serde(flatten)]
        flat: Part2,
        #[serde(default = "quantity")]
        quantity: Quantity,
        #[serde(skip_serializing_if = "Option::is_none")]
        plain: Option<Plain>,
        written_plain: Option<Plain>,
    }

    fn quantity() -> Quantity {
        Quantity("1".to_owned())
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    enum Plain {
        On,
        #[serde(rename = "c++ (|\\)")]
        Off,
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    struct Part {
        /// A comment.
        #[serde(skip_serializing_if = "Option::is_none")]
        left: Option<Level>,
        right: Option<Level>,
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    struct Part2 {
        #[serde(skip_serializing_if = "Option::is_none")]
        flat_left: Option<i32>,
        flat_right: Option<i32>,
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    enum Level {
        High,
        Low,
    }

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "camelCase")]
    enum Source {
        Git { branch: Option<String> },
        Http { url: String },
    }

    #[derive(Clone, Debug, Default, Deserialize, KubeSchema, Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ThingStatus {
        #[serde(default)]
        written: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<i64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    }

    fn nullable(path: &str, schema: &JSONSchemaProps, found: &mut BTreeSet<String>) {
        if schema.nullable == Some(true) {
            found.insert(path.to_owned());
        }
        for (name, field) in schema.properties.iter().flatten() {
            nullable(&format!("{path}.{name}"), field, found);
        }
        if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
            nullable(&format!("{path}[]"), items, found);
        }
        if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
            nullable(&format!("{path}{{}}"), values, found);
        }
    }

    #[test]
    fn only_fields_that_are_written_as_null_are_nullable() {
        let mut crd = Thing::crd();
        let found = |crd: &CustomResourceDefinition| {
            let schema = crd.spec.versions[0].schema.clone().unwrap();
            let mut found = BTreeSet::new();
            nullable("", &schema.open_api_v3_schema.unwrap(), &mut found);
            found
        };
        let before = found(&crd);
        leave_where_written::<Thing>(&mut crd);
        let after = found(&crd);
        let kept = [
            ".spec.flat_right",
            ".spec.list[].right",
            ".spec.map{}.right",
            ".spec.part.right",
            ".spec.saysSo",
            ".spec.source.git.branch",
            ".spec.written",
            ".spec.writtenPlain",
            ".status.written",
        ];
        assert_eq!(after, kept.map(str::to_owned).into());
        let gone = [
            ".spec.flat_left",
            ".spec.leftOut",
            ".spec.list[].left",
            ".spec.map{}.left",
            ".spec.part",
            ".spec.part.left",
            ".spec.plain",
            ".spec.port",
            ".spec.quantity",
            ".spec.source",
            ".status",
            ".status.leftOut",
        ];
        let dropped: BTreeSet<_> = before.difference(&after).cloned().collect();
        assert_eq!(dropped, gone.map(str::to_owned).into());
    }

    #[test]
    fn an_enum_that_may_be_null_is_a_pattern() {
        let mut crd = Thing::crd();
        leave_where_written::<Thing>(&mut crd);
        let schema = crd.spec.versions[0].schema.clone().unwrap();
        let schema = schema.open_api_v3_schema.unwrap();
        let spec = schema.properties.unwrap()["spec"].clone();
        let field = |name: &str| spec.properties.as_ref().unwrap()[name].clone();
        let values = field("plain").enum_.unwrap();
        assert_eq!(values, ["On", r"c++ (|\)"].map(|it| JSON(it.into())));
        let written = field("writtenPlain");
        assert_eq!(written.enum_, None);
        assert_eq!(written.pattern.as_deref(), Some(r"^(On|c\+\+ \(\|\\\))$"));
    }
}
