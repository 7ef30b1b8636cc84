use kube::api::PostParams;
use project_cert_manager::api::ship::v1::Request as RequestResource;

use crate::cluster;

/// A new object that is right may be stored. The dry run stores nothing.
#[tokio::test]
async fn is_let_through() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<RequestResource>()?;
    // As small as the schema of the CRD allows. Where its rules want more, write one of your own.
    let object = cluster.smallest("test").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&params, &object).await?;
    assert!(cluster.operator()?.asked_to_validate(&object));
    Ok(())
}
