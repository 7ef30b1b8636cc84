// SPDX-License-Identifier: Apache-2.0

use core_operator::api::r#async::v2beta3::ClientResource;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "async-client";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<ClientResource>()?;
    let object = from_value(json!({
        "apiVersion": "async.example.com/v2beta3",
        "kind": "Client",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
