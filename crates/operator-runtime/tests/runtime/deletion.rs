//! Deletion of owners, with the real garbage collector.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use anyhow::{Result, ensure};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Condition};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Manager, ManagerOptions, ReadyCondition, WatchScope,
    conditions,
    envtest::{Cluster, NAMESPACE, Options, eventually, wait_for},
    finalizer, status,
    webhook::Webhooks,
};
use serde_json::{from_value, json};
use tokio::time::sleep;

use crate::widget::{Widget, WidgetSpec, WidgetStatus};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "deletion.example.com",
    scope: WatchScope::Cluster,
};

/// The uids of the child `quick`.
static QUICK: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);

/// Applies a child that is deleted at once, and one with a finalizer.
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
async fn nothing_is_created_for_an_owner_under_foreground_deletion() -> Result<()> {
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
    // While the slow child exists, so does the owner, and its reconcile may run.
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

const FINALIZER: &str = "test.example.com/cleanup";
const HEALTHY: ReadyCondition = ReadyCondition::negative("Degraded");

/// The number of cleanups by `cleaned`.
static TRIES: AtomicU32 = AtomicU32::new(0);
/// The result of the cleanup: not done yet, a failure, done.
static CLEAN_UP: AtomicU32 = AtomicU32::new(0);

/// Cleans up when the test allows it.
async fn cleaned(widget: Arc<Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let api: Api<Widget> = Api::namespaced((*client).clone(), NAMESPACE);
    match finalizer::ensure(&api, &*widget, FINALIZER).await? {
        finalizer::Event::Apply(widget) => {
            let mut new = widget.status.clone().unwrap_or_default();
            let healthy = HEALTHY.of(&widget, true, "Reconciled", "");
            conditions::set(&mut new.conditions, healthy);
            status::patch(&api, &widget, &new).await?;
        }
        finalizer::Event::Cleanup => {
            let widget = finalizer::terminating(&api, &*widget, HEALTHY).await?;
            TRIES.fetch_add(1, Relaxed);
            match CLEAN_UP.load(Relaxed) {
                0 => return Ok(Action::requeue(Duration::from_millis(20))),
                1 => return Err(kube::Error::Service("the storage is away".into())),
                _ => finalizer::remove(&api, &widget, FINALIZER).await?,
            }
        }
        finalizer::Event::Gone => {}
    }
    Ok(Action::await_change())
}

/// Waits for the reason of `Degraded`, and checks that further cleanups leave it unchanged.
async fn stays(widgets: &Api<Widget>, reason: &str) -> Result<()> {
    let shown = eventually(PATIENCE, async || {
        let widget = widgets.get("kept").await?;
        let status = widget.status.clone().unwrap_or_default();
        let of_now = |it: &Condition| it.observed_generation == widget.metadata.generation;
        let found =
            |it: &Condition| (&*it.type_, &*it.status, &*it.reason) == ("Degraded", "True", reason);
        let is_shown = status.conditions.iter().any(|it| found(it) && of_now(it));
        ensure!(is_shown, "{status:?}");
        ensure!(
            status.observed_generation == widget.metadata.generation,
            "{status:?}"
        );
        Ok(widget)
    })
    .await?;
    let tries = TRIES.load(Relaxed);
    eventually(PATIENCE, async || {
        ensure!(TRIES.load(Relaxed) > tries + 2, "it is not tried again");
        Ok(())
    })
    .await?;
    let now = widgets.get("kept").await?;
    ensure!(
        now.resource_version() == shown.resource_version(),
        "{now:?}"
    );
    Ok(())
}

/// During the cleanup, its condition shows why the object still exists.
#[tokio::test]
async fn an_object_reports_its_cleanup() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut controllers = Controllers::default();
    let controller = Controller::new("cleaned", cleaned);
    controllers.add(controller.condition(HEALTHY).finalizer());
    let operator = cluster.run(
        &OPTIONS,
        crate::widget::crds(),
        controllers,
        Webhooks::default(),
        Manager::client,
    )?;
    let widgets: Api<Widget> = Api::namespaced(cluster.client()?, NAMESPACE);
    let widget = Widget::new("kept", WidgetSpec::default());
    widgets.create(&PostParams::default(), &widget).await?;
    wait_for(&widgets, "kept", HEALTHY).await?;

    widgets.delete("kept", &DeleteParams::default()).await?;
    stays(&widgets, "Terminating").await?;
    CLEAN_UP.store(1, Relaxed);
    stays(&widgets, "ApiCallFailed").await?;
    CLEAN_UP.store(2, Relaxed);
    eventually(PATIENCE, async || {
        let widget = widgets.get_opt("kept").await?;
        ensure!(widget.is_none(), "it does not go: {widget:?}");
        Ok(())
    })
    .await?;
    // Fails if a request was refused.
    operator.stop()
}

/// The object was deleted while it was reconciled.
#[tokio::test]
async fn a_status_patch_of_a_deleted_object_is_skipped() -> Result<()> {
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

    // A missing status subresource is a different error.
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client()?, NAMESPACE);
    let config: ConfigMap = from_value(json!({ "metadata": { "name": "config" } }))?;
    let config = configs.create(&PostParams::default(), &config).await?;
    let refused = status::patch_with(&configs, &config, &new).await;
    ensure!(refused.is_err(), "a ConfigMap has no status");
    Ok(())
}
