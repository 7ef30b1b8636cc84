// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::sea_creatures::v1beta1::Kraken;
use project_many::controllers::sea_creatures::kraken::READY;

use crate::cluster;

const NAME: &str = "sea-creatures-kraken";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Kraken>()?;
    // As small as the schema of the CRD allows. Where its rules want more, write one of your own.
    let object = cluster.smallest(NAME).await?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, READY).await?;
    // What is not declared in `controller()` is refused.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
