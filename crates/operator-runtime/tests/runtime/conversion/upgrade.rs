//! Replicas of two versions of the operator, and a version of the kind that is added later.

use anyhow::{Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    ResourceExt,
    api::{ListParams, Patch, PatchParams},
};
use operator_runtime::{
    Controllers, Crds,
    envtest::{Cluster, NAMESPACE, Operator},
    webhook::{Conversion, Spoke},
};
use serde_json::json;

use crate::conversion::{older, setup::*, types::*};

fn run(
    cluster: &Cluster,
    crds: Vec<CustomResourceDefinition>,
    conversion: impl Into<Conversion>,
) -> Result<Operator> {
    let controllers = Controllers::<()>::default();
    let crds: Result<_, &str> = Ok(crds);
    cluster.run(&OPTIONS, crds, controllers, webhooks(conversion), |_| ())
}

#[tokio::test]
async fn an_upgrade_loses_nothing() -> Result<()> {
    let cluster = Cluster::start()?;
    let newer = run(&cluster, crds("v1")?, conversion())?;
    create(
        &cluster,
        "v1",
        "a",
        json!({ "displayName": "a", "note": "kept" }),
    )
    .await?;
    create(
        &cluster,
        "v1alpha1",
        "b",
        json!({ "title": "b", "note": "kept" }),
    )
    .await?;
    newer.stop()?;

    // A replica that does not know the note converts everything while the others are replaced.
    let older = run(&cluster, crds("v1")?, older::conversion())?;
    let v1alpha1 = widgets(&cluster, "v1alpha1", NAMESPACE)?;
    for name in ["a", "b"] {
        ensure!(
            spec(&cluster, "v1alpha1", name).await? == json!({ "title": name, "note": "kept" })
        );
        let patch = Patch::Merge(json!({ "spec": { "title": "changed" } }));
        v1alpha1
            .patch(name, &PatchParams::default(), &patch)
            .await?;
    }
    create(
        &cluster,
        "v1alpha1",
        "c",
        json!({ "title": "changed", "note": "kept" }),
    )
    .await?;
    older.stop()?;

    let newer = run(&cluster, crds("v1")?, conversion())?;
    for name in ["a", "b", "c"] {
        let found = spec(&cluster, "v1", name).await?;
        ensure!(
            found == json!({ "displayName": "changed", "note": "kept" }),
            "{found}"
        );
    }
    newer.stop()?;

    // A third version adds a spoke; stored objects stay unchanged.
    let mut third = Crds::default();
    third.add_storage::<v1::Widget>();
    third.add_served::<v1alpha1::Widget>();
    third.add_served::<v1beta1::Widget>();
    let mut conversion = conversion();
    conversion.add(Spoke::of::<v1beta1::Widget>());
    let before = widgets(&cluster, "v1", NAMESPACE)?
        .get("a")
        .await?
        .resource_version();
    let _operator = run(&cluster, third.merge()?, conversion)?;
    create(&cluster, "v1beta1", "d", json!({ "names": ["one", "two"] })).await?;
    ensure!(spec(&cluster, "v1alpha1", "d").await? == json!({ "title": "one two" }));
    ensure!(spec(&cluster, "v1beta1", "a").await? == json!({ "names": ["changed"] }));
    let list = widgets(&cluster, "v1beta1", NAMESPACE)?
        .list(&ListParams::default())
        .await?;
    ensure!(list.items.len() == 4);
    let after = widgets(&cluster, "v1", NAMESPACE)?
        .get("a")
        .await?
        .resource_version();
    ensure!(before == after);
    Ok(())
}
