//! The example `drain`, with real Nodes, Pods and disruption budgets. There is no kubelet and no disruption
//! controller: the tests set the status of Pods and budgets, and end the Pods that are terminating.

#[path = "../../examples/drain/controller.rs"]
mod example;
mod unit;

use std::{sync::LazyLock, time::Duration};

use anyhow::{Context as _, Result, anyhow, ensure};
use k8s_openapi::{
    api::{
        core::v1::{Node, Pod},
        policy::v1::PodDisruptionBudget,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    CrdError, Crds,
    envtest::{Cluster, NAMESPACE, eventually, wait_for},
    webhook::Webhooks,
};
use serde_json::{Value, from_value, json};

use example::{Context, DRAINED, NodeMaintenance, OPTIONS, controller};

const PATIENCE: Duration = Duration::from_secs(30);

fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(|| {
        let (controllers, none) = (controller(), Webhooks::default());
        Cluster::start()?.with_operator(&OPTIONS, crds(), controllers, none, Context::new)
    });
    CLUSTER.as_ref().map_err(|error| anyhow!("{error:#}"))
}

fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<NodeMaintenance>();
    crds.merge()
}

/// Creates a node and the maintenance of it.
async fn node_in_maintenance(name: &str, spec: Value) -> Result<()> {
    let node: Node = from_value(json!({ "metadata": { "name": name } }))?;
    let params = PostParams::default();
    cluster()?.api::<Node>()?.create(&params, &node).await?;
    let maintenance = json!({
        "apiVersion": "maintenance.example.com/v1",
        "kind": "NodeMaintenance",
        "metadata": { "name": name },
        "spec": spec,
    });
    let api = cluster()?.api::<NodeMaintenance>()?;
    api.create(&params, &from_value(maintenance)?).await?;
    Ok(())
}

/// A Pod on a node, in the phase, with this metadata beside its name.
fn pod(node: &str, name: &str, mut metadata: Value) -> Value {
    metadata["name"] = name.into();
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "containers": [{ "name": "main", "image": "main" }],
            // Nothing would take it off the node.
            "terminationGracePeriodSeconds": 0,
        },
        "status": {
            "phase": "Running",
            "conditions": [{ "type": "Ready", "status": "True" }],
        },
    })
}

fn controlled_by(kind: &str) -> Value {
    json!([{ "apiVersion": "apps/v1", "kind": kind, "name": "a", "uid": "b", "controller": true }])
}

/// A Pod of a ReplicaSet, with labels for a budget.
fn replica(node: &str, name: &str, app: &str) -> Value {
    let owners = controlled_by("ReplicaSet");
    pod(
        node,
        name,
        json!({ "ownerReferences": owners, "labels": { "app": app } }),
    )
}

/// Creates a Pod, and reports its status as the kubelet does.
async fn run(pod: Value) -> Result<()> {
    let (api, status) = (cluster()?.api::<Pod>()?, json!({ "status": pod["status"] }));
    let pod: Pod = from_value(pod)?;
    api.create(&PostParams::default(), &pod).await?;
    let (params, status) = (PatchParams::default(), Patch::Merge(status));
    api.patch_status(&pod.name_any(), &params, &status).await?;
    Ok(())
}

/// Whether a Pod exists, and is not terminating.
async fn runs(name: &str) -> Result<bool> {
    let pod = cluster()?.api::<Pod>()?.get_opt(name).await?;
    Ok(pod.is_some_and(|pod| pod.metadata.deletion_timestamp.is_none()))
}

async fn is_gone(name: &str) -> Result<()> {
    let api = cluster()?.api::<Pod>()?;
    eventually(PATIENCE, async || {
        ensure!(api.get_opt(name).await?.is_none(), "{name} is there");
        Ok(())
    })
    .await
}

/// Creates a budget for the Pods with this label.
async fn budget(name: &str, app: &str) -> Result<()> {
    let budget: PodDisruptionBudget = from_value(json!({
        "metadata": { "name": name },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": app } } },
    }))?;
    let api = cluster()?.api::<PodDisruptionBudget>()?;
    api.create(&PostParams::default(), &budget).await?;
    allow(name, 0).await
}

/// Sets the number of Pods that may be evicted, as the disruption controller does.
async fn allow(name: &str, disruptions: i32) -> Result<()> {
    let status = json!({ "status": {
        "observedGeneration": 1,
        "disruptionsAllowed": disruptions,
        "currentHealthy": 1 + disruptions,
        "desiredHealthy": 1,
        "expectedPods": 1 + disruptions,
    } });
    let api = cluster()?.api::<PodDisruptionBudget>()?;
    let (params, status) = (PatchParams::default(), Patch::Merge(status));
    api.patch_status(name, &params, &status).await?;
    Ok(())
}

/// Waits until a condition of the maintenance has this status, and returns its message.
async fn until(name: &str, type_: &str, status: &str, reason: &str) -> Result<String> {
    let api = cluster()?.api::<NodeMaintenance>()?;
    eventually(PATIENCE, async || {
        let found = api.get(name).await?;
        let mut conditions = found.status.iter().flat_map(|status| &status.conditions);
        let expected = |condition: &&Condition| {
            condition.type_ == type_
                && condition.status == status
                && condition.reason == reason
                && condition.observed_generation == found.metadata.generation
        };
        let condition = conditions.find(expected);
        let message = condition.map(|condition| condition.message.clone());
        message.with_context(|| format!("not {type_}={status} ({reason}): {:?}", found.status))
    })
    .await
}

async fn is_cordoned(node: &str) -> Result<bool> {
    let node = cluster()?.api::<Node>()?.get(node).await?;
    Ok(node.spec.and_then(|spec| spec.unschedulable) == Some(true))
}

#[tokio::test]
async fn a_node_is_cordoned_drained_and_uncordoned() -> Result<()> {
    let node = "drained";
    let mut web = replica(node, "drained-web", "drained");
    web["spec"]["terminationGracePeriodSeconds"] = 30.into();
    run(web).await?;
    let owners = json!({ "ownerReferences": controlled_by("DaemonSet") });
    run(pod(node, "drained-daemon", owners)).await?;
    let mirrored = json!({ "annotations": { "kubernetes.io/config.mirror": "a" } });
    run(pod(node, "drained-mirror", mirrored)).await?;
    let mut ended = replica(node, "drained-ended", "drained");
    ended["status"] = json!({ "phase": "Succeeded" });
    run(ended).await?;
    run(replica("another", "drained-elsewhere", "drained")).await?;

    node_in_maintenance(node, json!({})).await?;
    let message = until(node, "Drained", "False", "PodsRemain").await?;
    let expected = format!("remaining Pods: {NAMESPACE}/drained-web (it is terminating)");
    ensure!(message == expected, "{message}");
    ensure!(is_cordoned(node).await?);
    // The kubelet has stopped it.
    let now = DeleteParams::default().grace_period(0);
    cluster()?.api::<Pod>()?.delete("drained-web", &now).await?;

    let maintenances = cluster()?.api::<NodeMaintenance>()?;
    wait_for(&maintenances, node, DRAINED).await?;
    until(node, "Degraded", "False", "AsExpected").await?;
    for name in ["daemon", "mirror", "ended", "elsewhere"] {
        ensure!(
            runs(&format!("drained-{name}")).await?,
            "{name} was evicted"
        );
    }

    maintenances.delete(node, &DeleteParams::default()).await?;
    eventually(PATIENCE, async || {
        let left = maintenances.get_opt(node).await?;
        ensure!(left.is_none(), "{left:?}");
        Ok(())
    })
    .await?;
    ensure!(!is_cordoned(node).await?);
    let operator = cluster()?.operator()?;
    let mut unused = operator.unused();
    // Every controller may publish events, and read its objects one by one.
    let granted = ["create events", "patch events", "get nodemaintenances"];
    unused.retain(|unused| !granted.iter().any(|granted| unused.starts_with(granted)));
    ensure!(unused.is_empty(), "{unused:?}");
    ensure!(operator.refused().is_empty(), "{:?}", operator.refused());
    Ok(())
}

#[tokio::test]
async fn a_budget_is_waited_for_and_named_after_the_time_out() -> Result<()> {
    let node = "blocked";
    run(replica(node, "blocked-web", "blocked")).await?;
    run(replica(node, "free-web", "free")).await?;
    budget("one-web", "blocked").await?;

    node_in_maintenance(node, json!({ "timeoutSeconds": 1 })).await?;
    // The budget is that of another Pod.
    is_gone("free-web").await?;
    let expected = "not drained within 1s; remaining Pods: default/blocked-web (The disruption \
                    budget one-web needs 1 healthy pods and has 1 currently)";
    eventually(PATIENCE, async || {
        let message = until(node, "Degraded", "True", "TimedOut").await?;
        ensure!(message == expected, "{message}");
        Ok(())
    })
    .await?;
    ensure!(runs("blocked-web").await?);

    allow("one-web", 1).await?;
    is_gone("blocked-web").await?;
    wait_for(&cluster()?.api::<NodeMaintenance>()?, node, DRAINED).await?;
    until(node, "Degraded", "False", "AsExpected").await?;
    Ok(())
}

#[tokio::test]
async fn two_budgets_of_one_pod_are_reported() -> Result<()> {
    let node = "twice";
    run(replica(node, "twice-web", "twice")).await?;
    budget("first-twice", "twice").await?;
    budget("second-twice", "twice").await?;

    node_in_maintenance(node, json!({})).await?;
    let message = until(node, "Drained", "False", "PodsRemain").await?;
    let refused = "default/twice-web (This pod has more than one PodDisruptionBudget";
    ensure!(message.contains(refused), "{message}");
    ensure!(runs("twice-web").await?);
    Ok(())
}

#[tokio::test]
async fn a_pod_without_a_controller_stops_the_drain_unless_forced() -> Result<()> {
    let node = "forced";
    run(pod(node, "forced-alone", json!({}))).await?;
    run(replica(node, "forced-web", "forced")).await?;

    node_in_maintenance(node, json!({})).await?;
    let message = until(node, "Drained", "False", "PodsRemain").await?;
    let expected = "remaining Pods: default/forced-alone (it has no controller: delete it, or set \
                    spec.force)";
    ensure!(message == expected, "{message}");
    ensure!(runs("forced-alone").await? && runs("forced-web").await?);

    let api = cluster()?.api::<NodeMaintenance>()?;
    let force = Patch::Merge(json!({ "spec": { "force": true } }));
    api.patch(node, &PatchParams::default(), &force).await?;
    is_gone("forced-alone").await?;
    is_gone("forced-web").await?;
    wait_for(&api, node, DRAINED).await
}

#[tokio::test]
async fn a_node_that_is_gone_does_not_keep_its_maintenance() -> Result<()> {
    let node = "removed";
    node_in_maintenance(node, json!({})).await?;
    let api = cluster()?.api::<NodeMaintenance>()?;
    wait_for(&api, node, DRAINED).await?;
    let params = DeleteParams::default();
    cluster()?.api::<Node>()?.delete(node, &params).await?;
    api.delete(node, &params).await?;
    eventually(PATIENCE, async || {
        let left = api.get_opt(node).await?;
        ensure!(left.is_none(), "{left:?}");
        Ok(())
    })
    .await
}
