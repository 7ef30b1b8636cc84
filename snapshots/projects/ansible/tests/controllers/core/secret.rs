// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::api::core::v1::Secret;
use kube::api::{ListParams, WatchParams};

use crate::cluster;

/// The operator may list and watch this type. To test the role, create an object here, and check the result.
#[tokio::test]
async fn may_watch() -> anyhow::Result<()> {
    let api = cluster()?.operator_api::<Secret>()?;
    let list = api.list(&ListParams::default().limit(1)).await?;
    let version = list.metadata.resource_version.unwrap_or_default();
    // Without permission, this fails before the first event.
    drop(api.watch(&WatchParams::default(), &version).await?);
    Ok(())
}
