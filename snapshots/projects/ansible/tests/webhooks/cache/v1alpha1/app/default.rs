// SPDX-License-Identifier: Apache-2.0

use kube::api::PostParams;

use caches::api::cache::v1alpha1::App;

use crate::cluster;

/// A new object is defaulted before it is stored, and defaulting it again changes nothing. The dry
/// run stores nothing.
#[tokio::test]
async fn defaults_an_object() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<App>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let app = cluster.minimal_object("defaulted").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let stored = api.create(&params, &app).await?;
    assert!(cluster.operator()?.defaulted(&app));
    let again = App {
        metadata: app.metadata,
        ..stored.clone()
    };
    assert_eq!(api.create(&params, &again).await?.spec, stored.spec);
    Ok(())
}
