// SPDX-License-Identifier: Apache-2.0

use kube::CustomResource;
use operator_helm::{ReleaseStatus, Values};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// The values of a release of the chart `memcached`, as in its `values.yaml`.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "cache.example.com",
    version = "v1",
    kind = "Memcached",
    plural = "memcacheds",
    shortname = "mc",
    category = "caches-all",
    namespaced,
    doc = "Memcached is a release of a Helm chart.",
    derive = "Default",
    derive = "PartialEq",
    status = "ReleaseStatus",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(name = "Revision", type_ = "integer", json_path = ".status.revision"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(transparent)]
pub struct MemcachedSpec(#[schemars(schema_with = "schema")] pub Values);

/// `make manifests` derives the schema from the chart.
fn schema(_: &mut SchemaGenerator) -> Schema {
    crate::charts::memcached().schema()
}
