//! The type of the operator: a Cache is a release of `chart/`.

use std::sync::LazyLock;

use kube::CustomResource;
use operator_helm::{
    Chart, ReleaseStatus, Values,
    include_dir::{self, include_dir},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// The chart, which is compiled into the operator.
pub fn chart() -> &'static Chart {
    static CHART: LazyLock<Chart> =
        LazyLock::new(|| Chart::embedded(&include_dir!("$CARGO_MANIFEST_DIR/../chart")));
    &CHART
}

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
    chart().schema()
}
