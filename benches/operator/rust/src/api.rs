use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of a Server, which is one Deployment.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "bench.example.com",
    version = "v1alpha1",
    kind = "Server",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    status = "ServerStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct ServerSpec {
    /// The number of Pods.
    pub size: i32,
    /// Where each of them listens.
    pub container_port: i32,
}

/// The observed state of a Server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
