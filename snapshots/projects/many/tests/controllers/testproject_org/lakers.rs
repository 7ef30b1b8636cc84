// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::testproject_org::v1::Lakers;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "lakers";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Lakers>()?;
    let object = from_value(json!({
        "apiVersion": "testproject.org/v1",
        "kind": "Lakers",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
