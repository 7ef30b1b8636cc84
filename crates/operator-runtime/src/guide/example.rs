// API types for the guide's snippets. Each snippet includes this file.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(group = "cache.example.com", version = "v1", kind = "Memcached")]
#[kube(namespaced, status = "MemcachedStatus")]
pub struct MemcachedSpec {
    pub replicas: i32,
    /// A Secret with the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
pub struct MemcachedStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
