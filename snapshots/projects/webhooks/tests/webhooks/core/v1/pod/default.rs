// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;
use serde_json::{from_value, json};

use crate::cluster;

/// A new object is defaulted before it is stored. The dry run stores nothing.
#[tokio::test]
async fn defaults_an_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api()?;
    let pod: Pod = from_value(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": "defaulted" },
        "spec": { "containers": [{ "name": "a", "image": "a" }] },
    }))?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let stored = api.create(&params, &pod).await?;
    assert!(cluster.operator()?.defaulted(&pod));
    assert_eq!(stored.metadata.name, pod.metadata.name);
    Ok(())
}
