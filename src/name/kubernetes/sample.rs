//! Minimal objects of core types that the API server accepts, for tests of webhooks.

/// The fields beside `metadata` of a kind of this API group, in the syntax of `json!`; empty for a kind that needs none, `None`
/// for kinds that this list does not have.
pub fn fields(api_group: &str, kind: &str) -> Option<&'static str> {
    Some(match (api_group, kind) {
        ("", "ConfigMap" | "Namespace" | "Secret" | "ServiceAccount") => "",
        ("", "Pod") => POD,
        ("", "Service") => r#""spec": { "ports": [{ "port": 80 }] },"#,
        ("", "PersistentVolumeClaim") => PERSISTENT_VOLUME_CLAIM,
        ("apps", "Deployment" | "ReplicaSet" | "DaemonSet") => WORKLOAD,
        ("apps", "StatefulSet") => STATEFUL_SET,
        ("batch", "Job") => JOB,
        ("batch", "CronJob") => CRON_JOB,
        ("networking.k8s.io", "Ingress") => INGRESS,
        ("networking.k8s.io", "NetworkPolicy") => r#""spec": { "podSelector": {} },"#,
        _ => return None,
    })
}

const POD: &str = r#""spec": { "containers": [{ "name": "a", "image": "a" }] },"#;

const PERSISTENT_VOLUME_CLAIM: &str = r#""spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } },
        },"#;

const WORKLOAD: &str = r#""spec": {
            "selector": { "matchLabels": { "app": "a" } },
            "template": {
                "metadata": { "labels": { "app": "a" } },
                "spec": { "containers": [{ "name": "a", "image": "a" }] },
            },
        },"#;

const STATEFUL_SET: &str = r#""spec": {
            "serviceName": "a",
            "selector": { "matchLabels": { "app": "a" } },
            "template": {
                "metadata": { "labels": { "app": "a" } },
                "spec": { "containers": [{ "name": "a", "image": "a" }] },
            },
        },"#;

const JOB: &str = r#""spec": {
            "template": {
                "spec": {
                    "containers": [{ "name": "a", "image": "a" }],
                    "restartPolicy": "Never",
                },
            },
        },"#;

const CRON_JOB: &str = r#""spec": {
            "schedule": "* * * * *",
            "jobTemplate": {
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [{ "name": "a", "image": "a" }],
                            "restartPolicy": "Never",
                        },
                    },
                },
            },
        },"#;

const INGRESS: &str = r#""spec": {
            "defaultBackend": { "service": { "name": "a", "port": { "number": 80 } } },
        },"#;

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::*;

    /// Other tests parse the rendered samples.
    #[test]
    fn every_sample_has_a_type() {
        let with_sample = all().filter(|core| core.sample().is_some());
        let kinds: Vec<_> = with_sample.map(|core| core.kind).collect();
        assert_eq!(kinds.len(), 15, "{kinds:?}");
        assert_eq!(fields("", "Deployment"), None);
    }
}
