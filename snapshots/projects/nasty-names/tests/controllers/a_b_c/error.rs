// SPDX-License-Identifier: Apache-2.0

use core_operator::api::a_b_c::v10::ErrorResource;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "a-b-c-error";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<ErrorResource>()?;
    let object = from_value(json!({
        "apiVersion": "a-b.c.example.com/v10",
        "kind": "Error",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
