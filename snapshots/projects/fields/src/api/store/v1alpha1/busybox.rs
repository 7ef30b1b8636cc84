// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of Busybox.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "store.tutorial.kubebuilder.io",
    version = "v1alpha1",
    kind = "Busybox",
    plural = "busyboxes",
    category = "cronjob-all",
    namespaced,
    doc = "Busybox is a resource of store.tutorial.kubebuilder.io.",
    derive = "Default",
    derive = "PartialEq",
    status = "BusyboxStatus",
    validation = Rule::new("self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')")
        .message("the name must be a DNS label: at most 63 characters, a letter first"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct BusyboxSpec {
    /// The number of Pods.
    #[serde(default = "default_size")]
    #[schemars(range(min = 0))]
    pub size: i32,
}

impl Default for BusyboxSpec {
    fn default() -> Self {
        Self {
            size: default_size(),
        }
    }
}

/// The observed state of Busybox.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BusyboxStatus {
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

fn default_size() -> i32 {
    1
}
