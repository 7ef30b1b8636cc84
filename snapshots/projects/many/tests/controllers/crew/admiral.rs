// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::crew::v1::Admiral;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "crew-admiral";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Admiral>()?;
    let object = from_value(json!({
        "apiVersion": "crew.testproject.org/v1",
        "kind": "Admiral",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
