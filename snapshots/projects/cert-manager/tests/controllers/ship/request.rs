use kube::api::PostParams;
use operator_runtime::envtest::wait_for;

use project_cert_manager::api::ship::v1::Request;
use project_cert_manager::controllers::ship::request::READY;

use crate::cluster;

const NAME: &str = "ship-request";

/// The operator reconciles a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Request>()?;
    // The smallest object that the CRD's schema allows. If its rules want more, write one by hand.
    let object = cluster.smallest(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &object).await?;
    wait_for(&api, NAME, READY).await?;
    // Every call was declared in `controller()`: RBAC refused none.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
