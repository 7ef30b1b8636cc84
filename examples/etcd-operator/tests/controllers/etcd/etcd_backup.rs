use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use operator_runtime::envtest::eventually;
use serde_json::json;

use etcd_operator::api::etcd::etcd_backup::EtcdBackup;

use crate::cluster;

/// Manifests arrive in any order.
#[tokio::test]
async fn waits_for_its_cluster() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<EtcdBackup>()?;
    let backup = serde_json::from_value(json!({
        "metadata": { "name": "early" },
        "spec": { "cluster": "late", "destination": { "claim": "snapshots" } },
    }))?;
    api.create(&PostParams::default(), &backup).await?;
    eventually(Duration::from_secs(20), async || {
        let status = api.get("early").await?.status.unwrap_or_default();
        let ready = status.conditions.iter().find(|it| it.type_ == "Ready");
        let reason = ready.map_or("", |ready| ready.reason.as_str());
        anyhow::ensure!(reason == "ClusterNotFound", "the reason is {reason:?}");
        Ok(())
    })
    .await?;
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn has_one_destination_and_a_name_for_a_label() -> anyhow::Result<()> {
    let api = cluster()?.api::<EtcdBackup>()?;
    let backup = |name: &str| {
        serde_json::from_value(json!({
            "metadata": { "name": name },
            "spec": { "cluster": "late", "destination": { "claim": "snapshots" } },
        }))
    };
    let params = PostParams::default();
    let refused = api.create(&params, &backup(&"a".repeat(53))?).await;
    assert!(refused.unwrap_err().to_string().contains("at most 52"));
    api.create(&params, &backup("both")?).await?;
    let bucket = json!({ "s3": { "bucket": "etcd", "secret": "s3" } });
    let patch = Patch::Merge(json!({ "spec": { "destination": bucket } }));
    let refused = api.patch("both", &PatchParams::default(), &patch).await;
    assert!(refused.unwrap_err().to_string().contains("oneOf"));
    Ok(())
}
