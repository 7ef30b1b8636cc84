// SPDX-License-Identifier: MIT

use std::time::Duration;

use anyhow::ensure;
use kube::api::{DeleteParams, PostParams};
use operator_runtime::envtest::{eventually, reported};

use project_many::api::sea_creatures::kraken::Kraken;
use project_many::controllers::sea_creatures::kraken::READY;

use crate::cluster;

const NAME: &str = "sea-creatures-kraken";

/// The operator reconciles a new object, and cleans up after it.
#[tokio::test]
async fn is_reconciled_and_deleted() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Kraken>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let kraken = cluster.minimal_object(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &kraken).await?;
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
