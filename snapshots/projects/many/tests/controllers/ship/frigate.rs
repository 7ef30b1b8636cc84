// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::ship::v1beta1::Frigate;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "ship-frigate";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Frigate>()?;
    let object = from_value(json!({
        "apiVersion": "ship.testproject.org/v1beta1",
        "kind": "Frigate",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
