//! Tables of objects, and what they are.

mod workloads;

use serde_json::json;

use super::*;

/// An object of a kind such as `apps/v1 Deployment`.
fn object(kind: &str, spec: Value, status: Value) -> Value {
    let (version, kind) = kind.split_once(' ').unwrap();
    json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": { "name": "x", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": spec,
        "status": status,
    })
}

fn condition(kind: &str, status: &str, reason: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": reason })
}

/// As the tables say it.
fn say(readiness: Readiness) -> String {
    match readiness {
        Readiness::Ready => "ready".to_owned(),
        Readiness::Waiting(what) => format!("waiting: {what}"),
        Readiness::Failed(why) => format!("failed: {why}"),
        Readiness::Terminating => "terminating".to_owned(),
    }
}

/// Compares each status of a kind, with one `spec`.
fn table(kind: &str, spec: Value, rows: &[(Value, &str)]) {
    for (status, expected) in rows {
        let object = object(kind, spec.clone(), status.clone());
        assert_eq!(say(of(&object)), *expected, "{kind} {spec} {status}");
    }
}

#[test]
fn every_kind() {
    let kind = "example.com/v1 Widget";
    table(
        kind,
        json!({}),
        &[
            (json!({}), "ready"),
            (json!({ "observedGeneration": 2 }), "ready"),
            (
                json!({ "observedGeneration": 1, "conditions": [condition("Ready", "True", "")] }),
                "waiting: its controller has not seen the last change",
            ),
            (
                json!({ "conditions": [condition("Reconciling", "True", "Busy"), condition("Ready", "True", "")] }),
                "waiting: Busy",
            ),
            (
                json!({ "conditions": [{ "type": "Stalled", "status": "True", "reason": "Bad", "message": "no quota" }] }),
                "failed: Bad: no quota",
            ),
            (
                json!({ "conditions": [condition("Stalled", "False", "")] }),
                "ready",
            ),
            (
                json!({ "conditions": [condition("Ready", "False", "")] }),
                "waiting: it is not ready",
            ),
            (
                json!({ "conditions": [condition("Ready", "Unknown", "Asking")] }),
                "waiting: Asking",
            ),
            (
                json!({ "conditions": [condition("Ready", "Perhaps", "")] }),
                "ready",
            ),
        ],
    );

    let mut deleted = object(
        "apps/v1 Deployment",
        json!({}),
        json!({ "observedGeneration": 1 }),
    );
    deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(of(&deleted), Readiness::Terminating);

    // A Service of Knative has the rules of any custom resource.
    let status = json!({ "conditions": [condition("Ready", "False", "Deploying")] });
    let service = object("serving.knative.dev/v1 Service", json!({}), status);
    assert_eq!(say(of(&service)), "waiting: Deploying");
}

#[test]
fn other_kinds() {
    table(
        "v1 PersistentVolumeClaim",
        json!({}),
        &[
            (json!({}), "waiting: it is not bound to a volume"),
            (
                json!({ "phase": "Pending" }),
                "waiting: it is not bound to a volume, its phase is `Pending`",
            ),
            (json!({ "phase": "Bound" }), "ready"),
        ],
    );

    let kind = "v1 Service";
    let nothing = json!({ "loadBalancer": {} });
    let address = json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } });
    let balancer = json!({ "type": "LoadBalancer", "clusterIP": "10.0.0.1" });
    let rows = [
        (nothing.clone(), "waiting: its load balancer has no address"),
        (address, "ready"),
    ];
    table(kind, balancer, &rows);
    let ready = [(nothing.clone(), "ready")];
    table(kind, json!({ "clusterIP": "10.0.0.1" }), &ready);
    table(kind, json!({ "type": "ExternalName" }), &ready);
    let external =
        json!({ "type": "LoadBalancer", "clusterIP": "10.0.0.1", "externalIPs": ["192.0.2.1"] });
    table(kind, external, &ready);
    let rows = [(nothing, "waiting: it has no IP address in the cluster")];
    table(kind, json!({ "type": "LoadBalancer" }), &rows);

    table(
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        json!({}),
        &[
            (json!({}), "waiting: it is not established"),
            (
                json!({ "conditions": [condition("NamesAccepted", "False", "ListKindConflict")] }),
                "failed: ListKindConflict",
            ),
            (
                json!({ "conditions": [condition("Established", "False", "Installing")] }),
                "waiting: it is not established",
            ),
            (
                json!({ "conditions": [condition("Established", "False", "NotAccepted")] }),
                "failed: NotAccepted",
            ),
            (
                json!({ "conditions": [condition("NamesAccepted", "True", ""), condition("Established", "True", "")] }),
                "ready",
            ),
        ],
    );

    table(
        "policy/v1 PodDisruptionBudget",
        json!({}),
        &[
            (
                json!({ "observedGeneration": 1 }),
                "waiting: its controller has not seen the last change",
            ),
            (
                json!({ "observedGeneration": 2, "conditions": [condition("Ready", "False", "")] }),
                "ready",
            ),
        ],
    );
    for kind in ["v1 ConfigMap", "v1 Secret", "batch/v1 CronJob"] {
        table(kind, json!({}), &[(json!({}), "ready")]);
    }
}

/// Fields of wrong types are as good as missing.
#[test]
fn nonsense() {
    let nonsense = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        json!("x"),
        json!([null, 1, "x", [], {}]),
        json!({ "conditions": [null, { "type": 1 }], "replicas": {}, "phase": [], "updateStrategy": 3 }),
    ];
    let kinds = [
        "apps/v1 Deployment",
        "apps/v1 StatefulSet",
        "apps/v1 DaemonSet",
        "apps/v1 ReplicaSet",
        "batch/v1 Job",
        "v1 Pod",
        "v1 PersistentVolumeClaim",
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
    ];
    for value in &nonsense {
        assert_eq!(of(value), Readiness::Ready, "{value}");
        for kind in kinds {
            let object = object(kind, value.clone(), value.clone());
            let readiness = of(&object);
            assert!(matches!(readiness, Readiness::Waiting(_)), "{object}");
        }
    }
}
