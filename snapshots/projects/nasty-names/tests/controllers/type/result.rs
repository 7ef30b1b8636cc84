// SPDX-License-Identifier: Apache-2.0

use core_operator::api::r#type::v1::ResultResource;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "type-result";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<ResultResource>()?;
    let object = from_value(json!({
        "apiVersion": "type.example.com/v1",
        "kind": "Result",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
