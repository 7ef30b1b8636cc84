//! Controllers that use a version other than the hub.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_runtime::{
    Action, Controller, Controllers, Manager,
    envtest::{Cluster, NAMESPACE, eventually},
    finalizer, status,
    webhook::{Conversion, Hub, Spoke, Webhooks},
};
use serde_json::{Value, json};

use crate::conversion::{setup::*, types::*};

const FINALIZER: &str = "conversion.example.com/spoke";

/// Adds a finalizer, and sets the status.
async fn reconcile(widget: Arc<v1alpha1::Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = widget.namespace().unwrap_or_default();
    let api: Api<v1alpha1::Widget> = Api::namespaced((*client).clone(), &namespace);
    if let finalizer::Event::Apply(widget) = finalizer::ensure(&api, &*widget, FINALIZER).await? {
        status::patch(&api, &widget, &v1::WidgetStatus { ready: true }).await?;
    }
    Ok(Action::await_change())
}

fn controller() -> Controller<v1alpha1::Widget, Client> {
    Controller::new("spoke", reconcile).finalizer()
}

/// The spec of an object after the controller has added its finalizer and set the status.
async fn reconciled(hub: Hub<v1::Widget>, written: &Value) -> Result<Value> {
    let cluster = Cluster::start()?;
    let controllers = controller().uses_spokes().into();
    let _operator = cluster.run(
        &OPTIONS,
        crds("v1"),
        controllers,
        webhooks(hub),
        Manager::client,
    )?;
    create(&cluster, "v1", "full", written.clone()).await?;
    let api = widgets(&cluster, "v1", NAMESPACE)?;
    eventually(Duration::from_secs(30), async || {
        let found = api.get("full").await?;
        ensure!(found.data["status"]["ready"] == true, "{found:?}");
        ensure!(found.finalizers() == [FINALIZER], "{found:?}");
        Ok(())
    })
    .await?;
    spec(&cluster, "v1", "full").await
}

#[tokio::test]
async fn a_controller_of_a_spoke_erases_nothing_of_the_hub() -> Result<()> {
    let mut written = json!({
        "displayName": "full",
        "options": { "priority": "high" },
        "parts": [{ "name": "x", "color": "red" }],
    });
    let found = reconciled(conversion(), &written).await?;
    ensure!(found == written, "{found}");

    let mut hub = Conversion::to::<v1::Widget>();
    hub.add(Spoke::of::<v1alpha1::Widget>().drops(&["spec.options"]));
    let found = reconciled(hub, &written).await?;
    written.as_object_mut().expect("fields").remove("options");
    ensure!(found == written, "{found}");
    Ok(())
}

#[tokio::test]
async fn a_controller_of_a_spoke_has_to_say_so() -> Result<()> {
    let cluster = Cluster::start()?;
    let run = |controllers: Controllers<Client>, webhooks: Webhooks<Client>| {
        let operator = cluster.run(&OPTIONS, crds("v1"), controllers, webhooks, Manager::client);
        operator.err().map(|error| format!("{error:#}"))
    };
    let refused = "controller `spoke` uses Widget in test.example.com/v1alpha1, but the hub is v1: its \
        writes would erase fields that only v1 has. Use the type of v1, or add `.uses_spokes()`";
    let error = run(controller().into(), webhooks(conversion()));
    let error = error.context("the operator runs with a conversion webhook")?;
    ensure!(error.contains(refused), "{error}");

    let mut controllers: Controllers<Client> = controller().into();
    controllers.hub::<v1::Widget>();
    let error = run(controllers, Webhooks::default());
    let error = error.context("the operator runs without a conversion webhook")?;
    ensure!(error.contains(refused), "{error}");
    Ok(())
}

/// The reason why a spoke is refused without a conversion webhook, too.
#[tokio::test]
async fn without_a_webhook_a_write_in_a_spoke_erases_what_only_the_hub_has() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crds("v1")).await?;
    let hub = json!({ "displayName": "x", "options": { "priority": "high" } });
    create(&cluster, "v1", "pruned", hub).await?;
    // The schema of the spoke requires a title.
    let patch = json!({ "metadata": { "finalizers": [FINALIZER] }, "spec": { "title": "x" } });
    let api = widgets(&cluster, "v1alpha1", NAMESPACE)?;
    api.patch("pruned", &PatchParams::default(), &Patch::Merge(&patch))
        .await?;
    let found = spec(&cluster, "v1", "pruned").await?;
    ensure!(found == json!({}), "{found}");
    Ok(())
}
