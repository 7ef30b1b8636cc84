// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use imported_operator::api::edge_acme_dev::v1::Gateway;

use crate::cluster;

/// A valid new object is admitted. The dry run stores nothing.
#[tokio::test]
async fn admits_a_valid_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Gateway>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let gateway = cluster.minimal_object("admitted").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&params, &gateway).await?;
    assert!(cluster.operator()?.validated(&gateway));
    Ok(())
}
