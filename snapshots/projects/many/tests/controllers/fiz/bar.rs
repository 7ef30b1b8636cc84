// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::fiz::v1::Bar;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "fiz-bar";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Bar>()?;
    let object = from_value(json!({
        "apiVersion": "fiz.testproject.org/v1",
        "kind": "Bar",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
