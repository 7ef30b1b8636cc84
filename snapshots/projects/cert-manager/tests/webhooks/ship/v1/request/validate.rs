use kube::api::PostParams;

use project_cert_manager::api::ship::v1::Request as RequestResource;

use crate::cluster;

/// A valid new object is admitted. The dry run stores nothing.
#[tokio::test]
async fn admits_a_valid_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<RequestResource>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let object = cluster.minimal_object("admitted").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&params, &object).await?;
    assert!(cluster.operator()?.validated(&object));
    Ok(())
}
