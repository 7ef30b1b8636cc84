use serde_json::json;

use super::*;

#[test]
fn deployments() {
    let complete = condition("Progressing", "True", "NewReplicaSetAvailable");
    let available = condition("Available", "True", "");
    let status = |total, updated, available_count, ready, conditions: &[&Value]| {
        json!({
            "replicas": total,
            "updatedReplicas": updated,
            "availableReplicas": available_count,
            "readyReplicas": ready,
            "conditions": conditions,
        })
    };
    let both = [&complete, &available];
    let rows = [
        (json!({}), "waiting: 0 of 3 Pods exist"),
        (
            status(3, 1, 3, 3, &both),
            "waiting: 1 of 3 Pods are of the new version",
        ),
        (
            status(4, 3, 3, 3, &both),
            "waiting: 4 Pods exist, and it wants 3",
        ),
        (
            status(3, 3, 1, 3, &both),
            "waiting: 1 of 3 Pods are available",
        ),
        (status(3, 3, 3, 2, &both), "waiting: 2 of 3 Pods are ready"),
        (
            status(3, 3, 3, 3, &[&available]),
            "waiting: its new version is not complete",
        ),
        (
            status(3, 3, 3, 3, &[&complete]),
            "waiting: too few of its Pods are available",
        ),
        (status(3, 3, 3, 3, &both), "ready"),
        (
            status(
                3,
                1,
                1,
                1,
                &[&condition(
                    "Progressing",
                    "False",
                    "ProgressDeadlineExceeded",
                )],
            ),
            "failed: ProgressDeadlineExceeded",
        ),
    ];
    let spec = json!({ "replicas": 3, "progressDeadlineSeconds": 600 });
    table("apps/v1 Deployment", spec, &rows);

    let kind = "extensions/v1beta1 Deployment";
    table(
        kind,
        json!({}),
        &[(status(1, 1, 1, 1, &[&available]), "ready")],
    );
    let none = json!({ "replicas": 0, "progressDeadlineSeconds": 600 });
    table(kind, none, &[(json!({ "conditions": both }), "ready")]);
}

#[test]
fn stateful_sets() {
    let kind = "apps/v1 StatefulSet";
    let rolled = json!({
        "replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "updatedReplicas": 1,
        "currentRevision": "a", "updateRevision": "b",
    });
    let with = |field: &str, value: Value| {
        let mut status = rolled.clone();
        status[field] = value;
        status
    };
    table(
        kind,
        json!({ "replicas": 3 }),
        &[
            (json!({}), "waiting: 0 of 3 Pods exist"),
            (
                with("readyReplicas", json!(2)),
                "waiting: 2 of 3 Pods are ready",
            ),
            (
                with("replicas", json!(4)),
                "waiting: 4 Pods exist, and it wants 3",
            ),
            (
                with("currentReplicas", json!(1)),
                "waiting: 1 of 3 Pods are of the current version",
            ),
            (rolled.clone(), "waiting: its new version is not complete"),
            (with("updateRevision", json!("a")), "ready"),
        ],
    );
    let partition = |n: i64| json!({ "replicas": 3, "updateStrategy": { "rollingUpdate": { "partition": n } } });
    table(
        kind,
        partition(0),
        &[(
            rolled.clone(),
            "waiting: 1 of 3 Pods are of the new version",
        )],
    );
    table(
        kind,
        partition(1),
        &[(
            rolled.clone(),
            "waiting: 1 of 2 Pods are of the new version",
        )],
    );
    table(kind, partition(2), &[(rolled.clone(), "ready")]);
    table(kind, partition(i64::MAX), &[(rolled.clone(), "ready")]);
    table(
        kind,
        partition(i64::MIN),
        &[(
            rolled.clone(),
            "waiting: 1 of 9223372036854775807 Pods are of the new version",
        )],
    );
    let on_delete = json!({ "updateStrategy": { "type": "OnDelete" } });
    table(kind, on_delete, &[(json!({}), "ready")]);
}

#[test]
fn daemon_sets_and_replica_sets() {
    let status = |scheduled, updated, available, ready| {
        json!({
            "observedGeneration": 2, "desiredNumberScheduled": 2, "currentNumberScheduled": scheduled,
            "updatedNumberScheduled": updated, "numberAvailable": available, "numberReady": ready,
        })
    };
    table(
        "apps/v1 DaemonSet",
        json!({}),
        &[
            (
                json!({ "desiredNumberScheduled": 0 }),
                "waiting: its controller has not seen it",
            ),
            (
                json!({ "observedGeneration": 2 }),
                "waiting: its controller has not seen it",
            ),
            (
                json!({ "observedGeneration": 2, "desiredNumberScheduled": 0 }),
                "ready",
            ),
            (status(1, 2, 2, 2), "waiting: 1 of 2 Pods exist"),
            (
                status(2, 1, 2, 2),
                "waiting: 1 of 2 Pods are of the new version",
            ),
            (status(2, 2, 1, 2), "waiting: 1 of 2 Pods are available"),
            (status(2, 2, 2, 1), "waiting: 1 of 2 Pods are ready"),
            (status(2, 2, 2, 2), "ready"),
        ],
    );

    let status = |total, labelled, available, ready| {
        json!({
            "replicas": total, "fullyLabeledReplicas": labelled, "availableReplicas": available,
            "readyReplicas": ready,
        })
    };
    table(
        "apps/v1 ReplicaSet",
        json!({ "replicas": 2 }),
        &[
            (
                status(2, 1, 2, 2),
                "waiting: 1 of 2 Pods have the labels of its template",
            ),
            (status(2, 2, 1, 2), "waiting: 1 of 2 Pods are available"),
            (status(2, 2, 2, 1), "waiting: 1 of 2 Pods are ready"),
            (status(3, 2, 2, 2), "waiting: 3 Pods exist, and it wants 2"),
            (status(2, 2, 2, 2), "ready"),
            (
                json!({ "conditions": [condition("ReplicaFailure", "True", "FailedCreate")] }),
                "waiting: FailedCreate",
            ),
        ],
    );
}

#[test]
fn pods() {
    let crashing = json!([
        { "name": "app", "state": { "waiting": { "reason": "CrashLoopBackOff" } } },
        { "name": "side", "state": { "running": {} } },
    ]);
    table(
        "v1 Pod",
        json!({}),
        &[
            (json!({}), "waiting: it has no phase yet"),
            (json!({ "phase": "Pending" }), "waiting: it is pending"),
            (json!({ "phase": "Succeeded" }), "ready"),
            (json!({ "phase": "Failed" }), "ready"),
            (
                json!({ "phase": "Unknown" }),
                "waiting: its phase is `Unknown`",
            ),
            (
                json!({ "phase": "Running" }),
                "waiting: it runs and is not ready",
            ),
            (
                json!({ "phase": "Running", "conditions": [condition("Ready", "True", "")] }),
                "ready",
            ),
            (
                json!({ "phase": "Running", "containerStatuses": crashing }),
                "failed: it crashes again and again: app",
            ),
        ],
    );

    let conditions = [condition("PodScheduled", "False", "Unschedulable")];
    let status = json!({ "phase": "Pending", "conditions": conditions });
    let pod = object("v1 Pod", json!({}), status);
    let now = |time: &str| time.parse::<Timestamp>().unwrap();
    assert_eq!(
        say(at(&pod, now("2026-01-01T00:00:14Z"))),
        "waiting: it has no node yet"
    );
    assert_eq!(
        say(at(&pod, now("2026-01-01T00:00:15Z"))),
        "failed: Unschedulable"
    );
}

#[test]
fn jobs_and_pods_of_hooks() {
    let failed = json!({ "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "no luck" });
    let why = "BackoffLimitExceeded: no luck";
    let rows = [
        (json!({}), "waiting: it has not started", None),
        (
            json!({ "startTime": "2026-01-01T00:00:00Z" }),
            "ready",
            None,
        ),
        (
            json!({ "conditions": [condition("Complete", "True", "")] }),
            "ready",
            Some(Ok(())),
        ),
        (
            json!({ "conditions": [failed] }),
            "failed: BackoffLimitExceeded: no luck",
            Some(Err(why.to_owned())),
        ),
        (
            json!({ "startTime": "2026-01-01T00:00:00Z", "conditions": [condition("Failed", "False", "")] }),
            "ready",
            None,
        ),
    ];
    for (status, readiness, done) in rows {
        let job = object("batch/v1 Job", json!({}), status);
        assert_eq!(say(of(&job)), readiness, "{job}");
        assert_eq!(job_is_done(&job), done, "{job}");
    }

    let rows = [
        (json!({}), None),
        (json!({ "phase": "Running" }), None),
        (json!({ "phase": "Succeeded" }), Some(Ok(()))),
        (
            json!({ "phase": "Failed" }),
            Some(Err("the Pod failed".to_owned())),
        ),
        (
            json!({ "phase": "Failed", "reason": "Evicted" }),
            Some(Err("Evicted".to_owned())),
        ),
    ];
    for (status, done) in rows {
        assert_eq!(pod_is_done(&object("v1 Pod", json!({}), status)), done);
    }
}
