// SPDX-License-Identifier: Apache-2.0

use core_operator::api::a_b_c::v10::ErrorResource;
use core_operator::controllers::a_b_c::error::READY;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;

use crate::cluster;

const NAME: &str = "a-b-c-error";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<ErrorResource>()?;
    // As small as the schema of the CRD allows. Where its rules want more, write one of your own.
    let object = cluster.smallest(NAME).await?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, READY).await?;
    // What is not declared in `controller()` is refused.
    assert!(cluster.operator()?.refused().is_empty());
    Ok(())
}
