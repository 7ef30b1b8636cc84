// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use manager::envtest::wait_for;
use operator::api::main::v1::Main;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "main-main";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Main>()?;
    let object = from_value(json!({
        "apiVersion": "main.example.com/v1",
        "kind": "Main",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
