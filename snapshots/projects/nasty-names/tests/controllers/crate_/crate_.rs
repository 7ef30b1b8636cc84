// SPDX-License-Identifier: Apache-2.0

use core_operator::api::crate_::v1alpha1::Crate;
use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "crate-crate";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Crate>()?;
    let object = from_value(json!({
        "apiVersion": "crate.example.com/v1alpha1",
        "kind": "Crate",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
