// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::reported;

use project_many::api::ship::frigate::Frigate;
use project_many::controllers::ship::frigate::READY;

use crate::cluster;

const NAME: &str = "ship-frigate";

/// The operator reconciles a new object.
#[tokio::test]
async fn is_reconciled() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Frigate>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let frigate = cluster.minimal_object(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &frigate).await?;
    // When `reconcile` does its work: `wait_for(&api, NAME, READY).await?`.
    let ready = reported(&api, NAME, READY).await?;
    assert_eq!(ready.reason, "NotImplemented", "{}", ready.message);
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
