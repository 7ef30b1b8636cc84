//! A condition that a controller reports no longer.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, ensure};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Action, Controller, Controllers, ManagerOptions, WatchScope, conditions,
    envtest::{Cluster, NAMESPACE, eventually},
    status,
    webhook::Webhooks,
};
use serde_json::json;

use crate::widget::{Widget, WidgetSpec, WidgetStatus, crds};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "dropped.example.com",
    scope: WatchScope::Cluster,
};

/// Reports the condition `Extra` with two reasons, and at last not at all.
async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let reasons = ["First", "Second"];
    let extra = reasons.get(usize::try_from(widget.spec.size).unwrap_or_default());
    let extra = extra.map(|reason| conditions::new(&*widget, "Extra", true, reason, *reason));
    let ready = conditions::new(&*widget, "Ready", true, "Tested", "");
    let status = WidgetStatus {
        observed_generation: widget.metadata.generation,
        conditions: [ready].into_iter().chain(extra).collect(),
    };
    let api = Api::namespaced(Client::clone(&client), NAMESPACE);
    status::patch(&api, &*widget, &status).await?;
    Ok(Action::await_change())
}

/// The first status of a type is a merge patch, and the later ones are applies: the condition then has two managers of one
/// controller.
#[tokio::test]
async fn a_condition_with_two_managers_of_one_controller_is_dropped() -> Result<()> {
    let cluster = Cluster::start()?;
    let controllers = Controllers::from(Controller::new("widgets", reconcile));
    let webhooks = Webhooks::default();
    let context = |manager: &operator_runtime::Manager| manager.client();
    let _operator = cluster.run(&OPTIONS, crds(), controllers, webhooks, context)?;
    let widgets = cluster.api::<Widget>()?;
    let widget = Widget::new("drops", WidgetSpec::default());
    widgets.create(&PostParams::default(), &widget).await?;
    for (size, expected) in [(0, Some("First")), (1, Some("Second")), (2, None)] {
        let patch = Patch::Merge(json!({ "spec": { "size": size } }));
        let params = PatchParams::default();
        widgets.patch("drops", &params, &patch).await?;
        eventually(Duration::from_secs(20), async || {
            let status = widgets.get("drops").await?.status.unwrap_or_default();
            let is_extra = |it: &&Condition| it.type_ == "Extra";
            let found = status.conditions.iter().find(is_extra);
            let found = found.map(|it| it.reason.as_str());
            ensure!(found == expected, "{size}: {found:?}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
