// SPDX-License-Identifier: Apache-2.0

use core_operator::api::self_::v1::ConditionResource;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "self-condition";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<ConditionResource>()?;
    let object = from_value(json!({
        "apiVersion": "self.example.com/v1",
        "kind": "Condition",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
