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

use std::{borrow::Cow, collections::BTreeMap};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Schemas of the CRD that no Rust type has.
const SCHEMAS: &str = include_str!("video.json");

/// What to encode, and how.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "media.example.com",
    version = "v1",
    kind = "Video",
    plural = "videos",
    namespaced,
    schema = "manual",
    doc = "Video is the Schema for the videos API",
    derive = "Default",
    derive = "PartialEq",
    status = "VideoStatus"
)]
pub struct VideoSpec {
    /// The codec of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "VideoSpecCodec", extend("default" = "AV1"))]
    pub codec: Option<VideoSpecCodec>,
    /// The sizes to encode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name"], "x-kubernetes-list-type" = "map"))]
    pub renditions: Option<Vec<VideoSpecRendition>>,
    /// Where the original is.
    #[schemars(length(min = 1))]
    pub source: String,
}

impl JsonSchema for Video {
    fn schema_name() -> Cow<'static, str> {
        "Video".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": null,
            "description": "Video is the Schema for the videos API",
            "properties": {
                "apiVersion": { "description": "The version of the schema of this object.", "type": "string" },
                "kind": { "description": "The kind of this object.", "type": "string" },
                "metadata": { "type": "object" },
                "spec": generator.subschema_for::<VideoSpec>(),
                "status": generator.subschema_for::<VideoStatus>(),
            },
            "required": ["spec"],
            "type": "object",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VideoSpecCodec {
    Av1,
    H264,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct VideoSpecRendition {
    #[schemars(range(min = 144))]
    pub height: i32,
    #[schemars(length(min = 1))]
    pub name: String,
}

/// The latest observations.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct VideoStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "video_status_conditions")]
    pub conditions: Option<Vec<Condition>>,
    /// How long the video is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
}

fn video_status_conditions(_: &mut SchemaGenerator) -> Schema {
    kept("video_status_conditions")
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
