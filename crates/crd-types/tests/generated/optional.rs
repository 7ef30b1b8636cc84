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

use kube::CustomResource;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Schemas of the CRD that no Rust type has.
const SCHEMAS: &str = include_str!("optional.json");

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Optional",
    plural = "optionals",
    namespaced,
    schema = "manual",
    doc = "Optional is a resource of example.com.",
    derive = "Default",
    derive = "PartialEq",
    status = "OptionalStatus"
)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct OptionalSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("oneOf" = [{ "required": ["a"] }, { "required": ["b"] }], "contains" = "not for kube"))]
    pub either: Option<OptionalSpecEither>,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "optional_spec_nullable_source")]
    pub nullable_source: Option<OptionalSpecNullableSource>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "optional_spec_source")]
    pub source: Option<OptionalSpecSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "optional_spec_sources")]
    pub sources: Option<Vec<OptionalSpecSource>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "optional_spec_sources_by_name")]
    pub sources_by_name: Option<BTreeMap<String, OptionalSpecSource>>,
}

impl<'de> Deserialize<'de> for OptionalSpec {
    /// The CRD requires no `spec`: an object without one has the default.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Present(#[serde(with = "OptionalSpec")] OptionalSpec);
        let spec = Option::<Present>::deserialize(deserializer)?;
        Ok(spec.map_or_else(Self::default, |Present(spec)| spec))
    }
}

impl Serialize for OptionalSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl JsonSchema for Optional {
    fn schema_name() -> Cow<'static, str> {
        "Optional".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": null,
            "properties": {
                "spec": generator.subschema_for::<OptionalSpec>(),
                "status": generator.subschema_for::<OptionalStatus>(),
            },
            "type": "object",
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct OptionalSpecEither {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::large_enum_variant)]
pub enum OptionalSpecNullableSource {
    A(Option<String>),
    B(i64),
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::large_enum_variant)]
pub enum OptionalSpecSource {
    Git(OptionalSpecSourceGit),
    None(OptionalSpecSourceNone),
    WebSite(String),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct OptionalSpecSourceGit {
    #[schemars(length(min = 1))]
    pub branch: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct OptionalSpecSourceNone {}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct OptionalStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

fn optional_spec_nullable_source(_: &mut SchemaGenerator) -> Schema {
    kept("optional_spec_nullable_source")
}

fn optional_spec_source(_: &mut SchemaGenerator) -> Schema {
    kept("optional_spec_source")
}

fn optional_spec_sources(_: &mut SchemaGenerator) -> Schema {
    kept("optional_spec_sources")
}

fn optional_spec_sources_by_name(_: &mut SchemaGenerator) -> Schema {
    kept("optional_spec_sources_by_name")
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
