//! The reconcile function of the example against the fake API server.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use operator_runtime::{Action, fake::Fake};
use serde_json::{from_value, json};

use super::{
    example::{Context, NodeMaintenance, evict, reconcile},
    replica,
};

const AGAIN: Action = Action::requeue(Duration::from_secs(5));

/// A cordoned node in maintenance. The fake does not have the patch that cordons a node.
fn node_in_maintenance(fake: &Fake) -> Result<()> {
    let node = json!({ "metadata": { "name": "n" }, "spec": { "unschedulable": true } });
    fake.insert::<Node>(from_value(node)?);
    let maintenance = json!({
        "apiVersion": "maintenance.example.com/v1",
        "kind": "NodeMaintenance",
        "metadata": { "name": "n", "finalizers": ["maintenance.example.com/uncordon"] },
        "spec": { "timeoutSeconds": 60 },
    });
    fake.insert::<NodeMaintenance>(from_value(maintenance)?);
    Ok(())
}

async fn reconcile_newest(fake: &Fake) -> Result<Action> {
    let maintenance = fake.get::<NodeMaintenance>("n").context("no maintenance")?;
    let context = Arc::new(fake.context(Context::new).await);
    Ok(reconcile(Arc::new(maintenance), context).await?)
}

/// The conditions as `Drained=True`.
fn conditions(fake: &Fake) -> Vec<String> {
    let maintenance = fake.get::<NodeMaintenance>("n");
    let status = maintenance.and_then(|maintenance| maintenance.status);
    let conditions = status.into_iter().flat_map(|status| status.conditions);
    conditions
        .map(|it| format!("{}={}", it.type_, it.status))
        .collect()
}

#[tokio::test]
async fn a_terminating_pod_is_waited_for_and_not_evicted_again() -> Result<()> {
    let fake = Fake::default();
    node_in_maintenance(&fake)?;
    let mut web = replica("n", "web", "web");
    web["metadata"]["finalizers"] = json!(["a.example.com/b"]);
    fake.insert::<Pod>(from_value(web.clone())?);

    for _ in 0..3 {
        ensure!(reconcile_newest(&fake).await? == AGAIN);
    }
    let writes: Vec<_> = fake.writes().iter().map(ToString::to_string).collect();
    let report = "patch nodemaintenances.maintenance.example.com/status n";
    ensure!(
        writes == ["create pods/eviction default/web", report],
        "{writes:?}"
    );
    ensure!(conditions(&fake) == ["Drained=False", "Degraded=False"]);

    fake.clock().advance(Duration::from_secs(61));
    ensure!(reconcile_newest(&fake).await? == AGAIN);
    ensure!(conditions(&fake) == ["Drained=False", "Degraded=True"]);

    web["status"]["phase"] = "Succeeded".into();
    fake.insert::<Pod>(from_value(web)?);
    ensure!(reconcile_newest(&fake).await? == Action::await_change());
    ensure!(conditions(&fake) == ["Drained=True", "Degraded=False"]);
    Ok(())
}

#[tokio::test]
async fn a_refusal_is_no_error() -> Result<()> {
    let fake = Fake::default();
    let web = fake.insert::<Pod>(from_value(replica("n", "web", "web"))?);
    for code in [403, 429, 500] {
        fake.fail_next(code);
        let reason = evict(&fake.client(), &web).await?;
        ensure!(
            reason.as_deref() == Some("the test requested this failure"),
            "{code}: {reason:?}"
        );
    }
    let evicted = evict(&fake.client(), &web).await?;
    ensure!(
        evicted.as_deref() == Some("it is terminating"),
        "{evicted:?}"
    );
    let gone = evict(&fake.client(), &web).await?;
    ensure!(gone.is_none(), "{gone:?}");
    Ok(())
}
