// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::sea_creatures::v1beta1::Kraken;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "sea-creatures-kraken";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Kraken>()?;
    let object = from_value(json!({
        "apiVersion": "sea-creatures.testproject.org/v1beta1",
        "kind": "Kraken",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
