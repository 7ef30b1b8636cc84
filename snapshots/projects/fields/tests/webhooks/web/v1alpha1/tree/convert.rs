// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use cronjob::api::web::v1::Tree as Hub;
use cronjob::api::web::v1alpha1::Tree as Spoke;

use crate::cluster;

const NAME: &str = "from-v1alpha1";

/// An object written in v1alpha1 can be read in v1 and in v1alpha1.
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
