//! The order of kinds.

use std::cmp::Ordering;

/// The kinds in the order in which they are installed. Others come after them.
pub const INSTALL_ORDER: &[&str] = &[
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// The kinds in the order in which they are removed. Others come after them.
pub const UNINSTALL_ORDER: &[&str] = &[
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "APIService",
    "Ingress",
    "IngressClass",
    "Service",
    "CronJob",
    "Job",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "DaemonSet",
    "RoleBindingList",
    "RoleBinding",
    "RoleList",
    "Role",
    "ClusterRoleBindingList",
    "ClusterRoleBinding",
    "ClusterRoleList",
    "ClusterRole",
    "CustomResourceDefinition",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ConfigMap",
    "SecretList",
    "Secret",
    "ServiceAccount",
    "PodDisruptionBudget",
    "PodSecurityPolicy",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "Namespace",
    "PriorityClass",
];

/// Which of two kinds comes first. Kinds that the order lacks are last, by their names.
pub(super) fn compare(first: &str, second: &str, order: &[&str]) -> Ordering {
    let place = |kind: &str| order.iter().position(|it| *it == kind);
    match (place(first), place(second)) {
        (None, None) => first.cmp(second),
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(first), Some(second)) => first.cmp(&second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_kinds_come_last_by_name() {
        let mut kinds = ["Zebra", "Deployment", "", "Namespace", "Apple", "Ingress"];
        kinds.sort_by(|a, b| compare(a, b, INSTALL_ORDER));
        assert_eq!(
            kinds,
            ["Namespace", "Deployment", "Ingress", "", "Apple", "Zebra"]
        );
        kinds.sort_by(|a, b| compare(a, b, UNINSTALL_ORDER));
        assert_eq!(
            kinds,
            ["Ingress", "Deployment", "Namespace", "", "Apple", "Zebra"]
        );
    }
}
