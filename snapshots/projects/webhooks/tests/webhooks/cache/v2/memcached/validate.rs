// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use project_webhooks::api::cache::v2::Memcached;
use serde_json::{from_value, json};

use crate::cluster;

/// A new object that is right may be stored. The dry run stores nothing.
#[tokio::test]
async fn is_let_through() -> anyhow::Result<()> {
    let api = cluster()?.api()?;
    let object: Memcached = from_value(json!({
        "apiVersion": "cache.example.com/v2",
        "kind": "Memcached",
        "metadata": { "name": "test" },
        "spec": {},
    }))?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&params, &object).await?;
    Ok(())
}
