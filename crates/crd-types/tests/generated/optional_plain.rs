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

use kube::CustomResource;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Optional",
    plural = "optionals",
    namespaced,
    schema = "disabled",
    doc = "Optional is a resource of example.com.",
    derive = "Default",
    derive = "PartialEq",
    status = "OptionalStatus"
)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct OptionalSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub either: Option<OptionalSpecEither>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nullable_source: Option<OptionalSpecNullableSource>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<OptionalSpecSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<OptionalSpecSource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
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

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct OptionalSpecEither {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::large_enum_variant)]
pub enum OptionalSpecNullableSource {
    A(Option<String>),
    B(i64),
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::large_enum_variant)]
pub enum OptionalSpecSource {
    Git(OptionalSpecSourceGit),
    None(OptionalSpecSourceNone),
    WebSite(String),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct OptionalSpecSourceGit {
    pub branch: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct OptionalSpecSourceNone {}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct OptionalStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}
