// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use project_webhooks::api::cache::v1alpha1::Memcached;
use serde_json::{from_value, json};

use crate::cluster;

/// A new object is defaulted before it is stored, and what would be stored lacks nothing. The dry run
/// stores nothing.
#[tokio::test]
async fn is_defaulted() -> anyhow::Result<()> {
    let api = cluster()?.api()?;
    let object: Memcached = from_value(json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": { "name": "test" },
        "spec": {},
    }))?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let stored = api.create(&params, &object).await?;
    let again = Memcached {
        metadata: object.metadata,
        ..stored.clone()
    };
    assert_eq!(api.create(&params, &again).await?.spec, stored.spec);
    Ok(())
}
