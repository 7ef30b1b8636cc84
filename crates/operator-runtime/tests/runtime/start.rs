//! The start of an operator with many objects.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use futures::future::try_join_all;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Action, Controller, Controllers, ManagerOptions, WatchScope,
    envtest::{Cluster, NAMESPACE, eventually},
    webhook::Webhooks,
};
use serde_json::json;
use tokio::time::sleep;

use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "start.example.com",
    scope: WatchScope::Cluster,
};

const OBJECTS: usize = 200;

/// The names and sizes of widgets, in the order of their reconciles.
static SEEN: Mutex<Vec<(String, i32)>> = Mutex::new(Vec::new());

async fn reconcile(widget: Arc<Widget>, _: Arc<()>) -> kube::Result<Action> {
    sleep(Duration::from_millis(40)).await;
    let seen = (widget.name_any(), widget.spec.size);
    SEEN.lock().unwrap().push(seen);
    Ok(Action::await_change())
}

/// controller-runtime gives its initial list a lower priority, too.
#[tokio::test]
async fn an_edit_does_not_wait_for_all_objects() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crate::widget::crds()).await?;
    let api: Api<Widget> = Api::namespaced(cluster.client()?, NAMESPACE);
    let params = PostParams::default();
    let names = (0..OBJECTS).map(|number| format!("w-{number:03}"));
    let widgets: Vec<_> = names
        .map(|name| Widget::new(&name, WidgetSpec::default()))
        .collect();
    try_join_all(widgets.iter().map(|widget| api.create(&params, widget))).await?;

    let mut controllers = Controllers::default();
    controllers.add(Controller::new("widgets", reconcile));
    let crds = crate::widget::crds();
    let _operator = cluster.run(&OPTIONS, crds, controllers, Webhooks::default(), |_| ())?;
    eventually(Duration::from_secs(30), async || {
        ensure!(SEEN.lock().unwrap().len() > 5, "it does not begin");
        Ok(())
    })
    .await?;
    let (before, last) = {
        let seen = SEEN.lock().unwrap();
        let unseen = widgets.iter().rev().map(ResourceExt::name_any);
        let mut unseen = unseen.filter(|name| seen.iter().all(|(other, _)| other != name));
        (seen.len(), unseen.next().context("it has seen all")?)
    };
    let edit = Patch::Merge(json!({ "spec": { "size": 7 } }));
    api.patch(&last, &PatchParams::default(), &edit).await?;
    let at = eventually(Duration::from_secs(30), async || {
        let seen = SEEN.lock().unwrap();
        let at = seen
            .iter()
            .position(|(name, size)| *name == last && *size == 7);
        at.with_context(|| format!("{} objects, not {last}", seen.len()))
    })
    .await?;
    ensure!(
        at < before + OBJECTS / 2,
        "{before} before the edit, {at} before it was seen"
    );
    eventually(Duration::from_secs(30), async || {
        let seen = SEEN.lock().unwrap().len();
        ensure!(seen >= OBJECTS, "only {seen}");
        Ok(())
    })
    .await
}
