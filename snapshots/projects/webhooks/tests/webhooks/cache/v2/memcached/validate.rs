// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use project_webhooks::api::cache::v2::Memcached;

use crate::cluster;

/// A new object that is right may be stored. The dry run stores nothing.
#[tokio::test]
async fn is_let_through() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Memcached>()?;
    // As small as the schema of the CRD allows. Where its rules want more, write one of your own.
    let object = cluster.smallest("test").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&params, &object).await?;
    assert!(cluster.operator()?.asked_to_validate(&object));
    Ok(())
}
