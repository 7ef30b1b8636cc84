//! An object that does not convert.

use anyhow::{Context, Result, ensure};
use kube::api::{DeleteParams, ListParams};
use operator_runtime::{
    Controllers, Crds,
    envtest::{Cluster, NAMESPACE},
};
use serde_json::json;

use crate::conversion::{setup::*, types::*};

#[tokio::test]
async fn one_object_that_does_not_convert_fails_only_its_lists() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut crds = Crds::default();
    crds.add_storage::<v1::Widget>();
    crds.add_served::<v2::Widget>();
    let webhooks = webhooks(fallible());
    let controllers = Controllers::<()>::default();
    let _operator = cluster.run(&OPTIONS, crds.merge(), controllers, webhooks, |_| ())?;

    for name in ["1", "2", "three", "panic"] {
        create(
            &cluster,
            "v1",
            &format!("w-{name}"),
            json!({ "displayName": name }),
        )
        .await?;
    }
    ensure!(spec(&cluster, "v2", "w-1").await? == json!({ "number": 1 }));
    let prefix = "cannot convert Widget default/";
    let way = "from test.example.com/v1 to test.example.com/v2";
    let reasons = [
        ("w-three", "invalid digit found in string"),
        ("w-panic", "the conversion panicked: of this name"),
    ];
    let (v1, v2) = (
        widgets(&cluster, "v1", NAMESPACE)?,
        widgets(&cluster, "v2", NAMESPACE)?,
    );
    for (name, reason) in reasons {
        let error = v2.get(name).await.err().context(name)?.to_string();
        ensure!(
            error.contains(&format!("{prefix}{name} {way}: {reason}")),
            "{error}"
        );
    }
    let everything = ListParams::default();
    let error = v2
        .list(&everything)
        .await
        .err()
        .context("a list")?
        .to_string();
    ensure!(error.contains(&format!("{prefix}w-panic {way}")), "{error}");
    ensure!(v1.list(&everything).await?.items.len() == 4);
    // The output of kubectl.
    let mut kubectl = cluster.control_plane().kubectl();
    let output = kubectl
        .args(["get", "widgets.v2.test.example.com", "w-three"])
        .output()?;
    let expected = format!("{prefix}w-three {way}: invalid digit found in string");
    let (_, error) = texts(&output);
    ensure!(
        error.starts_with("Error from server") && error.ends_with(&expected),
        "{error}"
    );

    for name in ["w-three", "w-panic"] {
        v1.delete(name, &DeleteParams::default()).await?;
    }
    ensure!(v2.list(&everything).await?.items.len() == 2);
    Ok(())
}
