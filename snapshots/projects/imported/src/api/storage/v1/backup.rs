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

use k8s_openapi::api::core::v1::LocalObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Schemas of the CRD that no Rust type has.
const SCHEMAS: &str = include_str!("backup.json");

/// What to copy, when, and where to.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "storage.example.com",
    version = "v1",
    kind = "Backup",
    plural = "backups",
    shortname = "bk",
    category = "all",
    namespaced,
    schema = "manual",
    doc = "Backup copies a volume to an object store.",
    derive = "Default",
    derive = "PartialEq",
    status = "BackupStatus",
    printcolumn(name = "Schedule", type_ = "string", json_path = ".spec.schedule"),
    printcolumn(
        name = "Phase",
        type_ = "string",
        json_path = ".status.phase",
        priority = 1
    )
)]
#[schemars(extend("x-kubernetes-validations" = [{ "message": "suspended backups keep their schedule", "rule": "!has(self.suspend) || self.schedule != ''" }]))]
pub struct BackupSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BackupSpecCompression", extend("default" = "Zstd"))]
    pub compression: Option<BackupSpecCompression>,
    /// How many backups are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 7))]
    pub keep: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// Options of the object store, as it documents them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = null, "x-kubernetes-preserve-unknown-fields" = true))]
    pub options: Option<BTreeMap<String, Value>>,
    /// The schedule, as a cron expression.
    #[schemars(length(min = 1), regex(pattern = r"^\S+( \S+){4}$"))]
    pub schedule: String,
    /// Whether no backup starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub suspend: Option<bool>,
    pub target: BackupSpecTarget,
}

impl JsonSchema for Backup {
    fn schema_name() -> Cow<'static, str> {
        "Backup".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": null,
            "description": "Backup copies a volume to an object store.",
            "properties": {
                "apiVersion": { "description": "The version of the API.", "type": "string" },
                "kind": { "description": "The kind of the object.", "type": "string" },
                "metadata": { "type": "object" },
                "spec": generator.subschema_for::<BackupSpec>(),
                "status": generator.subschema_for::<BackupStatus>(),
            },
            "required": ["spec"],
            "type": "object",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum BackupSpecCompression {
    None,
    Gzip,
    Zstd,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct BackupSpecTarget {
    #[schemars(length(max = 63))]
    pub bucket: String,
    /// The Secret with the credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "backup_spec_target_credentials")]
    pub credentials: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "backup_status_conditions")]
    pub conditions: Option<Vec<Condition>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("description" = null))]
    pub last_backup: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

fn backup_spec_target_credentials(_: &mut SchemaGenerator) -> Schema {
    kept("backup_spec_target_credentials")
}

fn backup_status_conditions(_: &mut SchemaGenerator) -> Schema {
    kept("backup_status_conditions")
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
