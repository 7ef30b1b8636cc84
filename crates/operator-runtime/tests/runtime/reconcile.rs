//! Isolation of objects from each other, and of the operator from events.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use futures::future::try_join_all;
use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::ApiResource,
};
use operator_runtime::{
    Action, Controller, Controllers, Manager, ManagerOptions, Predicate, Watch, WatchScope,
    conditions,
    envtest::{Cluster, NAMESPACE, wait_for},
    status,
    webhook::Webhooks,
};
use serde_json::{Value, from_value, json};
use tokio::time::sleep;

use crate::widget::{Widget, WidgetStatus};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "reconcile.example.com",
    scope: WatchScope::Cluster,
};

/// The number of calls of the reconcile function, by name of the object.
static CALLS: LazyLock<Mutex<HashMap<String, usize>>> = LazyLock::new(Mutex::default);

fn calls(name: &str) -> usize {
    CALLS.lock().unwrap().get(name).copied().unwrap_or_default()
}

async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> kube::Result<Action> {
    let name = widget.name_any();
    *CALLS.lock().unwrap().entry(name.clone()).or_default() += 1;
    assert!(
        !name.starts_with("panics"),
        "this widget makes its controller panic"
    );
    if name.starts_with("owner") {
        let child = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": name, "ownerReferences": [widget.controller_owner_ref(&())] },
        });
        let api: Api<ConfigMap> = Api::namespaced((*client).clone(), NAMESPACE);
        let params = PatchParams::apply("test").force();
        api.patch(&name, &params, &Patch::Apply(&child)).await?;
    }
    let api = Api::namespaced((*client).clone(), NAMESPACE);
    status::patch(&api, &*widget, &ready(&widget)).await?;
    // An object is always delayed, so that a stop interrupts something.
    Ok(Action::requeue(Duration::from_secs(3600)))
}

/// The status of a ready widget.
fn ready(widget: &Widget) -> WidgetStatus {
    let mut status = widget.status.clone().unwrap_or_default();
    status.observed_generation = widget.metadata.generation;
    let ready = Condition {
        type_: "Ready".into(),
        status: "True".into(),
        reason: "Tested".into(),
        message: String::new(),
        observed_generation: widget.metadata.generation,
        last_transition_time: Time(Timestamp::now()),
    };
    conditions::set(&mut status.conditions, ready);
    status
}

fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(|| {
        let data = Predicate::on_update(|old: &ConfigMap, new: &ConfigMap| old.data != new.data);
        let children = Watch::new().when(data);
        let mut controllers = Controllers::default();
        controllers.add(Controller::new("widgets", reconcile).owns_with::<ConfigMap>(children));
        Cluster::start()?.with_operator(
            &OPTIONS,
            crate::widget::crds(),
            controllers,
            Webhooks::default(),
            Manager::client,
        )
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

/// Widgets as JSON, to create objects that do not decode as [`Widget`].
fn raw() -> Result<Api<DynamicObject>> {
    let resource = ApiResource::erase::<Widget>(&());
    Ok(Api::namespaced_with(
        cluster()?.client()?,
        NAMESPACE,
        &resource,
    ))
}

async fn create(name: &str, spec: Value) -> Result<()> {
    let object: DynamicObject = from_value(json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Widget",
        "metadata": { "name": name, "finalizers": ["test.example.com/kept"] },
        "spec": spec,
    }))?;
    raw()?.create(&PostParams::default(), &object).await?;
    Ok(())
}

#[tokio::test]
async fn a_hundred_objects_are_reconciled_beside_one_that_does_not_decode_and_one_that_panics()
-> Result<()> {
    create("panics", json!({})).await?;
    create("undecodable", json!({ "size": "many" })).await?;
    let names: Vec<_> = (0..100).map(|number| format!("plain-{number}")).collect();
    for name in &names {
        create(name, json!({ "size": 1 })).await?;
    }
    let api = cluster()?.api::<Widget>()?;
    try_join_all(names.iter().map(|name| wait_for(&api, name, "Ready"))).await?;

    ensure!(calls("panics") > 1, "a panic is tried again");
    ensure!(
        calls("undecodable") == 0,
        "what does not decode reaches no reconcile function"
    );
    let undecodable = raw()?.get("undecodable").await?;
    ensure!(undecodable.finalizers() == ["test.example.com/kept"]);
    ensure!(undecodable.data.get("status").is_none());

    let repair = Patch::Merge(json!({ "spec": { "size": 1 } }));
    raw()?
        .patch("undecodable", &PatchParams::default(), &repair)
        .await?;
    wait_for(&api, "undecodable", "Ready").await
}

#[tokio::test]
async fn a_status_patch_starts_no_loop() -> Result<()> {
    create("quiet", json!({})).await?;
    let api = cluster()?.api::<Widget>()?;
    wait_for(&api, "quiet", "Ready").await?;
    sleep(Duration::from_secs(1)).await;
    let version = api.get("quiet").await?.resource_version();
    // Once for the object, once for its own status patch.
    ensure!(calls("quiet") <= 2, "called {} times", calls("quiet"));
    sleep(Duration::from_secs(1)).await;
    ensure!(api.get("quiet").await?.resource_version() == version);
    ensure!(calls("quiet") <= 2, "called {} times", calls("quiet"));
    Ok(())
}

#[tokio::test]
async fn an_owned_object_that_is_deleted_comes_back() -> Result<()> {
    create("owner", json!({})).await?;
    wait_for(&cluster()?.api::<Widget>()?, "owner", "Ready").await?;
    let children = cluster()?.api::<ConfigMap>()?;
    let first = children.get("owner").await?.uid();
    children.delete("owner", &DeleteParams::default()).await?;
    let begin = Instant::now();
    while children
        .get_opt("owner")
        .await?
        .is_none_or(|child| child.uid() == first)
    {
        ensure!(
            begin.elapsed() < Duration::from_secs(10),
            "it does not come back"
        );
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// A watch of owned objects caches their metadata only, unless a predicate needs more.
#[tokio::test]
async fn a_predicate_over_owned_objects_sees_them() -> Result<()> {
    create("owner-filtered", json!({})).await?;
    wait_for(&cluster()?.api::<Widget>()?, "owner-filtered", "Ready").await?;
    let children = cluster()?.api::<ConfigMap>()?;
    let change = async |patch: Value| {
        sleep(Duration::from_secs(1)).await;
        let before = calls("owner-filtered");
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        children.patch("owner-filtered", &params, &patch).await?;
        sleep(Duration::from_secs(1)).await;
        anyhow::Ok(calls("owner-filtered") > before)
    };
    let labelled = change(json!({ "metadata": { "labels": { "a": "b" } } })).await?;
    ensure!(!labelled, "a label is not its data");
    ensure!(change(json!({ "data": { "a": "b" } })).await?);
    Ok(())
}
