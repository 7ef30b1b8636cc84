// SPDX-License-Identifier: MIT

use std::time::Duration;

use anyhow::ensure;
use kube::api::{DeleteParams, PostParams};
use operator_runtime::envtest::{eventually, reported};

use project_many::api::ship::cruiser::Cruiser;
use project_many::controllers::ship::cruiser::READY;

use crate::cluster;

const NAME: &str = "ship-cruiser";

/// The operator reconciles a new object, and cleans up after it.
#[tokio::test]
async fn is_reconciled_and_deleted() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Cruiser>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let cruiser = cluster.minimal_object(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &cruiser).await?;
    // When `reconcile` does its work: `wait_for(&api, NAME, READY).await?`.
    let ready = reported(&api, NAME, READY).await?;
    assert_eq!(ready.reason, "NotImplemented", "{}", ready.message);
    api.delete(NAME, &DeleteParams::default()).await?;
    eventually(Duration::from_secs(30), async || {
        let left = api.get_opt(NAME).await?;
        ensure!(left.is_none(), "still there: {left:?}");
        Ok(())
    })
    .await?;
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
