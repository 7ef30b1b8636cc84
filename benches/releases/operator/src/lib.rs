//! The type of the operator: a Cache is a release of `chart/`.

use std::sync::LazyLock;

use kube::CustomResource;
use operator_helm::{Chart, ReleaseStatus, Values, include_chart};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// The chart, which is compiled into the operator.
pub static CHART: LazyLock<Chart> =
    LazyLock::new(|| include_chart!("$CARGO_MANIFEST_DIR/../chart"));

#[derive(Clone, Debug, Default, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "bench.example.com",
    version = "v1",
    kind = "Cache",
    plural = "caches",
    namespaced,
    status = "ReleaseStatus"
)]
#[serde(transparent)]
pub struct CacheSpec(#[schemars(schema_with = "schema")] pub Values);

fn schema(_: &mut SchemaGenerator) -> Schema {
    CHART.schema()
}
