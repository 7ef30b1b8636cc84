// Descriptions are text for kubectl and the docs of the API, not Markdown.
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    rustdoc::invalid_rust_codeblocks
)]
// Two columns may have the same type.
#![allow(clippy::duplicated_attributes)]

use std::{borrow::Cow, collections::BTreeMap};

use k8s_openapi::api::core::v1::{LocalObjectReference, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Schemas of the CRD that no Rust type has.
const SCHEMAS: &str = include_str!("every.json");

/// The desired state.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Every",
    plural = "everies",
    shortname = "ev",
    shortname = "evs",
    category = "all",
    category = "examples",
    namespaced,
    schema = "manual",
    doc = "Every has every keyword.",
    derive = "PartialEq",
    status = "EveryStatus",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    selectable = ".spec.mode",
    printcolumn(
        name = "Mode",
        type_ = "string",
        json_path = ".spec.mode",
        description = r#"The "mode""#,
        priority = 1
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("maxProperties" = 99, "minProperties" = 1, "x-kubernetes-validations" = [{ "fieldPath": ".replicas", "messageExpression": r#"'more than ' + '"none"'"#, "optionalOldSelf": true, "reason": "FieldValueForbidden", "rule": "!oldSelf.hasValue() || self.replicas > 0" }]))]
pub struct EverySpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "127.0.0.1", "example" = "10.0.0.1", "format" = "ipv4", "title" = "An address"))]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub anything: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<EverySpecBeyond>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("description" = null, "maxLength" = 10))]
    pub bound_port: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("allOf" = [{ "maxLength": 5 }, { "pattern": "^b" }], "not" = { "pattern": "b$" }))]
    pub bounded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = { "format": "uint8", "type": "integer" }))]
    pub byte_list: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "byte"))]
    pub bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = { "anyOf": [{ "type": "integer" }, { "type": "string" }], "contains": "not for kube", "description": "A quantity.", "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$", "x-kubernetes-int-or-string": true }))]
    pub described: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub double: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<EverySpecEmpty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub flag: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half: Option<EverySpecHalf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = { "maxLength": 63, "type": "string" }, "maxProperties" = 8, "x-kubernetes-map-type" = "granular"))]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -5000000000_i64, max = 9223372036854775807_i64))]
    pub large: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [1, 2, 3], "format" = null))]
    pub level: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = undescribed)]
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = { "items": { "type": "number" }, "type": "array" }))]
    pub matrix: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("nullable" = true))]
    pub maybe: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EverySpecMaybeMode", extend("nullable" = true))]
    pub maybe_mode: Option<EverySpecMaybeMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("nullable" = true))]
    pub maybe_part: Option<EverySpecMaybePart>,
    /// A quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// How fast.
    #[schemars(extend("default" = "Fast"))]
    pub mode: EverySpecMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<EverySpecMode2>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 9),
        inner(length(min = 1), regex(pattern = "^a"))
    )]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested: Option<BTreeMap<String, BTreeMap<String, String>>>,
    #[schemars(required, extend("nullable" = true))]
    pub nothing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nullable_items: Option<Vec<Option<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = { "enum": ["x", "y"], "nullable": true, "type": "string" }))]
    pub nullable_modes: Option<Vec<Option<EverySpecNullableMode>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(max = 7)), extend("default" = [1, 2]))]
    pub numbers: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = null, "x-kubernetes-embedded-resource" = true, "x-kubernetes-preserve-unknown-fields" = true))]
    pub object: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = null, "x-kubernetes-preserve-unknown-fields" = true))]
    pub open: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = { "x-kubernetes-preserve-unknown-fields": true }))]
    pub open_items: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = { "items": { "x-kubernetes-preserve-unknown-fields": true }, "type": "array" }))]
    pub open_lists: Option<BTreeMap<String, Vec<Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_map: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = { "properties": { "a": { "type": "string" } }, "type": "object" }, "x-kubernetes-preserve-unknown-fields" = true))]
    pub open_parts: Option<Vec<EverySpecOpenPart>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = { "name": "other" }, "description" = null, "x-kubernetes-map-type" = null))]
    pub other_part: Option<EverySpecPart>,
    /// A part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<EverySpecPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"], "x-kubernetes-list-type" = "map"))]
    pub parts: Option<Vec<EverySpecPart>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts_by_name: Option<BTreeMap<String, EverySpecPart>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "every_spec_plain_port")]
    pub plain_port: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("description" = null))]
    pub port: Option<IntOrString>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EverySpecProtocol", length(max = 3))]
    pub protocol: Option<EverySpecProtocol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r##"^"[^"#]*"#\s$"##))]
    pub quoted: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.5_f64, max = 1), extend("format" = null))]
    pub ratio: Option<f64>,
    #[schemars(range(min = 0, max = 100), extend("exclusiveMaximum" = true, "multipleOf" = 2))]
    pub replicas: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "every_spec_resources")]
    pub resources: Option<ResourceRequirements>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "every_spec_selector")]
    pub selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [-1, 0, 1]))]
    pub sign: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = { "enum": [-1, 1], "type": "integer" }))]
    pub signs: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "float"))]
    pub single: Option<f64>,
    #[schemars(extend("format" = null))]
    pub size: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "every_spec_source")]
    pub source: Option<EverySpecSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<EverySpecSource2>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [0.5_f64, -1], "format" = null))]
    pub step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<EverySpecTls>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "EverySpecTruth")]
    pub truth: Option<EverySpecTruth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uint32"))]
    pub unsigned: Option<i64>,
    /// A time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("description" = null))]
    pub whenever: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [true]))]
    pub yes: Option<bool>,
}

impl JsonSchema for Every {
    fn schema_name() -> Cow<'static, str> {
        "Every".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": null,
            "description": "Every has every keyword.\n\nAnd two paragraphs.",
            "properties": {
                "apiVersion": { "type": "string" },
                "kind": { "type": "string" },
                "metadata": { "properties": { "name": { "maxLength": 63, "type": "string" } }, "type": "object" },
                "spec": generator.subschema_for::<EverySpec>(),
                "status": generator.subschema_for::<EveryStatus>(),
            },
            "required": ["spec"],
            "type": "object",
            "x-kubernetes-validations": [{ "message": "too long", "rule": "self.metadata.name.size() < 64" }],
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[schemars(extend("required" = ["absent"]))]
pub struct EverySpecBeyond {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub present: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct EverySpecEmpty {}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = null, "x-kubernetes-preserve-unknown-fields" = true))]
pub struct EverySpecHalf {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub other_fields: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum EverySpecMaybeMode {
    A,
    B,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct EverySpecMaybePart {
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum EverySpecMode {
    Fast,
    Slow,
    #[serde(rename = "")]
    Empty,
}

/// One mode.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum EverySpecMode2 {
    Fast,
    Slow,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EverySpecNullableMode {
    X,
    Y,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = null, "x-kubernetes-preserve-unknown-fields" = true))]
pub struct EverySpecOpenPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct EverySpecPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 1))]
    pub count: Option<i32>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EverySpecProtocol {
    Tcp,
    Udp,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::large_enum_variant)]
pub enum EverySpecSource {
    Git(String),
    Url(String),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[schemars(extend("oneOf" = [{ "properties": { "type": { "enum": ["git"] } } }, { "properties": { "type": { "enum": ["url"] } } }], "contains" = "not for kube"))]
pub struct EverySpecSource2 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EverySpecTls {
    /// LocalObjectReference
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "every_spec_tls_secret_ref")]
    pub secret_ref: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EverySpecTruth {
    True,
    False,
    _1,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct EveryStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "every_status_conditions")]
    pub conditions: Option<Vec<Condition>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
}

fn every_spec_plain_port(_: &mut SchemaGenerator) -> Schema {
    kept("every_spec_plain_port")
}

fn every_spec_resources(_: &mut SchemaGenerator) -> Schema {
    kept("every_spec_resources")
}

fn every_spec_selector(_: &mut SchemaGenerator) -> Schema {
    kept("every_spec_selector")
}

fn every_spec_source(_: &mut SchemaGenerator) -> Schema {
    kept("every_spec_source")
}

fn every_spec_tls_secret_ref(_: &mut SchemaGenerator) -> Schema {
    kept("every_spec_tls_secret_ref")
}

fn every_status_conditions(_: &mut SchemaGenerator) -> Schema {
    kept("every_status_conditions")
}

/// Removes the description that a Kubernetes type has on its own from list items and map values.
fn undescribed(schema: &mut Schema) {
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(inner).and_then(Value::as_object_mut) {
            inner.remove("description");
        }
    }
}

/// A schema as the CRD has it.
fn kept(name: &str) -> Schema {
    let schemas: BTreeMap<String, Schema> =
        serde_json::from_str(SCHEMAS).expect("the file is generated with these types");
    let mut schema = schemas.get(name).cloned().unwrap_or_default();
    RecursiveTransform(as_written).transform(&mut schema);
    schema
}

/// Keeps kube from rewriting the alternatives of a schema: it cannot read one whose `contains` is no
/// schema. The CRD has no such keyword, and loses it.
fn as_written(schema: &mut Schema) {
    if schema.get("anyOf").is_some() || schema.get("oneOf").is_some() {
        schema.insert("contains".into(), "not for kube".into());
    }
}
