// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::crew::v2::FirstMate;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "crew-firstmate";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<FirstMate>()?;
    let object = from_value(json!({
        "apiVersion": "crew.testproject.org/v2",
        "kind": "FirstMate",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
