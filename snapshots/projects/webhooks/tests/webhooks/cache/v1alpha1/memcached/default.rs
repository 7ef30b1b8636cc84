// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use project_webhooks::api::cache::v1alpha1::Memcached;

use crate::cluster;

/// A new object is defaulted before it is stored, and what would be stored lacks nothing. The dry run
/// stores nothing.
#[tokio::test]
async fn is_defaulted() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Memcached>()?;
    // As small as the schema of the CRD allows. Where its rules want more, write one of your own.
    let object = cluster.smallest("test").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let stored = api.create(&params, &object).await?;
    assert!(cluster.operator()?.asked_to_default(&object));
    let again = Memcached {
        metadata: object.metadata,
        ..stored.clone()
    };
    assert_eq!(api.create(&params, &again).await?.spec, stored.spec);
    Ok(())
}
