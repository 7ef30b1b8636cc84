use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_cert_manager::api::ship::v1::Request;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "ship-request";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Request>()?;
    let object = from_value(json!({
        "apiVersion": "ship.example.com/v1",
        "kind": "Request",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
