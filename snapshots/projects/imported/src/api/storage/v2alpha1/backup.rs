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
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "storage.example.com",
    version = "v2alpha1",
    kind = "Backup",
    plural = "backups",
    shortname = "bk",
    category = "all",
    namespaced,
    schema = "manual",
    doc = "Backup is a resource of storage.example.com.",
    derive = "Default",
    derive = "PartialEq"
)]
#[serde(remote = "Self")]
pub struct BackupSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub schedules: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for BackupSpec {
    /// The CRD requires no `spec`: an object without one has the default.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Present(#[serde(with = "BackupSpec")] BackupSpec);
        let spec = Option::<Present>::deserialize(deserializer)?;
        Ok(spec.map_or_else(Self::default, |Present(spec)| spec))
    }
}

impl Serialize for BackupSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl JsonSchema for Backup {
    fn schema_name() -> Cow<'static, str> {
        "Backup".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": null,
            "properties": {
                "apiVersion": { "type": "string" },
                "kind": { "type": "string" },
                "metadata": { "type": "object" },
                "spec": generator.subschema_for::<BackupSpec>(),
            },
            "type": "object",
        })
    }
}
