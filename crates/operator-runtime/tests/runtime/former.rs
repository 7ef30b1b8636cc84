//! An operator in the place of another one: what that one wrote, and this one does not want, goes.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use operator_runtime::{Applier, Controller, ReadyCondition, api_of, envtest::eventually, status};
use serde_json::{Value, from_value, json};

use crate::{
    faults::{operator::Operator, site::Site},
    widget::{Widget, WidgetSpec, WidgetStatus},
};

const LIMIT: Duration = Duration::from_secs(30);
const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// The field manager of Go operators whose binary has the name that kubebuilder gives it.
const FORMER: &str = "manager";

struct Context {
    client: Client,
    applier: Applier,
}

async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> kube::Result<()> {
    let config = json!({
        "metadata": { "name": widget.name_any() },
        "data": { "size": widget.spec.size.to_string() },
    });
    let config: ConfigMap = from_value(config).map_err(kube::Error::SerdeError)?;
    context.applier.owned(&*widget, config).await?;
    let status = WidgetStatus {
        observed_generation: None,
        conditions: vec![READY.of(&*widget, true, "Tested", "")],
    };
    status::patch(&api_of(&context.client, &*widget), &*widget, &status).await?;
    Ok(())
}

async fn run(site: &Site, flags: &[&str]) -> Result<Operator> {
    let controller = Controller::new("widgets", reconcile).owns::<ConfigMap>();
    let place = format!("--watch-namespace={}", site.namespace);
    let flags = [&[&*place], flags].concat();
    let context = |manager: &operator_runtime::Manager| Context {
        client: manager.client(),
        applier: manager.applier(),
    };
    Operator::start(&site.kubeconfig, &flags, controller.into(), context).await
}

/// The keys of the ConfigMap with the size, and the conditions of the widget.
async fn shows(site: &Site, size: &str, keys: &[&str], conditions: &[&str]) -> Result<()> {
    let configs: Api<ConfigMap> = Api::namespaced(site.client.clone(), site.namespace);
    let widgets: Api<Widget> = Api::namespaced(site.client.clone(), site.namespace);
    eventually(LIMIT, async || {
        let data = configs.get("moved").await?.data.unwrap_or_default();
        ensure!(data.get("size").is_some_and(|it| it == size), "{data:?}");
        ensure!(data.keys().eq(keys), "{data:?}");
        let status = widgets.get("moved").await?.status.unwrap_or_default();
        let found = status.conditions.iter().map(|it| &*it.type_);
        ensure!(found.eq(conditions.iter().copied()), "{status:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_the_replaced_operator_wrote_goes_when_it_is_not_wanted() -> Result<()> {
    let site = Site::new("former").await?;
    let configs: Api<ConfigMap> = Api::namespaced(site.client.clone(), site.namespace);
    let widgets: Api<Widget> = Api::namespaced(site.client.clone(), site.namespace);
    let as_former = PatchParams {
        field_manager: Some(FORMER.to_owned()),
        ..PatchParams::default()
    };
    let merge = async |patch: Value, params: &PatchParams| {
        let patched = configs.patch("moved", params, &Patch::Merge(patch)).await;
        patched.map(drop)
    };
    let widget = Widget::new("moved", WidgetSpec::default());
    widgets.create(&PostParams::default(), &widget).await?;
    let condition = json!({
        "type": "Old", "status": "True", "reason": "Old", "message": "",
        "lastTransitionTime": "2030-01-01T00:00:00Z",
    });
    let old = Patch::Merge(json!({ "status": { "conditions": [condition] } }));
    widgets.patch_status("moved", &as_former, &old).await?;
    let metadata = json!({ "name": "moved" });
    let config = json!({ "metadata": metadata, "data": { "old": "1", "size": "old" } });
    let created = PostParams {
        field_manager: Some(FORMER.to_owned()),
        ..PostParams::default()
    };
    configs.create(&created, &from_value(config)?).await?;
    let others = PatchParams::default();
    merge(json!({ "data": { "other": "1" } }), &others).await?;

    let operator = run(&site, &[]).await?;
    shows(&site, "0", &["old", "other", "size"], &["Old", "Ready"]).await?;
    drop(operator);
    let _operator = run(&site, &["--former-field-manager", FORMER]).await?;
    shows(&site, "0", &["other", "size"], &["Ready"]).await?;

    // Another operator may have the same field manager: what it writes later is its own.
    merge(json!({ "data": { "late": "1" } }), &as_former).await?;
    let size = Patch::Merge(json!({ "spec": { "size": 1 } }));
    widgets.patch("moved", &others, &size).await?;
    shows(&site, "1", &["late", "other", "size"], &["Ready"]).await
}
