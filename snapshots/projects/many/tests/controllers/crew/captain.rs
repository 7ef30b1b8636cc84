// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;

use project_many::api::crew::v1::Captain;
use project_many::controllers::crew::captain::READY;

use crate::cluster;

const NAME: &str = "crew-captain";

/// The operator reconciles a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Captain>()?;
    // The smallest object that the CRD's schema allows. If its rules want more, write one by hand.
    let captain = cluster.smallest(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &captain).await?;
    wait_for(&api, NAME, READY).await?;
    // Every call was declared in `controller()`: RBAC refused none.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
