// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use manager::envtest::wait_for;
use operator::api::gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::v1::Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>()?;
    let object = from_value(json!({
        "apiVersion": "gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.com/v1",
        "kind": "Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    let condition = "CccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccReady";
    wait_for(&api, NAME, condition).await
}
