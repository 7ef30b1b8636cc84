//! Fields that a version cannot hold are kept through every kind of write.

use anyhow::{Context, Result, ensure};
use kube::{
    ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Controllers,
    envtest::{Cluster, NAMESPACE},
};
use serde_json::{Value, json};

use crate::conversion::{
    setup::{OPTIONS, cluster, create, spec, webhooks, widget, widgets},
    types::{conversion, crds},
};

#[tokio::test]
async fn writes_in_a_smaller_version_lose_nothing() -> Result<()> {
    let cluster = cluster()?;
    let full = json!({
        "displayName": "full",
        "options": { "a": "b" },
        "parts": [{ "name": "x", "color": "red" }, { "name": "y", "color": "blue" }],
    });
    create(cluster, "v1", "full", full.clone()).await?;
    let v1alpha1 = widgets(cluster, "v1alpha1", NAMESPACE)?;
    let expect = async |title: &str, parts: Value| {
        let mut expected = full.clone();
        (expected["displayName"], expected["parts"]) = (title.into(), parts);
        let found = spec(cluster, "v1", "full").await?;
        ensure!(found == expected, "{found}");
        let object = widgets(cluster, "v1", NAMESPACE)?.get("full").await?;
        ensure!(
            object.annotations().is_empty(),
            "{:?}",
            object.annotations()
        );
        Ok(())
    };

    let patch = Patch::Merge(json!({ "spec": { "title": "merged" } }));
    v1alpha1
        .patch("full", &PatchParams::default(), &patch)
        .await?;
    expect("merged", full["parts"].clone()).await?;

    let apply = widget("v1alpha1", "full", &json!({ "title": "applied" }))?;
    let params = PatchParams::apply("test").force();
    v1alpha1
        .patch("full", &params, &Patch::Apply(&apply))
        .await?;
    expect("applied", full["parts"].clone()).await?;

    let mut object = v1alpha1.get("full").await?;
    object.data["spec"] = json!({ "title": "put", "parts": [{ "name": "y" }, { "name": "z" }] });
    v1alpha1
        .replace("full", &PostParams::default(), &object)
        .await?;
    expect(
        "put",
        json!([{ "name": "y", "color": "blue" }, { "name": "z" }]),
    )
    .await?;

    let status = Patch::Merge(json!({ "status": { "ready": true } }));
    v1alpha1
        .patch_status("full", &PatchParams::default(), &status)
        .await?;
    expect(
        "put",
        json!([{ "name": "y", "color": "blue" }, { "name": "z" }]),
    )
    .await
}

#[tokio::test]
async fn an_object_with_too_much_to_keep_is_refused() -> Result<()> {
    let cluster = Cluster::start()?;
    let webhooks = webhooks(conversion());
    let controllers = Controllers::<()>::default();
    let _operator = cluster.run(&OPTIONS, crds("v1"), controllers, webhooks, |_| ())?;
    let options = |size| json!({ "displayName": "large", "options": { "a": "b".repeat(size) } });
    let (fits, large) = (options(255 << 10), options(256 << 10));
    create(&cluster, "v1", "fits", fits.clone()).await?;
    let v1alpha1 = widgets(&cluster, "v1alpha1", NAMESPACE)?;
    let patch = Patch::Merge(json!({ "spec": { "title": "large" } }));
    v1alpha1
        .patch("fits", &PatchParams::default(), &patch)
        .await?;
    ensure!(spec(&cluster, "v1", "fits").await? == fits);

    create(&cluster, "v1", "large", large.clone()).await?;
    let expected = "cannot convert Widget default/large from test.example.com/v1 to \
        test.example.com/v1alpha1: with the fields that this version cannot hold, its annotations have";
    let read = v1alpha1.get("large").await.err();
    let write = v1alpha1
        .patch("large", &PatchParams::default(), &patch)
        .await
        .err();
    for error in [read, write] {
        let error = error.context("it is too large")?.to_string();
        ensure!(error.contains(expected), "{error}");
    }
    ensure!(spec(&cluster, "v1", "large").await? == large);
    Ok(())
}
