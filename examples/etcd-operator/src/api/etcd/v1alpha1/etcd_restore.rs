use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of EtcdRestore.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "etcd.example.com",
    version = "v1alpha1",
    kind = "EtcdRestore",
    plural = "etcdrestores",
    shortname = "er",
    category = "etcd-operator",
    namespaced,
    doc = "EtcdRestore starts an EtcdCluster anew from a snapshot.",
    derive = "Default",
    derive = "PartialEq",
    status = "EtcdRestoreStatus",
    // A restore happens once.
    validation = Rule::new("self.spec == oldSelf.spec").message("spec cannot change"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct EtcdRestoreSpec {
    /// The EtcdCluster that gets the data.
    #[schemars(length(min = 1))]
    pub cluster: String,
    /// The EtcdBackup that has the snapshot.
    #[schemars(length(min = 1))]
    pub backup: String,
    /// The name of the snapshot, if it is not the newest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub snapshot: Option<String>,
    /// Whether to discard the data of a cluster that still has a majority. Everything written
    /// since the snapshot is lost. Without it, the restore waits until the majority is lost.
    #[serde(default)]
    pub overwrite: bool,
}

/// The observed state of EtcdRestore.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdRestoreStatus {
    /// The snapshot that is restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// When it ended: the cluster was ready again, or a newer restore had begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
