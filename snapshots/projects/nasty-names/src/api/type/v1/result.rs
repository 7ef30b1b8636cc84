// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of Result.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "type.example.com",
    version = "v1",
    kind = "Result",
    root = "ResultResource",
    plural = "results",
    category = "core-all",
    namespaced,
    doc = "Result is a resource of type.example.com.",
    derive = "Default",
    derive = "PartialEq",
    status = "ResultResourceStatus",
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ResultResourceSpec {}

/// The observed state of Result.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultResourceStatus {
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
