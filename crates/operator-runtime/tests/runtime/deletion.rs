//! What a deletion does to the objects that an operator makes, with the real garbage collection.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, NAMESPACE, Options, eventually},
    status,
    webhook::Webhooks,
};
use serde_json::{from_value, json};
use tokio::time::sleep;

use crate::widget::{Widget, WidgetSpec, WidgetStatus};

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

const PATIENCE: Duration = Duration::from_secs(30);

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
    eventually(PATIENCE, async || Ok(children.get("slow").await?)).await?;

    widgets
        .delete("parent", &DeleteParams::foreground())
        .await?;
    eventually(PATIENCE, async || {
        let quick = children
            .get_opt("quick")
            .await?
            .and_then(|quick| quick.uid());
        let first = quick.filter(|uid| QUICK.lock().unwrap().contains(uid));
        ensure!(first.is_none(), "the quick child does not go");
        Ok(())
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
    eventually(PATIENCE, async || {
        ensure!(
            widgets.get_opt("parent").await?.is_none(),
            "the owner does not go"
        );
        Ok(())
    })
    .await
}

/// Somebody deleted it while it was reconciled.
#[tokio::test]
async fn the_status_of_an_object_that_is_gone_is_nothing() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crate::widget::crds()).await?;
    let widgets: Api<Widget> = Api::namespaced(cluster.client()?, NAMESPACE);
    let widget = Widget::new("gone", WidgetSpec::default());
    let widget = widgets.create(&PostParams::default(), &widget).await?;
    widgets.delete("gone", &DeleteParams::default()).await?;
    let new = WidgetStatus {
        observed_generation: Some(1),
        ..WidgetStatus::default()
    };
    let left = status::patch(&widgets, &widget, &new).await?;
    ensure!(left.status.is_none(), "{left:?}");

    // A type without the subresource is another mistake.
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client()?, NAMESPACE);
    let config: ConfigMap = from_value(json!({ "metadata": { "name": "config" } }))?;
    let config = configs.create(&PostParams::default(), &config).await?;
    let refused = status::patch_with(&configs, &config, &new).await;
    ensure!(refused.is_err(), "a ConfigMap has no status");
    Ok(())
}
