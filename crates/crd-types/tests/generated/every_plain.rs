// Descriptions are text for kubectl and the docs of the API, not Markdown.
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    rustdoc::invalid_rust_codeblocks
)]

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LocalObjectReference, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The desired state.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Every",
    plural = "everies",
    namespaced,
    schema = "disabled",
    doc = "Every has every keyword.",
    derive = "PartialEq",
    status = "EveryStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct EverySpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anything: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<EverySpecBeyond>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_port: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_list: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub described: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub double: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<EverySpecEmpty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half: Option<EverySpecHalf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maybe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maybe_mode: Option<EverySpecMaybeMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maybe_part: Option<EverySpecMaybePart>,
    /// A quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// How fast.
    pub mode: EverySpecMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<EverySpecMode2>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested: Option<BTreeMap<String, BTreeMap<String, String>>>,
    pub nothing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nullable_items: Option<Vec<Option<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nullable_modes: Option<Vec<Option<EverySpecNullableMode>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_items: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_lists: Option<BTreeMap<String, Vec<Value>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_map: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_parts: Option<Vec<EverySpecOpenPart>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_part: Option<EverySpecPart>,
    /// A part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<EverySpecPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<EverySpecPart>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts_by_name: Option<BTreeMap<String, EverySpecPart>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_port: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<EverySpecProtocol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoted: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    pub replicas: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signs: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single: Option<f64>,
    pub size: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<EverySpecSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<EverySpecSource2>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<EverySpecTls>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<EverySpecTruth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsigned: Option<i64>,
    /// A time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whenever: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yes: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EverySpecBeyond {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub present: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EverySpecEmpty {}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EverySpecHalf {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub other_fields: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum EverySpecMaybeMode {
    A,
    B,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EverySpecMaybePart {
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum EverySpecMode {
    Fast,
    Slow,
    #[serde(rename = "")]
    Empty,
}

/// One mode.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum EverySpecMode2 {
    Fast,
    Slow,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EverySpecNullableMode {
    X,
    Y,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EverySpecOpenPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EverySpecPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EverySpecProtocol {
    Tcp,
    Udp,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::large_enum_variant)]
pub enum EverySpecSource {
    Git(String),
    Url(String),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EverySpecSource2 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EverySpecTls {
    /// LocalObjectReference
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EverySpecTruth {
    True,
    False,
    _1,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EveryStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<Condition>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
}
