// SPDX-FileCopyrightText: Example Inc.
// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use memcached_operator::api::cache::v1alpha1::Memcached;
use memcached_operator::controllers::cache::memcached::READY;
use operator_runtime::envtest::wait_for;

use crate::cluster;

const NAME: &str = "cache-memcached";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Memcached>()?;
    // As small as the schema of the CRD allows. Where its rules want more, write one of your own.
    let object = cluster.smallest(NAME).await?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, READY).await?;
    // What is not declared in `controller()` is refused.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
