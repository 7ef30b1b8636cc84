// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use cronjob::api::web::v1alpha1::Page;

use crate::cluster;

/// A valid new object is admitted. The dry run stores nothing.
#[tokio::test]
async fn admits_a_valid_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Page>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let page = cluster.minimal_object("admitted").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&params, &page).await?;
    assert!(cluster.operator()?.validated(&page));
    Ok(())
}
