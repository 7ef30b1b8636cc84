//! The objects of a cluster, as it should have them. Pure.
//!
//! They are written as JSON, which reads like the YAML that everybody knows. The tests build each of them, and
//! the API server of the integration tests accepts them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::ResourceExt;
use kube_quantity::ParsedQuantity;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::certificates::{CA, CERTIFICATE, Issued, KEY, RENEW_AFTER};
use super::plan::{Member, Version};
use crate::api::etcd::etcd_cluster::EtcdCluster;
use crate::etcd::CLIENT_PORT;
use crate::snapshot::Location;

/// The label with the name of the cluster.
pub const CLUSTER: &str = "etcd.example.com/cluster";

/// The label with the number of restores before the object was made.
pub const INCARNATION: &str = "etcd.example.com/incarnation";

/// The label with the role of a Pod: `member`, or `restore`.
pub const ROLE: &str = "etcd.example.com/role";

/// The label of members that vote. The Service for clients selects it.
pub const VOTER: &str = "etcd.example.com/voter";

/// The annotation with the members that a member finds if its disk is empty.
///
/// Once a member has started, [`GUARD`] replaces them: without its log, the member must not come back under its old
/// ID. etcd would let it vote against writes that it had acknowledged. The kubelet reads the annotation at each start
/// of the container, so changing it is enough.
pub const INITIAL_CLUSTER: &str = "etcd.example.com/initial-cluster";

/// An initial cluster without the member itself. etcd looks at it only if its disk is empty, and then refuses to
/// start.
pub const GUARD: &str = "disk-lost=https://127.0.0.1:2380";

/// The annotation of the Pod that restores: the uid of the EtcdRestore.
pub const RESTORE: &str = "etcd.example.com/restore";

/// The annotation of the Pod that restores: the member whose disk it writes.
pub const MEMBER: &str = "etcd.example.com/member";

/// The annotation with the version for which the Pod was made.
pub const VERSION: &str = "etcd.example.com/version";

/// The annotation with what else the spec asked for then.
pub const TEMPLATE: &str = "etcd.example.com/template";

/// The common name in the certificates of members.
pub const MEMBER_NAME: &str = "etcd-member";

const PEER_PORT: u16 = 2380;
const METRICS_PORT: u16 = 2381;
const DATA: &str = "/var/lib/etcd/data";

/// Where a snapshot comes from.
#[derive(Clone, Debug)]
pub struct SnapshotSource {
    pub location: Location,
    pub name: String,
}

/// The names and objects of one cluster.
pub struct Objects<'a> {
    cluster: &'a EtcdCluster,
    name: String,
    namespace: String,
    incarnation: i32,
}

impl<'a> Objects<'a> {
    pub fn of(cluster: &'a EtcdCluster) -> Self {
        let status = cluster.status.as_ref();
        Self {
            cluster,
            name: cluster.name_any(),
            namespace: cluster.namespace().unwrap_or_default(),
            incarnation: status.and_then(|it| it.incarnation).unwrap_or_default(),
        }
    }

    /// The objects of another incarnation.
    pub fn of_incarnation(cluster: &'a EtcdCluster, incarnation: i32) -> Self {
        Self {
            incarnation,
            ..Self::of(cluster)
        }
    }

    /// Whether an object is of this incarnation, and stays.
    pub fn is_current(&self, object: &impl ResourceExt) -> bool {
        let incarnation = object.labels().get(INCARNATION);
        let is_of_this = incarnation.is_some_and(|it| *it == self.incarnation.to_string());
        is_of_this && object.meta().deletion_timestamp.is_none()
    }

    /// Selects everything that belongs to the cluster.
    pub fn selector(&self) -> String {
        format!("{CLUSTER}={}", self.name)
    }

    pub fn ca_secret(&self) -> String {
        format!("{}-ca", self.name)
    }

    /// The name of the Service for clients, and of the Secret with their certificate.
    pub fn client(&self) -> String {
        format!("{}-client", self.name)
    }

    pub fn restorer(&self) -> String {
        format!("{}-restore", self.name)
    }

    /// The DNS name of the Service for clients.
    pub fn service_host(&self) -> String {
        format!("{}.{}.svc", self.client(), self.namespace)
    }

    /// The DNS name of a member.
    pub fn host(&self, member: &str) -> String {
        format!("{member}.{}.{}.svc", self.name, self.namespace)
    }

    pub fn peer_url(&self, member: &str) -> String {
        format!("https://{}:{PEER_PORT}", self.host(member))
    }

    /// The DNS names in the certificate of a member.
    pub fn hosts(&self, member: &str) -> Vec<String> {
        let service = self.service_host();
        vec![
            self.host(member),
            format!("{service}.cluster.local"),
            service,
            format!("{}.{}", self.client(), self.namespace),
            self.client(),
            "localhost".to_owned(),
        ]
    }

    /// The headless Service, which gives each member its DNS name before it is ready.
    pub fn peer_service(&self) -> Service {
        object(json!({
            "metadata": self.metadata(&self.name),
            "spec": {
                "clusterIP": "None",
                "publishNotReadyAddresses": true,
                "selector": { CLUSTER: self.name, ROLE: "member" },
                "ports": [
                    { "name": "client", "port": CLIENT_PORT },
                    { "name": "peer", "port": PEER_PORT },
                    { "name": "metrics", "port": METRICS_PORT },
                ],
            },
        }))
    }

    /// The Service for clients: it leads to members that vote and are ready.
    pub fn client_service(&self) -> Service {
        object(json!({
            "metadata": self.metadata(&self.client()),
            "spec": {
                "selector": { CLUSTER: self.name, VOTER: "true" },
                "ports": [{ "name": "client", "port": CLIENT_PORT }],
            },
        }))
    }

    /// Draining nodes leaves a majority of the members that vote now.
    pub fn disruption_budget(&self) -> PodDisruptionBudget {
        let members = self.cluster.status.iter().flat_map(|it| &it.members);
        let voters = members.filter(|member| !member.learner).count();
        let size = usize::try_from(self.cluster.spec.size).unwrap_or_default();
        let voters = if voters == 0 { size } else { voters };
        object(json!({
            "metadata": self.metadata(&self.name),
            "spec": {
                "minAvailable": voters / 2 + 1,
                "selector": { "matchLabels": { CLUSTER: self.name, VOTER: "true" } },
            },
        }))
    }

    /// A Secret with a certificate.
    pub fn secret(&self, name: &str, ca: &str, issued: &Issued) -> Secret {
        let mut metadata = self.metadata(name);
        metadata["annotations"] = json!({ RENEW_AFTER: issued.renew_after.to_string() });
        object(json!({
            "metadata": metadata,
            "type": "kubernetes.io/tls",
            "data": {
                CA: BASE64_STANDARD.encode(ca),
                CERTIFICATE: BASE64_STANDARD.encode(&issued.certificate),
                KEY: BASE64_STANDARD.encode(&issued.key),
            },
        }))
    }

    pub fn disk(&self, member: &str) -> PersistentVolumeClaim {
        let storage = &self.cluster.spec.storage;
        object(json!({
            "metadata": self.metadata(member),
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage.storage_class_name,
                "resources": { "requests": { "storage": storage.size } },
            },
        }))
    }

    /// What the spec asks of every member beside its version, for [`TEMPLATE`].
    pub fn template(&self) -> String {
        let spec = &self.cluster.spec;
        let storage = &spec.storage.size;
        json!({ "repository": spec.repository, "resources": spec.resources, "storage": storage })
            .to_string()
    }

    /// The Pod of a member. `members` are those that it finds if its disk is empty.
    pub fn member(&self, name: &str, version: Version, members: &[Member], is_new: bool) -> Pod {
        let mut metadata = self.metadata(name);
        metadata["labels"][ROLE] = json!("member");
        let itself = members.iter().find(|member| member.name == name);
        let has_data = itself.is_some_and(|member| member.started);
        metadata["annotations"] = json!({
            INITIAL_CLUSTER: if has_data { GUARD.to_owned() } else { self.initial_cluster(members) },
            TEMPLATE: self.template(),
            VERSION: version.to_string(),
        });
        if itself.is_some_and(|member| member.started && !member.learner) {
            metadata["labels"][VOTER] = json!("true");
        }
        let probe = |path: &str| json!({ "httpGet": { "path": path, "port": "metrics" } });
        let with = |mut probe: Value, field: &str, value: u32| {
            probe[field] = value.into();
            probe
        };
        object(json!({
            "metadata": metadata,
            "spec": {
                "hostname": name,
                "subdomain": self.name,
                // etcd knows no API server.
                "automountServiceAccountToken": false,
                "enableServiceLinks": false,
                "securityContext": pod_security(),
                "topologySpreadConstraints": [{
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": { "matchLabels": { CLUSTER: self.name, ROLE: "member" } },
                }],
                "containers": [{
                    "name": "etcd",
                    "image": self.image(version),
                    "command": ["etcd"],
                    "args": self.arguments(name, is_new),
                    "env": [{
                        "name": "ETCD_INITIAL_CLUSTER",
                        "valueFrom": { "fieldRef": {
                            "fieldPath": format!("metadata.annotations['{INITIAL_CLUSTER}']"),
                        } },
                    }],
                    "ports": [
                        { "name": "client", "containerPort": CLIENT_PORT },
                        { "name": "peer", "containerPort": PEER_PORT },
                        { "name": "metrics", "containerPort": METRICS_PORT },
                    ],
                    // A member may have to fetch the whole database before it answers.
                    "startupProbe": with(probe("/livez"), "failureThreshold", 360),
                    "livenessProbe": with(probe("/livez"), "failureThreshold", 6),
                    "readinessProbe": with(probe("/readyz"), "periodSeconds", 2),
                    "resources": self.cluster.spec.resources,
                    "securityContext": container_security(),
                    // The last words of a member that finds its disk empty.
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "volumeMounts": [
                        { "name": "data", "mountPath": "/var/lib/etcd" },
                        { "name": "tls", "mountPath": "/etc/etcd/tls", "readOnly": true },
                    ],
                }],
                "volumes": [
                    { "name": "data", "persistentVolumeClaim": { "claimName": name } },
                    { "name": "tls", "secret": { "secretName": name, "defaultMode": 0o440 } },
                ],
            },
        }))
    }

    /// The members, as etcd is told about them.
    pub fn initial_cluster(&self, members: &[Member]) -> String {
        let url = |member: &Member| format!("{}={}", member.name, self.peer_url(&member.name));
        let members: Vec<_> = members.iter().map(url).collect();
        members.join(",")
    }

    fn arguments(&self, name: &str, is_new: bool) -> Vec<String> {
        let host = self.host(name);
        let state = if is_new { "new" } else { "existing" };
        let tls = "/etc/etcd/tls";
        let mut arguments = vec![
            format!("--name={name}"),
            format!("--data-dir={DATA}"),
            format!("--listen-client-urls=https://0.0.0.0:{CLIENT_PORT}"),
            format!("--advertise-client-urls=https://{host}:{CLIENT_PORT}"),
            format!("--listen-peer-urls=https://0.0.0.0:{PEER_PORT}"),
            format!("--initial-advertise-peer-urls={}", self.peer_url(name)),
            format!("--listen-metrics-urls=http://0.0.0.0:{METRICS_PORT}"),
            format!("--initial-cluster-state={state}"),
            format!("--initial-cluster-token={}", self.token()),
            format!("--quota-backend-bytes={}", self.quota()),
            // The certificates of clients are of the same CA.
            format!("--peer-cert-allowed-cn={MEMBER_NAME}"),
        ];
        for prefix in ["", "peer-"] {
            arguments.extend([
                format!("--{prefix}client-cert-auth"),
                format!("--{prefix}trusted-ca-file={tls}/{CA}"),
                format!("--{prefix}cert-file={tls}/{CERTIFICATE}"),
                format!("--{prefix}key-file={tls}/{KEY}"),
            ]);
        }
        arguments
    }

    /// The Pod that writes a snapshot to the disk of the first member. `fetcher` is the operator's image.
    ///
    /// Revisions go up by a billion with each incarnation, so that a client which has seen a later revision than
    /// the snapshot's never sees it again with other data; its watch fails, and it reads everything anew.
    pub fn restore(
        &self,
        member: &str,
        version: Version,
        uid: &str,
        source: &SnapshotSource,
        fetcher: &str,
    ) -> Pod {
        let mut metadata = self.metadata(&self.restorer());
        metadata["labels"][ROLE] = json!("restore");
        metadata["annotations"] = json!({
            RESTORE: uid,
            MEMBER: member,
            TEMPLATE: self.template(),
            VERSION: version.to_string(),
        });
        let peer_url = self.peer_url(member);
        let snapshot = json!({ "name": "snapshot", "mountPath": "/snapshot" });
        let mut mounts = source.location.mounts(true);
        mounts.push(snapshot.clone());
        let mut volumes = source.location.volumes();
        volumes.extend([
            json!({ "name": "snapshot", "emptyDir": {} }),
            json!({ "name": "data", "persistentVolumeClaim": { "claimName": member } }),
        ]);
        object(json!({
            "metadata": metadata,
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": false,
                "enableServiceLinks": false,
                "securityContext": pod_security(),
                "initContainers": [{
                    "name": "fetch",
                    "image": fetcher,
                    "args": [
                        "snapshot",
                        "fetch",
                        source.location.argument(),
                        format!("--name={}", source.name),
                        "--to=/snapshot/db",
                    ],
                    "env": source.location.environment(),
                    "securityContext": container_security(),
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "volumeMounts": mounts,
                }],
                "containers": [{
                    "name": "restore",
                    "image": self.image(version),
                    "command": ["etcdutl", "snapshot", "restore", "/snapshot/db"],
                    "args": [
                        format!("--name={member}"),
                        format!("--data-dir={DATA}"),
                        format!("--initial-advertise-peer-urls={peer_url}"),
                        format!("--initial-cluster={member}={peer_url}"),
                        format!("--initial-cluster-token={}", self.token()),
                        format!("--bump-revision={}000000000", self.incarnation),
                        "--mark-compacted",
                    ],
                    "securityContext": container_security(),
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "volumeMounts": [{ "name": "data", "mountPath": "/var/lib/etcd" }, snapshot],
                }],
                "volumes": volumes,
            },
        }))
    }

    /// The size of the database from which etcd accepts no writes: two fifths of the disk, because the log and the copy
    /// that a defragmentation makes need room, too.
    fn quota(&self) -> u64 {
        bytes(&self.cluster.spec.storage.size) * 2 / 5
    }

    /// Members of different incarnations never take each other for one cluster.
    fn token(&self) -> String {
        let uid = self.cluster.uid().unwrap_or_default();
        format!("{uid}-{}", self.incarnation)
    }

    fn image(&self, version: Version) -> String {
        format!("{}:v{version}", self.cluster.spec.repository)
    }

    fn metadata(&self, name: &str) -> Value {
        json!({
            "name": name,
            "namespace": self.namespace,
            "labels": {
                "app.kubernetes.io/name": "etcd",
                "app.kubernetes.io/managed-by": "etcd-operator",
                CLUSTER: self.name,
                INCARNATION: self.incarnation.to_string(),
            },
        })
    }
}

/// What the Pod security standard `restricted` asks for.
pub fn pod_security() -> Value {
    json!({
        "runAsNonRoot": true,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "fsGroup": 65532,
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

pub fn container_security() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "capabilities": { "drop": ["ALL"] },
        "readOnlyRootFilesystem": true,
    })
}

/// The number of bytes that a quantity such as `100Mi` is.
pub fn bytes(quantity: &Quantity) -> u64 {
    let parsed = ParsedQuantity::try_from(quantity).ok();
    // `to_bytes_u64` takes 1.5Gi for 1Gi.
    parsed.and_then(|it| it.to_bytes_f64()).unwrap_or_default() as u64
}

/// The object that the JSON describes.
pub fn object<K: DeserializeOwned>(json: Value) -> K {
    serde_json::from_value(json).expect("the JSON has the form of the type")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> EtcdCluster {
        object(json!({
            "metadata": { "name": "c", "namespace": "ns", "uid": "u" },
            "spec": { "size": 3, "version": "3.6.16", "storage": {} },
            "status": { "incarnation": 2 },
        }))
    }

    fn member(name: &str, started: bool, learner: bool) -> Member {
        Member {
            name: name.to_owned(),
            started,
            learner,
            ..Member::default()
        }
    }

    fn annotation(pod: &Pod, key: &str) -> String {
        pod.annotations().get(key).cloned().unwrap_or_default()
    }

    #[test]
    fn a_member_joins_the_others_once() {
        let cluster = cluster();
        let objects = Objects::of(&cluster);
        let version: Version = "3.6.16".parse().unwrap();
        let members = |started, learner| {
            let new = member("c-1", started, learner);
            objects.member("c-1", version, &[member("c-0", true, false), new], false)
        };
        let joins = members(false, true);
        assert_eq!(
            annotation(&joins, INITIAL_CLUSTER),
            "c-0=https://c-0.c.ns.svc:2380,c-1=https://c-1.c.ns.svc:2380"
        );
        assert!(!joins.labels().contains_key(VOTER));
        // With data, an empty disk would be a loss.
        let learns = members(true, true);
        assert_eq!(annotation(&learns, INITIAL_CLUSTER), GUARD);
        assert!(!learns.labels().contains_key(VOTER));
        let votes = members(true, false);
        assert_eq!(annotation(&votes, INITIAL_CLUSTER), GUARD);
        assert_eq!(votes.labels()[VOTER], "true");
        assert_eq!(votes.labels()[INCARNATION], "2");
    }

    #[test]
    fn the_token_and_the_template_say_what_differs() {
        let mut cluster = cluster();
        let before = Objects::of(&cluster).template();
        assert_eq!(Objects::of(&cluster).token(), "u-2");
        assert_eq!(Objects::of_incarnation(&cluster, 3).token(), "u-3");
        cluster.spec.size = 5;
        assert_eq!(before, Objects::of(&cluster).template());
        cluster.spec.resources = object(json!({ "requests": { "cpu": "1" } }));
        assert_ne!(before, Objects::of(&cluster).template());
    }

    #[test]
    fn quantities_are_bytes() {
        for (text, expected) in [
            ("100Mi", 100 << 20),
            ("1.5Gi", 3 << 29),
            ("2G", 2_000_000_000),
            ("512", 512),
        ] {
            assert_eq!(bytes(&Quantity(text.to_owned())), expected, "{text}");
        }
    }

    #[test]
    fn every_object_has_the_form_of_its_type() {
        let cluster = cluster();
        let objects = Objects::of(&cluster);
        let backup = object(json!({
            "metadata": { "name": "b", "namespace": "ns" },
            "spec": { "cluster": "c", "destination": { "claim": "snapshots" } },
        }));
        let source = SnapshotSource {
            location: Location::of(&backup),
            name: "s.db".to_owned(),
        };
        let restore = objects.restore("c-0", Version::default(), "r", &source, "operator");
        assert_eq!(restore.name_any(), "c-restore");
        assert_eq!(objects.peer_service().name_any(), "c");
        assert_eq!(objects.client_service().name_any(), "c-client");
        let budget = objects.disruption_budget().spec.unwrap();
        assert_eq!(serde_json::to_value(budget.min_available).unwrap(), 2);
        assert_eq!(objects.disk("c-0").name_any(), "c-0");
    }
}
