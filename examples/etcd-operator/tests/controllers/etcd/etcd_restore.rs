use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use operator_runtime::envtest::eventually;
use serde_json::json;

use etcd_operator::api::etcd::etcd_restore::EtcdRestore;

use crate::cluster;

/// Manifests arrive in any order.
#[tokio::test]
async fn waits_for_its_cluster_and_never_changes() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<EtcdRestore>()?;
    let restore = serde_json::from_value(json!({
        "metadata": { "name": "early" },
        "spec": { "cluster": "late", "backup": "late" },
    }))?;
    api.create(&PostParams::default(), &restore).await?;
    eventually(Duration::from_secs(20), async || {
        let status = api.get("early").await?.status.unwrap_or_default();
        let ready = status.conditions.iter().find(|it| it.type_ == "Ready");
        let reason = ready.map_or("", |ready| ready.reason.as_str());
        anyhow::ensure!(reason == "ClusterNotFound", "the reason is {reason:?}");
        Ok(())
    })
    .await?;
    let patch = Patch::Merge(json!({ "spec": { "overwrite": true } }));
    let refused = api.patch("early", &PatchParams::default(), &patch).await;
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("spec cannot change")
    );
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
