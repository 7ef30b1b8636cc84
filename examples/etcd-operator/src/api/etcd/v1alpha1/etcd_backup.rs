use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of EtcdBackup.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "etcd.example.com",
    version = "v1alpha1",
    kind = "EtcdBackup",
    plural = "etcdbackups",
    shortname = "eb",
    category = "etcd-operator",
    namespaced,
    doc = "EtcdBackup saves an EtcdCluster, once or by a schedule.",
    derive = "Default",
    derive = "PartialEq",
    status = "EtcdBackupStatus",
    // The names of its Pods end with the time, and its own name is the value of a label.
    validation = Rule::new("size(self.metadata.name) <= 52")
        .message("the name must have at most 52 characters"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct EtcdBackupSpec {
    /// The EtcdCluster to save.
    #[schemars(length(min = 1))]
    #[x_kube(validation = Rule::new("self == oldSelf").message("cluster cannot change"))]
    pub cluster: String,
    /// When to save it, in the format of cron, in UTC. Without a schedule it is saved once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub schedule: Option<String>,
    /// Whether the schedule rests.
    #[serde(default)]
    pub suspend: bool,
    /// How many snapshots are kept. Older ones are deleted after each new one, unless they are of
    /// the cluster before it was restored or created anew.
    #[serde(default = "default_keep")]
    #[schemars(range(min = 1, max = 100))]
    pub keep: i32,
    /// Where the snapshots are kept.
    #[x_kube(validation = Rule::new("self == oldSelf").message("destination cannot change"))]
    pub destination: Destination,
}

impl Default for EtcdBackupSpec {
    fn default() -> Self {
        Self {
            cluster: String::new(),
            schedule: None,
            suspend: false,
            keep: default_keep(),
            destination: Destination::Claim(String::new()),
        }
    }
}

/// The observed state of EtcdBackup.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdBackupStatus {
    /// The snapshots at the destination, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub snapshots: Vec<Snapshot>,
    /// When the schedule last asked for a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_schedule_time: Option<Time>,
    /// The Pod that takes a snapshot now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<String>,
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Where the snapshots are kept: in a PersistentVolumeClaim, or in a bucket.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Destination {
    /// The name of a PersistentVolumeClaim. Each backup has a directory there.
    Claim(#[schemars(length(min = 1))] String),
    /// A bucket of S3, or of a service with the same protocol.
    S3(S3),
}

/// A bucket of S3, or of a service with the same protocol.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct S3 {
    #[schemars(length(min = 3))]
    pub bucket: String,
    /// What the keys of the snapshots begin with. Behind it come the namespace and the name of the
    /// backup, so that only Kubernetes clusters that share a bucket need different prefixes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub prefix: Option<String>,
    /// The URL of the service, if it is not that of AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^https?://"))]
    pub endpoint: Option<String>,
    #[serde(default = "default_region")]
    #[schemars(length(min = 1))]
    pub region: String,
    /// The Secret with `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
    #[schemars(length(min = 1))]
    pub secret: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    pub name: String,
    /// The ID that etcd had given the cluster. It changes with each restore.
    pub cluster_id: String,
    /// When the snapshot was taken.
    pub time: Time,
    /// The revision when the snapshot was asked for. It may hold later ones.
    pub revision: i64,
    /// Its size in bytes.
    pub size: i64,
    /// The hash that etcd sent with it, and that the file has.
    pub sha256: String,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            name: String::new(),
            cluster_id: String::new(),
            time: Time(Timestamp::UNIX_EPOCH),
            revision: 0,
            size: 0,
            sha256: String::new(),
        }
    }
}

fn default_keep() -> i32 {
    7
}

fn default_region() -> String {
    "us-east-1".to_owned()
}
