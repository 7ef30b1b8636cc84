// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of Condition.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "self.example.com",
    version = "v1",
    kind = "Condition",
    root = "ConditionResource",
    plural = "conditions",
    category = "core-all",
    namespaced,
    doc = "Condition is a resource of self.example.com.",
    derive = "Default",
    derive = "PartialEq",
    status = "ConditionResourceStatus",
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ConditionResourceSpec {}

/// The observed state of Condition.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConditionResourceStatus {
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
