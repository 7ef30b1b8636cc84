#![doc = include_str!("../README.md")]

/// A kind of Kubernetes or of a well known project.
pub struct Known {
    /// The group; empty for the core.
    pub group: &'static str,
    /// The version to prefer.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The plural.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// A line for each version of a group: what it is called, its kinds in namespaces, and those without. A plural that does not follow
/// the rule stands behind a slash.
const GROUPS: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "v1",
        "Binding ConfigMap Endpoints/endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController \
         ResourceQuota Secret Service ServiceAccount",
        "Namespace Node PersistentVolume",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "",
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy \
         ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "v1", "", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "v1", "", "APIService"),
    (
        "apps",
        "v1",
        "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
        "",
    ),
    (
        "authentication.k8s.io",
        "v1",
        "",
        "SelfSubjectReview TokenReview",
    ),
    (
        "authorization.k8s.io",
        "v1",
        "LocalSubjectAccessReview",
        "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    ),
    ("autoscaling", "v2", "HorizontalPodAutoscaler", ""),
    ("batch", "v1", "CronJob Job", ""),
    (
        "certificates.k8s.io",
        "v1",
        "PodCertificateRequest",
        "CertificateSigningRequest ClusterTrustBundle",
    ),
    ("coordination.k8s.io", "v1", "Lease", ""),
    ("coordination.k8s.io", "v1beta1", "LeaseCandidate", ""),
    ("discovery.k8s.io", "v1", "EndpointSlice", ""),
    ("events.k8s.io", "v1", "Event", ""),
    (
        "flowcontrol.apiserver.k8s.io",
        "v1",
        "",
        "FlowSchema PriorityLevelConfiguration",
    ),
    (
        "internal.apiserver.k8s.io",
        "v1alpha1",
        "",
        "StorageVersion",
    ),
    (
        "lifecycle.k8s.io",
        "v1alpha1",
        "Eviction EvictionRequest",
        "",
    ),
    (
        "networking.k8s.io",
        "v1",
        "Ingress NetworkPolicy",
        "IPAddress IngressClass ServiceCIDR",
    ),
    ("node.k8s.io", "v1", "", "RuntimeClass"),
    ("policy", "v1", "PodDisruptionBudget", ""),
    (
        "rbac.authorization.k8s.io",
        "v1",
        "Role RoleBinding",
        "ClusterRole ClusterRoleBinding",
    ),
    (
        "resource.k8s.io",
        "v1",
        "ResourceClaim ResourceClaimTemplate",
        "DeviceClass DeviceTaintRule ResourceSlice",
    ),
    (
        "resource.k8s.io",
        "v1alpha3",
        "",
        "ResourcePoolStatusRequest",
    ),
    ("scheduling.k8s.io", "v1", "", "PriorityClass"),
    ("scheduling.k8s.io", "v1beta1", "PodGroup Workload", ""),
    ("scheduling.k8s.io", "v1alpha3", "CompositePodGroup", ""),
    (
        "storage.k8s.io",
        "v1",
        "CSIStorageCapacity",
        "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    ),
    (
        "storagemigration.k8s.io",
        "v1",
        "",
        "StorageVersionMigration",
    ),
    // What Kubernetes had before.
    (
        "extensions",
        "v1beta1",
        "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet",
        "PodSecurityPolicy",
    ),
    ("policy", "v1beta1", "", "PodSecurityPolicy"),
    // What others bring.
    ("acme.cert-manager.io", "v1", "Challenge Order", ""),
    (
        "autoscaling.k8s.io",
        "v1",
        "VerticalPodAutoscaler VerticalPodAutoscalerCheckpoint",
        "",
    ),
    (
        "argoproj.io",
        "v1alpha1",
        "AnalysisRun AnalysisTemplate AppProject Application ApplicationSet CronWorkflow Rollout Workflow WorkflowTemplate",
        "ClusterAnalysisTemplate ClusterWorkflowTemplate",
    ),
    (
        "cert-manager.io",
        "v1",
        "Certificate CertificateRequest Issuer",
        "ClusterIssuer",
    ),
    (
        "cilium.io",
        "v2",
        "CiliumNetworkPolicy",
        "CiliumClusterwideNetworkPolicy",
    ),
    (
        "external-secrets.io",
        "v1",
        "ExternalSecret SecretStore",
        "ClusterExternalSecret ClusterSecretStore",
    ),
    (
        "gateway.networking.k8s.io",
        "v1",
        "BackendTLSPolicy GRPCRoute Gateway HTTPRoute ReferenceGrant TLSRoute",
        "GatewayClass",
    ),
    (
        "gateway.networking.k8s.io",
        "v1alpha2",
        "TCPRoute UDPRoute",
        "",
    ),
    ("helm.toolkit.fluxcd.io", "v2", "HelmRelease", ""),
    (
        "k8s.cni.cncf.io",
        "v1",
        "NetworkAttachmentDefinition/network-attachment-definitions",
        "",
    ),
    (
        "keda.sh",
        "v1alpha1",
        "ScaledJob ScaledObject TriggerAuthentication",
        "ClusterTriggerAuthentication",
    ),
    (
        "monitoring.coreos.com",
        "v1",
        "Alertmanager PodMonitor Probe Prometheus/prometheuses PrometheusRule ServiceMonitor ThanosRuler",
        "",
    ),
    (
        "monitoring.coreos.com",
        "v1alpha1",
        "AlertmanagerConfig PrometheusAgent ScrapeConfig",
        "",
    ),
    (
        "networking.istio.io",
        "v1",
        "DestinationRule Gateway ServiceEntry Sidecar VirtualService WorkloadEntry WorkloadGroup",
        "",
    ),
    ("networking.istio.io", "v1alpha3", "EnvoyFilter", ""),
    ("route.openshift.io", "v1", "Route", ""),
    (
        "secrets-store.csi.x-k8s.io",
        "v1",
        "SecretProviderClass",
        "",
    ),
    (
        "security.istio.io",
        "v1",
        "AuthorizationPolicy PeerAuthentication RequestAuthentication",
        "",
    ),
    (
        "security.openshift.io",
        "v1",
        "",
        "SecurityContextConstraints/securitycontextconstraints",
    ),
    (
        "snapshot.storage.k8s.io",
        "v1",
        "VolumeSnapshot",
        "VolumeSnapshotClass VolumeSnapshotContent",
    ),
    ("telemetry.istio.io", "v1", "Telemetry/telemetries", ""),
    (
        "traefik.io",
        "v1alpha1",
        "IngressRoute IngressRouteTCP IngressRouteUDP Middleware MiddlewareTCP ServersTransport TLSOption TLSStore TraefikService",
        "",
    ),
];

/// All kinds. Those of Kubernetes come first.
pub fn all() -> impl Iterator<Item = Known> {
    GROUPS
        .iter()
        .flat_map(|&(group, version, inside, outside)| {
            let inside = inside.split_whitespace().map(|word| (word, true));
            let outside = outside.split_whitespace().map(|word| (word, false));
            inside.chain(outside).map(move |(word, namespaced)| {
                let (kind, plural) = word.split_once('/').unwrap_or((word, ""));
                Known {
                    group,
                    version,
                    kind,
                    plural: match plural {
                        "" => guessed_plural(kind),
                        plural => plural.to_owned(),
                    },
                    namespaced,
                }
            })
        })
}

/// The kind of a group. The version is one that it has, not that which is asked for.
pub fn known(group: &str, kind: &str) -> Option<Known> {
    all().find(|it| it.group == group && it.kind == kind)
}

/// A kind of any group. Those of Kubernetes come first.
pub fn of_kind(kind: &str) -> Option<Known> {
    all().find(|it| it.kind == kind)
}

/// What the plural of a kind most likely is.
pub fn guessed_plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    let is_vowel = |c: char| "aeiou".contains(c);
    if let Some(stem) = kind.strip_suffix('y')
        && !stem.ends_with(is_vowel)
    {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh"];
    match hisses.iter().any(|it| kind.ends_with(it)) {
        true => format!("{kind}es"),
        false => format!("{kind}s"),
    }
}

/// The group and the version in an `apiVersion`. The group of the core is empty.
pub fn group_and_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plural(group: &str, kind: &str) -> Option<(String, bool)> {
        known(group, kind).map(|it| (it.plural, it.namespaced))
    }

    #[test]
    fn plurals_and_scopes() {
        let found = |plural: &str, namespaced| Some((plural.to_owned(), namespaced));
        assert_eq!(plural("", "Endpoints"), found("endpoints", true));
        assert_eq!(
            plural("policy", "PodDisruptionBudget"),
            found("poddisruptionbudgets", true)
        );
        assert_eq!(
            plural("networking.k8s.io", "Ingress"),
            found("ingresses", true)
        );
        assert_eq!(
            plural("networking.k8s.io", "IPAddress"),
            found("ipaddresses", false)
        );
        assert_eq!(
            plural("networking.k8s.io", "NetworkPolicy"),
            found("networkpolicies", true)
        );
        assert_eq!(
            plural("gateway.networking.k8s.io", "GatewayClass"),
            found("gatewayclasses", false)
        );
        assert_eq!(plural("apps", "Ingress"), None);
        assert_eq!(guessed_plural("Gateway"), "gateways");
        assert_eq!(guessed_plural("Proxy"), "proxies");
    }

    #[test]
    fn no_kind_is_there_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for it in all() {
            assert!(seen.insert((it.group, it.kind)), "{} {}", it.group, it.kind);
        }
    }
}
