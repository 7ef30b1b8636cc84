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

use std::borrow::Cow;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Bare",
    plural = "bares",
    namespaced,
    no_spec,
    schema = "manual",
    doc = "Bare is a resource of example.com.",
    derive = "Default",
    derive = "PartialEq"
)]
pub struct BareFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<BareSpec>,
}

impl JsonSchema for Bare {
    fn schema_name() -> Cow<'static, str> {
        "Bare".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let properties = json_schema!({});
        let root = json_schema!({
            "title": null,
            "required": null,
            "type": "object",
        });
        let mut schema = BareFields::json_schema(generator);
        let mut all = properties.as_object().cloned().unwrap_or_default();
        if let Some(Value::Object(fields)) = schema.remove("properties") {
            all.extend(fields);
        }
        let object = schema.ensure_object();
        object.insert("properties".into(), all.into());
        object.extend(root.as_object().cloned().unwrap_or_default());
        schema
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct BareSpec {
    pub mode: BareSpecMode,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum BareSpecMode {
    Fast,
    Slow,
}
