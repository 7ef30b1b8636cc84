// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use imported_operator::api::storage::v1::Backup;

use crate::cluster;

/// A new object is defaulted before it is stored. The dry run stores nothing.
#[tokio::test]
async fn defaults_an_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Backup>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let backup = cluster.minimal_object("defaulted").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let stored = api.create(&params, &backup).await?;
    assert!(cluster.operator()?.defaulted(&backup));
    assert_eq!(stored.metadata.name, backup.metadata.name);
    Ok(())
}
