// SPDX-License-Identifier: MIT

use std::time::Duration;

use anyhow::ensure;
use kube::api::{DeleteParams, PostParams};
use operator_runtime::envtest::{eventually, wait_for};
use project_many::api::ship::v2alpha1::Cruiser;
use project_many::controllers::ship::cruiser::READY;

use crate::cluster;

const NAME: &str = "ship-cruiser";

/// The operator fulfils a new object, and cleans up after it.
#[tokio::test]
async fn becomes_ready_and_goes() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Cruiser>()?;
    // As small as the schema of the CRD allows. Where its rules want more, write one of your own.
    let object = cluster.smallest(NAME).await?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, READY).await?;
    api.delete(NAME, &DeleteParams::default()).await?;
    eventually(Duration::from_secs(30), async || {
        let object = api.get_opt(NAME).await?;
        ensure!(object.is_none(), "it does not go: {object:?}");
        Ok(())
    })
    .await?;
    // What is not declared in `controller()` is refused.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
