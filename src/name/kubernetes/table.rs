//! The table of core types.

/// Version, kind, plural, namespaced.
type Row = (&'static str, &'static str, &'static str, bool);

/// Group flag, API group, module below `k8s_openapi`, types.
#[rustfmt::skip]
pub const GROUPS: &[(&str, &str, &str, &[Row])] = &[
    ("core", "", "api::core", &[
        ("v1", "ComponentStatus", "componentstatuses", false),
        ("v1", "ConfigMap", "configmaps", true),
        ("v1", "Endpoints", "endpoints", true),
        ("v1", "Event", "events", true),
        ("v1", "LimitRange", "limitranges", true),
        ("v1", "Namespace", "namespaces", false),
        ("v1", "Node", "nodes", false),
        ("v1", "PersistentVolume", "persistentvolumes", false),
        ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
        ("v1", "Pod", "pods", true),
        ("v1", "PodTemplate", "podtemplates", true),
        ("v1", "ReplicationController", "replicationcontrollers", true),
        ("v1", "ResourceQuota", "resourcequotas", true),
        ("v1", "Secret", "secrets", true),
        ("v1", "Service", "services", true),
        ("v1", "ServiceAccount", "serviceaccounts", true),
    ]),
    ("admissionregistration", "admissionregistration.k8s.io", "api::admissionregistration", &[
        ("v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", false),
        ("v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", false),
        ("v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false),
        ("v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false),
        ("v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false),
        ("v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false),
        ("v1alpha1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", false),
        ("v1alpha1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", false),
        ("v1beta1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", false),
        ("v1beta1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", false),
    ]),
    ("apiextensions", "apiextensions.k8s.io", "apiextensions_apiserver::pkg::apis::apiextensions", &[
        ("v1", "CustomResourceDefinition", "customresourcedefinitions", false),
    ]),
    ("apiregistration", "apiregistration.k8s.io", "kube_aggregator::pkg::apis::apiregistration", &[
        ("v1", "APIService", "apiservices", false),
    ]),
    ("apps", "apps", "api::apps", &[
        ("v1", "ControllerRevision", "controllerrevisions", true),
        ("v1", "DaemonSet", "daemonsets", true),
        ("v1", "Deployment", "deployments", true),
        ("v1", "ReplicaSet", "replicasets", true),
        ("v1", "StatefulSet", "statefulsets", true),
    ]),
    ("autoscaling", "autoscaling", "api::autoscaling", &[
        ("v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
        ("v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
    ]),
    ("batch", "batch", "api::batch", &[
        ("v1", "CronJob", "cronjobs", true),
        ("v1", "Job", "jobs", true),
    ]),
    ("certificates", "certificates.k8s.io", "api::certificates", &[
        ("v1", "CertificateSigningRequest", "certificatesigningrequests", false),
        ("v1", "ClusterTrustBundle", "clustertrustbundles", false),
        ("v1", "PodCertificateRequest", "podcertificaterequests", true),
        ("v1beta1", "ClusterTrustBundle", "clustertrustbundles", false),
        ("v1beta1", "PodCertificateRequest", "podcertificaterequests", true),
    ]),
    ("coordination", "coordination.k8s.io", "api::coordination", &[
        ("v1", "Lease", "leases", true),
        ("v1alpha2", "LeaseCandidate", "leasecandidates", true),
        ("v1beta1", "LeaseCandidate", "leasecandidates", true),
    ]),
    ("discovery", "discovery.k8s.io", "api::discovery", &[
        ("v1", "EndpointSlice", "endpointslices", true),
    ]),
    ("events", "events.k8s.io", "api::events", &[
        ("v1", "Event", "events", true),
    ]),
    ("flowcontrol.apiserver", "flowcontrol.apiserver.k8s.io", "api::flowcontrol", &[
        ("v1", "FlowSchema", "flowschemas", false),
        ("v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", false),
    ]),
    ("internal.apiserver", "internal.apiserver.k8s.io", "api::apiserverinternal", &[
        ("v1alpha1", "StorageVersion", "storageversions", false),
    ]),
    ("lifecycle", "lifecycle.k8s.io", "api::lifecycle", &[
        ("v1alpha1", "Eviction", "evictions", true),
        ("v1alpha1", "EvictionRequest", "evictionrequests", true),
    ]),
    ("networking", "networking.k8s.io", "api::networking", &[
        ("v1", "IPAddress", "ipaddresses", false),
        ("v1", "Ingress", "ingresses", true),
        ("v1", "IngressClass", "ingressclasses", false),
        ("v1", "NetworkPolicy", "networkpolicies", true),
        ("v1", "ServiceCIDR", "servicecidrs", false),
    ]),
    ("node", "node.k8s.io", "api::node", &[
        ("v1", "RuntimeClass", "runtimeclasses", false),
    ]),
    ("policy", "policy", "api::policy", &[
        ("v1", "PodDisruptionBudget", "poddisruptionbudgets", true),
    ]),
    ("rbac.authorization", "rbac.authorization.k8s.io", "api::rbac", &[
        ("v1", "ClusterRole", "clusterroles", false),
        ("v1", "ClusterRoleBinding", "clusterrolebindings", false),
        ("v1", "Role", "roles", true),
        ("v1", "RoleBinding", "rolebindings", true),
    ]),
    ("resource", "resource.k8s.io", "api::resource", &[
        ("v1", "DeviceClass", "deviceclasses", false),
        ("v1", "DeviceTaintRule", "devicetaintrules", false),
        ("v1", "ResourceClaim", "resourceclaims", true),
        ("v1", "ResourceClaimTemplate", "resourceclaimtemplates", true),
        ("v1", "ResourceSlice", "resourceslices", false),
        ("v1alpha3", "DeviceTaintRule", "devicetaintrules", false),
        ("v1alpha3", "ResourcePoolStatusRequest", "resourcepoolstatusrequests", false),
        ("v1beta1", "DeviceClass", "deviceclasses", false),
        ("v1beta1", "ResourceClaim", "resourceclaims", true),
        ("v1beta1", "ResourceClaimTemplate", "resourceclaimtemplates", true),
        ("v1beta1", "ResourceSlice", "resourceslices", false),
        ("v1beta2", "DeviceClass", "deviceclasses", false),
        ("v1beta2", "DeviceTaintRule", "devicetaintrules", false),
        ("v1beta2", "ResourceClaim", "resourceclaims", true),
        ("v1beta2", "ResourceClaimTemplate", "resourceclaimtemplates", true),
        ("v1beta2", "ResourceSlice", "resourceslices", false),
    ]),
    ("scheduling", "scheduling.k8s.io", "api::scheduling", &[
        ("v1", "PriorityClass", "priorityclasses", false),
        ("v1alpha3", "CompositePodGroup", "compositepodgroups", true),
        ("v1alpha3", "PodGroup", "podgroups", true),
        ("v1alpha3", "Workload", "workloads", true),
        ("v1beta1", "PodGroup", "podgroups", true),
        ("v1beta1", "Workload", "workloads", true),
    ]),
    ("storage", "storage.k8s.io", "api::storage", &[
        ("v1", "CSIDriver", "csidrivers", false),
        ("v1", "CSINode", "csinodes", false),
        ("v1", "CSIStorageCapacity", "csistoragecapacities", true),
        ("v1", "StorageClass", "storageclasses", false),
        ("v1", "VolumeAttachment", "volumeattachments", false),
        ("v1", "VolumeAttributesClass", "volumeattributesclasses", false),
    ]),
    ("storagemigration", "storagemigration.k8s.io", "api::storagemigration", &[
        ("v1", "StorageVersionMigration", "storageversionmigrations", false),
        ("v1beta1", "StorageVersionMigration", "storageversionmigrations", false),
    ]),
];

/// The types that not every version of Kubernetes has that a project can choose: group flag, version, kind, first minor version.
#[rustfmt::skip]
pub const SINCE: &[(&str, &str, &str, u32)] = &[
    ("admissionregistration", "v1", "MutatingAdmissionPolicy", 36),
    ("admissionregistration", "v1", "MutatingAdmissionPolicyBinding", 36),
    ("admissionregistration", "v1beta1", "MutatingAdmissionPolicy", 34),
    ("admissionregistration", "v1beta1", "MutatingAdmissionPolicyBinding", 34),
    ("certificates", "v1", "ClusterTrustBundle", 37),
    ("certificates", "v1", "PodCertificateRequest", 37),
    ("certificates", "v1beta1", "PodCertificateRequest", 35),
    ("lifecycle", "v1alpha1", "Eviction", 37),
    ("lifecycle", "v1alpha1", "EvictionRequest", 37),
    ("resource", "v1", "DeviceClass", 34),
    ("resource", "v1", "DeviceTaintRule", 37),
    ("resource", "v1", "ResourceClaim", 34),
    ("resource", "v1", "ResourceClaimTemplate", 34),
    ("resource", "v1", "ResourceSlice", 34),
    ("resource", "v1alpha3", "ResourcePoolStatusRequest", 36),
    ("resource", "v1beta2", "DeviceTaintRule", 36),
    ("scheduling", "v1alpha3", "CompositePodGroup", 37),
    ("scheduling", "v1alpha3", "PodGroup", 37),
    ("scheduling", "v1alpha3", "Workload", 37),
    ("scheduling", "v1beta1", "PodGroup", 37),
    ("scheduling", "v1beta1", "Workload", 37),
    ("storage", "v1", "VolumeAttributesClass", 34),
    ("storagemigration", "v1", "StorageVersionMigration", 37),
    ("storagemigration", "v1beta1", "StorageVersionMigration", 35),
];
