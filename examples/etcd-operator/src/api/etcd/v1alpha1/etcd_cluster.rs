use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::core::Duration;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of EtcdCluster.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "etcd.example.com",
    version = "v1alpha1",
    kind = "EtcdCluster",
    plural = "etcdclusters",
    shortname = "ec",
    category = "etcd-operator",
    namespaced,
    doc = "EtcdCluster is a cluster of etcd.",
    derive = "Default",
    derive = "PartialEq",
    status = "EtcdClusterStatus",
    // The names of its Services and members begin with it, and are DNS labels. `a` has a Service `a-client`.
    validation = Rule::new("self.metadata.name.matches('^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$') \
        && !self.metadata.name.endsWith('-client')")
        .message("the name must be a DNS label of at most 40 characters that starts with a letter and does not end with -client"),
    // Measured by what the members run. Nothing is known of that before the first answer.
    validation = Rule::new("self.spec.version == oldSelf.spec.version \
        || !has(self.status) || !has(self.status.version) \
        || int(self.spec.version.split('.')[1]) == int(self.status.version.split('.')[1]) + 1 \
        || self.spec.version.split('.')[1] == self.status.version.split('.')[1] \
            && int(self.spec.version.split('.')[2]) >= int(self.status.version.split('.')[2])")
        .message("version must be at most one minor version above status.version, and not below it")
        .field_path(".spec.version"),
    printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"),
    printcolumn(name = "Members", type_ = "integer", json_path = ".status.readyMembers"),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct EtcdClusterSpec {
    /// How many members vote, an odd number. The only member of a cluster of one is not evicted by a
    /// drain.
    #[serde(default = "default_size")]
    #[schemars(range(min = 1, max = 7))]
    #[x_kube(validation = Rule::new("self % 2 == 1").message("size must be odd"))]
    pub size: i32,
    /// The version of etcd, such as 3.6.16. It rises by one minor version at a time. It falls only
    /// to take an upgrade back, as long as a member runs the old version.
    #[schemars(regex(pattern = r"^3\.[0-9]+\.[0-9]+$"), length(max = 16))]
    pub version: String,
    /// The image of etcd, without its tag, which is `v` and the version.
    #[serde(default = "default_repository")]
    #[schemars(length(min = 1))]
    pub repository: String,
    /// The disk of each member.
    pub storage: Storage,
    /// The certificates, which the operator issues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The resources of each member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// When a member gives free space back to its disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defragmentation: Option<Defragmentation>,
}

impl Default for EtcdClusterSpec {
    fn default() -> Self {
        Self {
            size: default_size(),
            version: String::new(),
            repository: default_repository(),
            storage: Storage::default(),
            tls: None,
            resources: None,
            defragmentation: None,
        }
    }
}

/// The observed state of EtcdCluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdClusterStatus {
    /// The ID that etcd gave the cluster. A cluster that has one is never created anew, unless it
    /// is restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_id: Option<String>,
    /// How often the cluster was restored. Members of an earlier incarnation are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<i32>,
    /// The uid of the EtcdRestore that made this incarnation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore: Option<String>,
    /// When that EtcdRestore was created. Older ones never begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore_time: Option<Time>,
    /// The name of the first member of this incarnation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_member: Option<String>,
    /// The oldest version that a member runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many members vote and are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_members: Option<i32>,
    /// The members, as etcd lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub members: Vec<Member>,
    /// The generation of the object that the operator last reconciled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest observations, such as whether the object is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// The disk of each member.
#[derive(Clone, Debug, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// The size of the disk.
    #[serde(default = "default_storage_size")]
    #[x_kube(validation = Rule::new("quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0")
        .message("size cannot shrink"))]
    pub size: Quantity,
    /// The class of the disk, if it is not that of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("storageClassName cannot change"))]
    pub storage_class_name: Option<String>,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            size: default_storage_size(),
            storage_class_name: None,
        }
    }
}

/// The certificates, which the operator issues.
#[derive(Clone, Debug, PartialEq, Deserialize, KubeSchema, Serialize)]
pub struct Tls {
    /// How long a certificate is valid. It is renewed after two thirds of that time.
    #[serde(default = "default_validity")]
    #[schemars(
        regex(pattern = r"^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+$"),
        length(max = 32)
    )]
    #[x_kube(validation = Rule::new("duration(self) >= duration('1h')").message("validity must be an hour or more"))]
    pub validity: Duration,
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            validity: default_validity(),
        }
    }
}

/// When a member gives free space back to its disk.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Defragmentation {
    /// The part of the database that is free, in percent, from which a member is defragmented.
    #[serde(default = "default_threshold")]
    #[schemars(range(min = 1, max = 100))]
    pub threshold: i32,
    /// The size of the database below which a member is left alone.
    #[serde(default = "default_minimum_size")]
    pub minimum_size: Quantity,
}

impl Default for Defragmentation {
    fn default() -> Self {
        Self {
            threshold: default_threshold(),
            minimum_size: default_minimum_size(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct Member {
    pub name: String,
    /// The ID that etcd gave the member, in hexadecimal.
    pub id: String,
    /// Whether the member does not vote yet.
    #[serde(default)]
    pub learner: bool,
}

fn default_size() -> i32 {
    3
}

fn default_repository() -> String {
    "gcr.io/etcd-development/etcd".to_owned()
}

fn default_storage_size() -> Quantity {
    Quantity("2Gi".to_owned())
}

fn default_validity() -> Duration {
    "8760h".parse().expect("the text is a duration")
}

fn default_threshold() -> i32 {
    50
}

fn default_minimum_size() -> Quantity {
    Quantity("100Mi".to_owned())
}
