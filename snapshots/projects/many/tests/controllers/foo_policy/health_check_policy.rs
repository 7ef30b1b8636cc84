// SPDX-License-Identifier: MIT

use kube::api::PostParams;
use operator_runtime::envtest::wait_for;
use project_many::api::foo_policy::v1::HealthCheckPolicy;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "foo-policy-healthcheckpolicy";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<HealthCheckPolicy>()?;
    let object = from_value(json!({
        "apiVersion": "foo.policy.testproject.org/v1",
        "kind": "HealthCheckPolicy",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
