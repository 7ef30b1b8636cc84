// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use caches::api::cache::v1alpha1::App;

use crate::cluster;

/// A valid new object is admitted. The dry run stores nothing.
#[tokio::test]
async fn admits_a_valid_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<App>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let app = cluster.minimal_object("admitted").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&params, &app).await?;
    assert!(cluster.operator()?.validated(&app));
    Ok(())
}
