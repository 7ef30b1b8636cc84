// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use operator_runtime::ReadyCondition;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use caches::api::edge_example_org::proxy::Proxy;

use crate::cluster;

/// The name of the object, and so of the release.
const NAME: &str = "edge-example-org-proxy";

/// The condition that is `True` when the API server has every object of the release. Nothing runs
/// Pods here, so the release need not become ready.
const RELEASED: ReadyCondition = ReadyCondition::positive("Released");

/// The operator installs a release of a new object.
#[tokio::test]
async fn is_released() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Proxy>()?;
    // The values that the chart requires go into `spec`.
    let proxy: Proxy = from_value(json!({
        "apiVersion": "edge.example.org/v1alpha1",
        "kind": "Proxy",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    let params = PostParams::default();
    api.create(&params, &proxy).await?;
    wait_for(&api, NAME, RELEASED).await?;
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
