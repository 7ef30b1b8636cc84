// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;

use project_webhooks::api::cache::v1alpha1::Memcached;
use project_webhooks::controllers::cache::memcached::READY;

use crate::cluster;

const NAME: &str = "cache-memcached";

/// The operator reconciles a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Memcached>()?;
    // The smallest object that the CRD's schema allows. If its rules want more, write one by hand.
    let memcached = cluster.smallest(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &memcached).await?;
    wait_for(&api, NAME, READY).await?;
    // Every call was declared in `controller()`: RBAC refused none.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
