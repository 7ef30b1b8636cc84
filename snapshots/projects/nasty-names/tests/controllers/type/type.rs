// SPDX-License-Identifier: Apache-2.0

use core_operator::api::r#type::v1::Type;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "type-type";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Type>()?;
    let object = from_value(json!({
        "apiVersion": "type.example.com/v1",
        "kind": "Type",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
