//! Lists, watches and garbage collection through a conversion.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, TryStreamExt, future::try_join_all, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::json;

use crate::conversion::setup::*;

#[tokio::test]
async fn a_list_of_five_hundred_converts() -> Result<()> {
    let cluster = cluster()?;
    namespace(cluster, "many").await?;
    let v1 = widgets(cluster, "v1", "many")?;
    let names: Vec<_> = (0..500).map(|index| format!("widget-{index:03}")).collect();
    let create = |name: &String| {
        let (v1, name) = (v1.clone(), name.clone());
        async move {
            let object = widget(
                "v1",
                &name,
                &json!({ "displayName": name, "options": { "a": "b" } }),
            )?;
            v1.create(&PostParams::default(), &object).await?;
            anyhow::Ok(())
        }
    };
    stream::iter(names.iter().map(create))
        .buffer_unordered(16)
        .try_collect::<Vec<_>>()
        .await?;

    let begin = Instant::now();
    let list = widgets(cluster, "v1alpha1", "many")?
        .list(&ListParams::default())
        .await?;
    println!(
        "a list of 500 in another version took {:?}",
        begin.elapsed()
    );
    ensure!(
        list.items
            .iter()
            .map(ResourceExt::name_any)
            .eq(names.iter().cloned())
    );
    for object in &list.items {
        ensure!(object.data["spec"] == json!({ "title": object.name_any() }));
        ensure!(
            object
                .annotations()
                .contains_key("conversion.test.example.com/v1")
        );
        ensure!(
            object
                .metadata
                .managed_fields
                .as_ref()
                .is_some_and(|fields| !fields.is_empty())
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_watch_converts() -> Result<()> {
    let cluster = cluster()?;
    namespace(cluster, "watched").await?;
    let (v1, v1alpha1) = (
        widgets(cluster, "v1", "watched")?,
        widgets(cluster, "v1alpha1", "watched")?,
    );
    let begin = v1alpha1
        .list(&ListParams::default())
        .await?
        .metadata
        .resource_version;
    let stream = v1alpha1
        .watch(&WatchParams::default(), &begin.unwrap_or_default())
        .await?;
    let mut stream = std::pin::pin!(stream);

    let object = widget("v1", "a", &json!({ "displayName": "one" }))?;
    v1.create(&PostParams::default(), &object).await?;
    let change = Patch::Merge(json!({ "spec": { "displayName": "two" } }));
    v1.patch("a", &PatchParams::default(), &change).await?;
    v1.delete("a", &DeleteParams::default()).await?;

    let mut seen = Vec::new();
    while seen.len() < 3 {
        let (kind, object) = match stream.try_next().await?.context("the watch ended")? {
            WatchEvent::Added(object) => ("added", object),
            WatchEvent::Modified(object) => ("modified", object),
            WatchEvent::Deleted(object) => ("deleted", object),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => bail!("{status}"),
        };
        let version = object.types.context("no type")?.api_version;
        ensure!(version == "test.example.com/v1alpha1", "{version}");
        seen.push(format!("{kind} {}", object.data["spec"]["title"]));
    }
    ensure!(
        seen == ["added \"one\"", "modified \"two\"", "deleted \"two\""],
        "{seen:?}"
    );
    Ok(())
}

#[tokio::test]
async fn controllers_and_garbage_collection_work() -> Result<()> {
    let cluster = cluster()?;
    namespace(cluster, "collected").await?;
    let v1alpha1 = widgets(cluster, "v1alpha1", "collected")?;
    let children: Api<ConfigMap> = Api::namespaced(cluster.client()?, "collected");
    let names = ["background", "foreground"];
    for name in names {
        let object = widget("v1alpha1", name, &json!({ "title": name }))?;
        v1alpha1.create(&PostParams::default(), &object).await?;
    }
    // The controller reads v1.
    let children = &children;
    until(|| async move {
        let found = try_join_all(names.map(|name| children.get_opt(name))).await?;
        let data = |child: ConfigMap| child.data.and_then(|data| data.get("name").cloned());
        let found = found.into_iter().map(|child| child.and_then(data));
        Ok(found.eq(names.map(|name| Some(name.to_owned()))))
    })
    .await?;
    v1alpha1
        .delete("background", &DeleteParams::background())
        .await?;
    v1alpha1
        .delete("foreground", &DeleteParams::foreground())
        .await?;
    until(|| async move {
        let gone = try_join_all(names.map(|name| children.get_opt(name))).await?;
        Ok(gone.iter().all(Option::is_none))
    })
    .await?;
    until(|| async {
        Ok(v1alpha1
            .list(&ListParams::default())
            .await?
            .items
            .is_empty())
    })
    .await
}
