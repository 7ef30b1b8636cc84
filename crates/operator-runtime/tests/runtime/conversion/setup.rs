//! A cluster with a converting operator, and objects in any version.

use std::{
    io::Write,
    process::{Output, Stdio},
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use operator_runtime::{
    Action, Controller, Controllers, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, ControlPlane, NAMESPACE, Operator, Options},
    webhook::{Conversion, Webhooks},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::conversion::types::{conversion, crds, v1};

pub const OPTIONS: ManagerOptions = ManagerOptions {
    name: "conversion.example.com",
    scope: WatchScope::Cluster,
};

/// Gives each widget a ConfigMap, whose owner reference names the widget in another version.
async fn reconcile(widget: Arc<v1::Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let (name, namespace) = (widget.name_any(), widget.namespace().unwrap_or_default());
    let mut owner = json!(widget.controller_owner_ref(&()));
    owner["apiVersion"] = "test.example.com/v1alpha1".into();
    let child = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "ownerReferences": [owner] },
        "data": { "name": widget.spec.display_name },
    });
    let api: Api<ConfigMap> = Api::namespaced((*client).clone(), &namespace);
    let params = PatchParams::apply("test").force();
    api.patch(&name, &params, &Patch::Apply(&child)).await?;
    Ok(Action::await_change())
}

pub fn controllers() -> Controllers<Client> {
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("widgets", reconcile).owns::<ConfigMap>());
    controllers
}

pub fn webhooks<C>(conversion: impl Into<Conversion>) -> Webhooks<C> {
    let mut webhooks = Webhooks::default();
    webhooks.convert(conversion);
    webhooks
}

/// The cluster of the tests that do not change the versions, with its operator.
pub fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<(Cluster, Operator)>> = LazyLock::new(|| {
        let options = Options {
            controller_manager: true,
            ..Options::default()
        };
        let cluster = Cluster::start_with(&options)?;
        let webhooks = webhooks(conversion());
        let operator = cluster.run(
            &OPTIONS,
            crds("v1"),
            controllers(),
            webhooks,
            Manager::client,
        )?;
        Ok((cluster, operator))
    });
    match &*CLUSTER {
        Ok((cluster, _)) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

/// Widgets in one version, in a namespace.
pub fn widgets(cluster: &Cluster, version: &str, namespace: &str) -> Result<Api<DynamicObject>> {
    let kind = GroupVersionKind::gvk("test.example.com", version, "Widget");
    let resource = ApiResource::from_gvk_with_plural(&kind, "widgets");
    Ok(Api::namespaced_with(
        cluster.client()?,
        namespace,
        &resource,
    ))
}

pub fn widget(version: &str, name: &str, spec: &Value) -> Result<DynamicObject> {
    Ok(serde_json::from_value(json!({
        "apiVersion": format!("test.example.com/{version}"),
        "kind": "Widget",
        "metadata": { "name": name },
        "spec": spec,
    }))?)
}

/// Creates a widget in the default namespace.
pub async fn create(cluster: &Cluster, version: &str, name: &str, spec: Value) -> Result<()> {
    let api = widgets(cluster, version, NAMESPACE)?;
    api.create(&PostParams::default(), &widget(version, name, &spec)?)
        .await?;
    Ok(())
}

/// The spec of a widget in the default namespace.
pub async fn spec(cluster: &Cluster, version: &str, name: &str) -> Result<Value> {
    let object = widgets(cluster, version, NAMESPACE)?.get(name).await?;
    Ok(object.data["spec"].clone())
}

/// A namespace for the objects of one test.
pub async fn namespace(cluster: &Cluster, name: &str) -> Result<()> {
    let api: Api<Namespace> = Api::all(cluster.client()?);
    let object = serde_json::from_value(json!({ "metadata": { "name": name } }))?;
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}

/// The output of kubectl.
pub fn kubectl(control_plane: &ControlPlane, arguments: &str) -> Result<String> {
    let output = control_plane
        .kubectl()
        .args(arguments.split(' '))
        .output()?;
    let (out, error) = texts(&output);
    ensure!(output.status.success(), "kubectl {arguments}: {error}");
    Ok(out)
}

/// The output of `kubectl apply`.
pub fn apply(control_plane: &ControlPlane, object: &Value) -> Result<String> {
    let mut apply = control_plane
        .kubectl()
        .args(["apply", "--filename=-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = apply.stdin.take().context("no stdin")?;
    stdin.write_all(object.to_string().as_bytes())?;
    drop(stdin);
    let (out, error) = texts(&apply.wait_with_output()?);
    ensure!(error.is_empty(), "kubectl apply: {error}");
    Ok(out)
}

pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Waits until `condition` holds.
pub async fn until<F: Future<Output = Result<bool>>>(condition: impl Fn() -> F) -> Result<()> {
    let begin = Instant::now();
    while !condition().await? {
        ensure!(begin.elapsed() < Duration::from_secs(60), "not within 60 s");
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
