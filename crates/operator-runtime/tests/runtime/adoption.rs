//! Objects that exist before an owner applies them.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Resource, ResourceExt, api::PostParams};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Manager, ManagerOptions, ReadyCondition, WatchScope,
    envtest::{Cluster, eventually},
    webhook::Webhooks,
};
use serde_json::{from_value, json};

use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "adoption.example.com",
    scope: WatchScope::Cluster,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// Applies a ConfigMap with the first word of the owner's name.
async fn reconcile(widget: Arc<Widget>, applier: Arc<Applier>) -> kube::Result<Action> {
    let name = widget.name_any();
    let name = name.split('-').next();
    let child = json!({ "metadata": { "name": name }, "data": { "mine": "yes" } });
    let child: ConfigMap = from_value(child).map_err(kube::Error::SerdeError)?;
    applier.owned(&*widget, child).await?;
    Ok(Action::await_change())
}

async fn create(widgets: &Api<Widget>, name: &str) -> Result<Widget> {
    let widget = Widget::new(name, WidgetSpec::default());
    Ok(widgets.create(&PostParams::default(), &widget).await?)
}

/// The message of the failed reconcile of a Widget.
async fn failure(widgets: &Api<Widget>, name: &str) -> Result<String> {
    let status = widgets.get(name).await?.status.unwrap_or_default();
    let ready = status.conditions.into_iter().find(|it| it.type_ == "Ready");
    Ok(ready.context("no failure")?.message)
}

#[tokio::test]
async fn an_object_has_one_controller() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut controllers = Controllers::default();
    let controller = Controller::new("widgets", reconcile).owns::<ConfigMap>();
    controllers.add(controller.condition(ReadyCondition::positive("Ready")));
    let crds = crate::widget::crds();
    let webhooks = Webhooks::default();
    let _operator = cluster.run(&OPTIONS, crds, controllers, webhooks, Manager::applier)?;
    let (widgets, configs) = (cluster.api::<Widget>()?, cluster.api::<ConfigMap>()?);
    let owner = json!({
        "apiVersion": "v1", "kind": "Secret", "name": "a", "uid": "00000000-0000-4000-8000-000000000000",
    });
    let mut controller = owner.clone();
    controller["controller"] = true.into();
    for (name, owner) in [("free", owner), ("taken", controller)] {
        let metadata = json!({ "name": name, "ownerReferences": [owner] });
        let existing = from_value(json!({ "metadata": metadata, "data": { "old": "yes" } }))?;
        configs.create(&PostParams::default(), &existing).await?;
        create(&widgets, name).await?;
    }

    let controls = |owner: &Widget, child: &ConfigMap| {
        let mut owners = child.owner_references().iter();
        let controller = owners.find(|it| it.controller == Some(true));
        controller.is_some_and(|it| Some(&it.uid) == owner.meta().uid.as_ref())
    };
    let owner = widgets.get("free").await?;
    let adopted = eventually(PATIENCE, async || {
        let child = configs.get("free").await?;
        ensure!(controls(&owner, &child), "{child:?}");
        Ok(child)
    })
    .await?;
    ensure!(
        adopted.data.unwrap_or_default().len() == 2
            && adopted.metadata.owner_references.unwrap_or_default().len() == 2
    );

    let message = eventually(PATIENCE, async || failure(&widgets, "taken").await).await?;
    ensure!(
        message.contains("ConfigMap taken exists, and Secret a controls it"),
        "{message}"
    );
    ensure!(configs.get("taken").await?.data.unwrap_or_default().len() == 1);

    // The API server lets one field manager replace the controller.
    let first = create(&widgets, "shared-first").await?;
    eventually(PATIENCE, async || Ok(configs.get("shared").await?)).await?;
    let second = create(&widgets, "shared-second").await?;
    eventually(PATIENCE, async || {
        let child = configs.get("shared").await?;
        let (loser, winner) = match controls(&first, &child) {
            true => (&second, &first),
            false => (&first, &second),
        };
        let message = failure(&widgets, &loser.name_any()).await?;
        let wanted = format!(
            "ConfigMap shared exists, and Widget {} controls it",
            winner.name_any()
        );
        ensure!(message.contains(&wanted), "{message}");
        Ok(())
    })
    .await
}
