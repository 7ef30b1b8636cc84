// SPDX-FileCopyrightText: Example Inc.
// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of Memcached.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    plural = "memcacheds",
    shortname = "mc",
    category = "memcached-operator",
    namespaced,
    doc = "Memcached is a resource of cache.example.com.",
    derive = "Default",
    derive = "PartialEq",
    status = "MemcachedStatus",
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {}

/// The observed state of Memcached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
