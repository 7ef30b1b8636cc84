// SPDX-License-Identifier: Apache-2.0

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

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "media.example.com",
    version = "v1",
    kind = "Channel",
    plural = "channels",
    shortname = "ch",
    schema = "manual",
    doc = "Channel is the Schema for the channels API",
    derive = "Default",
    derive = "PartialEq"
)]
pub struct ChannelSpec {
    #[schemars(length(max = 80))]
    pub title: String,
}

impl JsonSchema for Channel {
    fn schema_name() -> Cow<'static, str> {
        "Channel".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": null,
            "description": "Channel is the Schema for the channels API",
            "properties": {
                "apiVersion": { "description": "The version of the schema of this object.", "type": "string" },
                "kind": { "description": "The kind of this object.", "type": "string" },
                "metadata": { "type": "object" },
                "spec": generator.subschema_for::<ChannelSpec>(),
            },
            "required": ["spec"],
            "type": "object",
        })
    }
}
