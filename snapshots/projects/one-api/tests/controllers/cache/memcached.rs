// SPDX-FileCopyrightText: Example Inc.
// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use memcached_operator::api::cache::v1alpha1::Memcached;
use operator_runtime::envtest::wait_for;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "cache-memcached";

/// The operator fulfils a new object.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let api = cluster()?.api::<Memcached>()?;
    let object = from_value(json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    api.create(&PostParams::default(), &object).await?;
    wait_for(&api, NAME, "Ready").await
}
