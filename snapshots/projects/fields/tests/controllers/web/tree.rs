// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use operator_runtime::envtest::reported;

use cronjob::api::web::tree::Tree;
use cronjob::controllers::web::tree::READY;

use crate::cluster;

const NAME: &str = "web-tree";

/// The operator reconciles a new object.
#[tokio::test]
async fn is_reconciled() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Tree>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let tree = cluster.minimal_object(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &tree).await?;
    // When `reconcile` does its work: `wait_for(&api, NAME, READY).await?`.
    let ready = reported(&api, NAME, READY).await?;
    assert_eq!(ready.reason, "NotImplemented", "{}", ready.message);
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
