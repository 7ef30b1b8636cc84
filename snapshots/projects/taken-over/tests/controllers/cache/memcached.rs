// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use operator_runtime::ReadyCondition;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use caches::api::cache::memcached::Memcached;

use crate::cluster;

/// The name of the object, and so of the release.
const NAME: &str = "cache-memcached";

/// The condition that is `True` when the API server has every object of the release. Nothing runs
/// Pods here, so the release need not become ready.
const RELEASED: ReadyCondition = ReadyCondition::positive("Released");

/// The operator installs a release of a new object.
#[tokio::test]
async fn is_released() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Memcached>()?;
    // The values that the chart requires go into `spec`.
    let memcached: Memcached = from_value(json!({
        "apiVersion": "cache.example.com/v1",
        "kind": "Memcached",
        "metadata": { "name": NAME, "labels": { "tier": "cache" } },
        "spec": {},
    }))?;
    let params = PostParams::default();
    api.create(&params, &memcached).await?;
    wait_for(&api, NAME, RELEASED).await?;
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
