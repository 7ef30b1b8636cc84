// SPDX-License-Identifier: Apache-2.0

use core_operator::api::self_::v1::ApiResource;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "self-api";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<ApiResource>()?;
    let object = from_value(json!({
        "apiVersion": "self.example.com/v1",
        "kind": "Api",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
