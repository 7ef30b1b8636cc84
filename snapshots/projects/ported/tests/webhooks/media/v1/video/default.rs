// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use media_operator::api::media::v1::Video;

use crate::cluster;

/// A new object is defaulted before it is stored. The dry run stores nothing.
#[tokio::test]
async fn defaults_an_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Video>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let video = cluster.minimal_object("defaulted").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let stored = api.create(&params, &video).await?;
    assert!(cluster.operator()?.defaulted(&video));
    assert_eq!(stored.metadata.name, video.metadata.name);
    Ok(())
}
