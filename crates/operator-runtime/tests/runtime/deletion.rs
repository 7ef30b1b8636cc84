//! What a deletion does to the objects that an operator makes, with the real garbage collection.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, NAMESPACE, Options},
    webhook::Webhooks,
};
use serde_json::{from_value, json};
use tokio::time::sleep;

use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "deletion.example.com",
    scope: WatchScope::Cluster,
};

/// The uids that the child `quick` had.
static QUICK: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);

/// Makes a child that goes at once, and one that somebody holds.
async fn reconcile(widget: Arc<Widget>, applier: Arc<Applier>) -> kube::Result<Action> {
    let child = |name: &str, finalizers: &[&str]| {
        let metadata = json!({ "name": name, "finalizers": finalizers });
        from_value::<ConfigMap>(json!({ "metadata": metadata })).map_err(kube::Error::SerdeError)
    };
    let quick = applier.owned(&*widget, child("quick", &[])?).await?;
    QUICK.lock().unwrap().extend(quick.uid);
    applier
        .owned(&*widget, child("slow", &["test.example.com/held"])?)
        .await?;
    Ok(Action::await_change())
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !holds().await? {
        if begin.elapsed() > Duration::from_secs(30) {
            bail!("{what}: not after 30 s");
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

#[tokio::test]
async fn nothing_is_made_for_an_owner_that_waits_for_its_children() -> Result<()> {
    let options = Options {
        controller_manager: true,
        ..Options::default()
    };
    let cluster = Cluster::start_with(&options)?;
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("widgets", reconcile).owns::<ConfigMap>());
    let _operator = cluster.run(
        &OPTIONS,
        crate::widget::crds(),
        controllers,
        Webhooks::default(),
        Manager::applier,
    )?;
    let client = cluster.client()?;
    let widgets: Api<Widget> = Api::namespaced(client.clone(), NAMESPACE);
    let children: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let widget = Widget::new("parent", WidgetSpec::default());
    widgets.create(&PostParams::default(), &widget).await?;
    until("the children are made", async || {
        Ok(children.get_opt("slow").await?.is_some())
    })
    .await?;

    widgets
        .delete("parent", &DeleteParams::foreground())
        .await?;
    until("the quick child goes", async || {
        let quick = children.get_opt("quick").await?;
        Ok(quick.is_none_or(|quick| {
            !QUICK
                .lock()
                .unwrap()
                .contains(&quick.uid().unwrap_or_default())
        }))
    })
    .await?;
    // As long as the slow one is there, the owner is, and its reconcile may run.
    sleep(Duration::from_secs(3)).await;
    let parent = widgets.get("parent").await?;
    ensure!(parent.finalizers() == ["foregroundDeletion"], "{parent:?}");
    let made = QUICK.lock().unwrap().len();
    ensure!(made == 1, "the quick child was made {made} times");

    let release = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    children
        .patch("slow", &PatchParams::default(), &release)
        .await?;
    until("the owner goes", async || {
        Ok(widgets.get_opt("parent").await?.is_none())
    })
    .await
}
