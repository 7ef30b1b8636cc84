// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;

use project_many::api::foo_policy::v1::HealthCheckPolicy;
use project_many::controllers::foo_policy::health_check_policy::READY;

use crate::cluster;

const NAME: &str = "foo-policy-healthcheckpolicy";

/// The operator reconciles a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<HealthCheckPolicy>()?;
    // The smallest object that the CRD's schema allows. If its rules want more, write one by hand.
    let health_check_policy = cluster.smallest(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &health_check_policy).await?;
    wait_for(&api, NAME, READY).await?;
    // Every call was declared in `controller()`: RBAC refused none.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
