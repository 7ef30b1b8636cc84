// SPDX-License-Identifier: MIT

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of HealthCheckPolicy.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "foo.policy.testproject.org",
    version = "v1",
    kind = "HealthCheckPolicy",
    plural = "healthcheckpolicies",
    category = "project-many",
    namespaced,
    doc = "HealthCheckPolicy is a resource of foo.policy.testproject.org.",
    derive = "Default",
    derive = "PartialEq",
    status = "HealthCheckPolicyStatus",
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckPolicySpec {}

/// The observed state of HealthCheckPolicy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckPolicyStatus {
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
