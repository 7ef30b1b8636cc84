// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements, SecretKeySelector};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::jiff::Timestamp;
use kube::core::Duration;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The desired state of Page.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "web.tutorial.kubebuilder.io",
    version = "v1",
    kind = "Page",
    plural = "pages",
    category = "cronjob-all",
    namespaced,
    doc = "Page is a resource of web.tutorial.kubebuilder.io.",
    derive = "Default",
    derive = "PartialEq",
    status = "PageStatus",
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(oldSelf.__namespace__) || has(self.__namespace__)").message("namespace cannot be removed"))]
pub struct PageSpec {
    #[schemars(length(min = 1, max = 80), regex(pattern = "^[A-Z][^:]*$"))]
    pub title: String,
    pub source: Source,
    #[schemars(length(min = 1, max = 3))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub ports: Vec<Port>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub modes: Vec<Mode>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = { "format": "hostname", "type": "string" }))]
    pub hosts: Vec<String>,
    #[schemars(length(min = 2), inner(regex(pattern = "^[a-z]+$")))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub names: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, Quantity>,
    pub expires: Time,
    #[serde(default = "default_timeout")]
    #[schemars(regex(pattern = r"^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+$"))]
    pub timeout: Duration,
    #[schemars(regex(pattern = r"^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+$"))]
    pub interval: Duration,
    #[serde(default = "default_memory")]
    pub memory: Quantity,
    #[serde(default = "default_surge")]
    pub surge: IntOrString,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub extra: Option<Value>,
    pub values: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<BTreeMap<String, Value>>,
    #[serde(default = "default_ratio")]
    #[schemars(range(min = 0, max = 1))]
    pub ratio: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 5000000000_i64))]
    pub large: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    pub password: SecretKeySelector,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub env: Vec<EnvVar>,
    #[serde(default = "default_type")]
    pub r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("namespace cannot change"))]
    pub namespace: Option<String>,
    pub answer: Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<SpecReason>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<Vec<i32>>,
    #[serde(default = "default_greeting")]
    pub greeting: String,
}

impl Default for PageSpec {
    fn default() -> Self {
        Self {
            title: String::new(),
            source: Source::default(),
            ports: Vec::new(),
            modes: Vec::new(),
            hosts: Vec::new(),
            names: Vec::new(),
            labels: BTreeMap::new(),
            limits: BTreeMap::new(),
            expires: Time(Timestamp::UNIX_EPOCH),
            timeout: default_timeout(),
            interval: Duration::from(std::time::Duration::ZERO),
            memory: default_memory(),
            surge: default_surge(),
            extra: None,
            values: BTreeMap::new(),
            rules: Vec::new(),
            ratio: default_ratio(),
            large: None,
            policy: None,
            password: SecretKeySelector::default(),
            selector: None,
            resources: None,
            env: Vec::new(),
            r#type: default_type(),
            namespace: None,
            answer: Answer::default(),
            reason: None,
            matrix: Vec::new(),
            greeting: default_greeting(),
        }
    }
}

/// The observed state of Page.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub ports: Vec<Port>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub items: BTreeMap<String, Item>,
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(oldSelf.revision) || has(self.revision)").message("revision cannot be removed"))]
pub struct Source {
    #[schemars(extend("format" = "uri"))]
    #[x_kube(validation = Rule::new("self == oldSelf").message("url cannot change"))]
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("revision cannot change"))]
    pub revision: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Port {
    #[schemars(length(max = 15))]
    pub name: String,
    #[schemars(range(min = 1, max = 65535))]
    #[x_kube(validation = Rule::new("self == oldSelf").message("number cannot change"))]
    pub number: i32,
    #[serde(default)]
    pub protocol: Protocol,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub enum Mode {
    #[default]
    #[serde(rename = "read-only")]
    ReadOnly,
    #[serde(rename = "read-write")]
    ReadWrite,
    #[serde(rename = "a:b")]
    AB,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub enum Policy {
    #[default]
    Fast,
    Slow,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    #[default]
    Yes,
    No,
    On,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub enum SpecReason {
    #[default]
    A,
    B,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub enum Phase {
    #[default]
    Pending,
    Ready,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    #[default]
    Tcp,
    Udp,
}

fn default_timeout() -> Duration {
    "1h30m".parse().expect("the text is a duration")
}

fn default_memory() -> Quantity {
    Quantity("64Mi".to_owned())
}

fn default_surge() -> IntOrString {
    IntOrString::String("25%".to_owned())
}

fn default_ratio() -> f64 {
    0.5
}

fn default_type() -> String {
    "plain".to_owned()
}

fn default_greeting() -> String {
    r#"say "hello": you"#.to_owned()
}
