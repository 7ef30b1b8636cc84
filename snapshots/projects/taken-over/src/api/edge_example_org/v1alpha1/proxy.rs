// SPDX-License-Identifier: Apache-2.0

use kube::CustomResource;
use operator_helm::{ReleaseStatus, Values};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// The values of a release of the chart `proxy`, as in its `values.yaml`.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "edge.example.org",
    version = "v1alpha1",
    kind = "Proxy",
    plural = "proxyset",
    category = "caches-all",
    doc = "Proxy is a release of a Helm chart.",
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
pub struct ProxySpec(#[schemars(schema_with = "schema")] pub Values);

/// `make manifests` derives the schema from the chart.
fn schema(_: &mut SchemaGenerator) -> Schema {
    crate::charts::proxy().schema()
}
