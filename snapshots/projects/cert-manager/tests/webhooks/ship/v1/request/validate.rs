use kube::api::PostParams;
use project_cert_manager::api::ship::v1::Request as RequestResource;
use serde_json::{from_value, json};

use crate::cluster;

/// A new object that is right may be stored. The dry run stores nothing.
#[tokio::test]
async fn is_let_through() -> anyhow::Result<()> {
    let api = cluster()?.api()?;
    let object: RequestResource = from_value(json!({
        "apiVersion": "ship.example.com/v1",
        "kind": "Request",
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
