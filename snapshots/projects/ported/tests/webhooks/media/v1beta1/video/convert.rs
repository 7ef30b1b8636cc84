// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use media_operator::api::media::v1::Video as Hub;
use media_operator::api::media::v1beta1::Video as Spoke;

use crate::cluster;

const NAME: &str = "from-v1beta1";

/// An object written in v1beta1 can be read in v1 and in v1beta1.
#[tokio::test]
async fn is_read_in_both_versions() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let (spoke, hub) = (cluster.api::<Spoke>()?, cluster.api::<Hub>()?);
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let object = cluster.minimal_object(NAME).await?;
    let written = spoke.create(&PostParams::default(), &object).await?;
    let converted = hub.get(NAME).await?;
    assert_eq!(converted.metadata.uid, written.metadata.uid);
    assert_eq!(spoke.get(NAME).await?.spec, written.spec);
    assert!(cluster.operator()?.converted(&converted));
    Ok(())
}
