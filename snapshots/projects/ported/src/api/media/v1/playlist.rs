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

/// The videos to play.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "media.example.com",
    version = "v1",
    kind = "Playlist",
    plural = "playlists",
    namespaced,
    schema = "manual",
    doc = "Playlist is the Schema for the playlists API",
    derive = "Default",
    derive = "PartialEq"
)]
pub struct PlaylistSpec {
    /// The time between two videos.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub videos: Option<Vec<String>>,
}

impl JsonSchema for Playlist {
    fn schema_name() -> Cow<'static, str> {
        "Playlist".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": null,
            "description": "Playlist is the Schema for the playlists API",
            "properties": {
                "apiVersion": { "description": "The version of the schema of this object.", "type": "string" },
                "kind": { "description": "The kind of this object.", "type": "string" },
                "metadata": { "type": "object" },
                "spec": generator.subschema_for::<PlaylistSpec>(),
            },
            "required": ["spec"],
            "type": "object",
        })
    }
}
