// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;
use project_webhooks::api::cache::v1::Memcached as Hub;
use project_webhooks::api::cache::v1alpha1::Memcached as Spoke;
use serde_json::{from_value, json};

use crate::cluster;

const NAME: &str = "from-v1alpha1";

/// An object that is written in v1alpha1 can be read in v1, and is what it was in v1alpha1.
#[tokio::test]
async fn is_read_in_both_versions() -> anyhow::Result<()> {
    let spoke = cluster()?.api::<Spoke>()?;
    let hub = cluster()?.api::<Hub>()?;
    let object = from_value(json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": { "name": NAME },
        "spec": {},
    }))?;
    let written = spoke.create(&PostParams::default(), &object).await?;
    let converted = hub.get(NAME).await?;
    assert_eq!(converted.metadata.uid, written.metadata.uid);
    assert_eq!(spoke.get(NAME).await?.spec, written.spec);
    Ok(())
}
