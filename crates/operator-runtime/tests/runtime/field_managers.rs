//! Controllers that write one object: each owns what it writes.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::{
    api::{core::v1::ConfigMap, policy::v1::PodDisruptionBudget},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, Client, Config, CustomResource, Resource, ResourceExt,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Crds, Manager, ManagerOptions, ReadyCondition,
    ScopedResource, Store, StoreOptions, WatchScope,
    envtest::{Cluster, NAMESPACE, eventually},
    status,
    webhook::Webhooks,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json};

use crate::widget::{Widget, WidgetSpec, WidgetStatus};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "managers.example.com",
    scope: WatchScope::Cluster,
};

const PATIENCE: Duration = Duration::from_secs(60);

const ALPHA: ReadyCondition = ReadyCondition::positive("Alpha");
const BETA: ReadyCondition = ReadyCondition::positive("Beta");

/// A type whose conditions the API server replaces as one list.
#[derive(Clone, Debug, Default, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Plain",
    namespaced,
    status = "PlainStatus"
)]
pub struct PlainSpec {
    #[serde(default)]
    size: i32,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct PlainStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
}

/// The failed writes of a status.
static FAILED: AtomicUsize = AtomicUsize::new(0);

fn count<T>(result: kube::Result<T>) -> kube::Result<Action> {
    if let Err(error) = &result {
        eprintln!("a write failed: {error}");
        FAILED.fetch_add(1, Ordering::Relaxed);
    }
    result.map(|_| Action::await_change())
}

async fn report(
    widget: Arc<Widget>,
    client: Arc<Client>,
    as_: ReadyCondition,
) -> kube::Result<Action> {
    let status = WidgetStatus {
        observed_generation: None,
        conditions: vec![as_.of(&*widget, true, "Tested", "")],
    };
    let api = Api::namespaced((*client).clone(), NAMESPACE);
    count(status::patch(&api, &*widget, &status).await)
}

async fn report_plain(
    plain: Arc<Plain>,
    client: Arc<Client>,
    as_: ReadyCondition,
) -> kube::Result<Action> {
    let status = PlainStatus {
        conditions: vec![as_.of(&*plain, true, "Tested", "")],
    };
    let api = Api::namespaced((*client).clone(), NAMESPACE);
    count(status::patch(&api, &*plain, &status).await)
}

fn crds() -> Result<Vec<CustomResourceDefinition>> {
    let mut crds = Crds::default();
    crds.add_storage::<Widget>();
    crds.add_storage::<Plain>();
    Ok(crds.merge()?)
}

/// The conditions of an object, with the generations that they are about.
fn conditions(object: &DynamicObject) -> BTreeMap<String, i64> {
    let list = object.data["status"]["conditions"].as_array();
    let list = list.into_iter().flatten();
    let entry = |it: &Value| {
        let type_ = it["type"].as_str()?.to_owned();
        Some((type_, it["observedGeneration"].as_i64()?))
    };
    list.filter_map(entry).collect()
}

/// The managers of a part of the object, with their operations.
fn managers(object: &impl Resource, subresource: Option<&str>) -> Vec<(String, String)> {
    let entries = object.meta().managed_fields.iter().flatten();
    let entries = entries.filter(|entry| entry.subresource.as_deref() == subresource);
    let pair = |(manager, operation): (&Option<String>, &Option<String>)| {
        (
            manager.clone().unwrap_or_default(),
            operation.clone().unwrap_or_default(),
        )
    };
    let mut all: Vec<_> = entries
        .map(|it| pair((&it.manager, &it.operation)))
        .collect();
    all.sort();
    all
}

fn dynamic<K: Resource<DynamicType = ()>>(cluster: &Cluster) -> Result<Api<DynamicObject>> {
    let resource = ApiResource::erase::<K>(&());
    Ok(Api::namespaced_with(
        cluster.client()?,
        NAMESPACE,
        &resource,
    ))
}

/// Changes the spec of 20 objects 5 times, and waits for the conditions of both controllers.
async fn both_report<K: Resource<DynamicType = ()>>(cluster: &Cluster) -> Result<()> {
    let api = dynamic::<K>(cluster)?;
    let names: Vec<_> = (0..20).map(|number| format!("shared-{number}")).collect();
    for name in &names {
        let (kind, metadata) = (K::kind(&()), json!({ "name": name }));
        let object = json!({
            "apiVersion": "test.example.com/v1", "kind": kind, "metadata": metadata, "spec": {},
        });
        api.create(&PostParams::default(), &from_value(object)?)
            .await?;
    }
    for size in 1..=5 {
        for name in &names {
            let patch = Patch::Merge(json!({ "spec": { "size": size } }));
            api.patch(name, &PatchParams::default(), &patch).await?;
        }
    }
    for name in &names {
        eventually(PATIENCE, async || {
            let object = api.get(name).await?;
            let generation = object.metadata.generation.context("no generation")?;
            let conditions = conditions(&object);
            let expected = ["Alpha", "Beta"].map(|type_| (type_.to_owned(), generation));
            ensure!(
                conditions == BTreeMap::from(expected),
                "{name}: {conditions:?}"
            );
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn two_controllers_report_in_one_status_without_conflict_or_loss() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut controllers = Controllers::default();
    for (name, plain, condition) in [
        ("alpha", "plain-alpha", ALPHA),
        ("beta", "plain-beta", BETA),
    ] {
        let of_widget = move |object, client| report(object, client, condition);
        let controller = Controller::new(name, of_widget).condition(condition);
        controllers.add(controller.concurrency(4));
        let of_plain = move |object, client| report_plain(object, client, condition);
        let controller = Controller::new(plain, of_plain).condition(condition);
        controllers.add(controller.concurrency(4));
    }
    let webhooks = Webhooks::default();
    let _operator = cluster.run(&OPTIONS, crds(), controllers, webhooks, Manager::client)?;
    both_report::<Widget>(&cluster).await?;
    let widget = cluster.api::<Widget>()?.get("shared-0").await?;
    let found = managers(&widget, Some("status"));
    let expected = applied_by(&["alpha", "beta"]);
    ensure!(expected.iter().all(|it| found.contains(it)), "{found:?}");
    both_report::<Plain>(&cluster).await?;
    let failed = FAILED.load(Ordering::Relaxed);
    ensure!(failed == 0, "{failed} writes failed");
    Ok(())
}

/// The managers of these controllers.
fn applied_by(controllers: &[&str]) -> Vec<(String, String)> {
    let manager = |name: &&str| (format!("managers.example.com/{name}"), "Apply".to_owned());
    controllers.iter().map(manager).collect()
}

/// Whether the operator runs in its newer version, which reports and applies less.
static NEWER: AtomicBool = AtomicBool::new(false);

struct Context {
    client: Client,
    applier: Applier,
}

impl Context {
    fn of(manager: &Manager) -> Self {
        Self {
            client: manager.client(),
            applier: manager.applier(),
        }
    }
}

async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> kube::Result<Action> {
    let newer = NEWER.load(Ordering::Relaxed);
    let conditions = [("Ready", true), ("Extra", !newer)].into_iter();
    let conditions = conditions.filter(|(_, wanted)| *wanted);
    let condition = |type_| ReadyCondition::positive(type_).of(&*widget, true, "Tested", "");
    let status = WidgetStatus {
        observed_generation: widget.metadata.generation,
        conditions: conditions.map(|(type_, _)| condition(type_)).collect(),
    };
    let mut data = json!({ "kept": "new" });
    if !newer {
        data["extra"] = "new".into();
    }
    context.applier.apply(&config("taken-over", data)).await?;
    let api = Api::namespaced(context.client.clone(), NAMESPACE);
    status::patch(&api, &*widget, &status).await?;
    Ok(Action::await_change())
}

fn config(name: &str, data: Value) -> ConfigMap {
    let metadata = json!({ "name": name, "namespace": NAMESPACE });
    from_value(json!({ "metadata": metadata, "data": data })).unwrap()
}

#[tokio::test]
async fn what_an_earlier_version_wrote_is_taken_over_and_goes_when_it_is_dropped() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crds()).await?;
    let (widgets, configs) = (cluster.api::<Widget>()?, cluster.api::<ConfigMap>()?);
    let widget = Widget::new("old", WidgetSpec::default());
    widgets.create(&PostParams::default(), &widget).await?;
    // As the version with one field manager wrote.
    let condition = |type_: &str| {
        json!({
            "type": type_, "status": "False", "reason": "Old", "message": "", "observedGeneration": 1,
            "lastTransitionTime": "2030-01-01T00:00:00Z",
        })
    };
    let status = Patch::Merge(json!({ "status": {
        "observedGeneration": 1,
        "conditions": [condition("Old"), condition("Ready")],
    }}));
    let update = PatchParams {
        field_manager: Some(OPTIONS.name.to_owned()),
        ..PatchParams::default()
    };
    widgets.patch_status("old", &update, &status).await?;
    let apply = PatchParams::apply(OPTIONS.name).force();
    let old = config("taken-over", json!({ "kept": "old", "old": "old" }));
    configs
        .patch("taken-over", &apply, &Patch::Apply(&old))
        .await?;
    let params = PatchParams::default();
    // Fields of others stay.
    let other = Patch::Merge(json!({ "data": { "other": "1" } }));
    configs.patch("taken-over", &params, &other).await?;

    for (newer, types) in [(false, &["Extra", "Ready"] as &[&str]), (true, &["Ready"])] {
        NEWER.store(newer, Ordering::Relaxed);
        let controller = Controller::new("widgets", reconcile).owns::<ConfigMap>();
        let controllers = Controllers::from(controller);
        let webhooks = Webhooks::default();
        let operator = cluster.run(&OPTIONS, crds(), controllers, webhooks, Context::of)?;
        eventually(PATIENCE, async || {
            let widget = dynamic::<Widget>(&cluster)?.get("old").await?;
            let conditions: Vec<_> = conditions(&widget).into_keys().collect();
            ensure!(conditions == types, "{conditions:?}");
            let config = configs.get("taken-over").await?;
            let found: Vec<_> = config
                .data
                .iter()
                .flatten()
                .map(|(key, _)| &**key)
                .collect();
            let expected: &[&str] = if newer {
                &["kept", "other"]
            } else {
                &["extra", "kept", "other"]
            };
            ensure!(found == expected, "{found:?}");
            Ok(())
        })
        .await?;
        drop(operator);
    }
    let config = configs.get("taken-over").await?;
    let found = managers(&config, None);
    ensure!(
        found[0] == applied_by(&["widgets"])[0] && found.len() == 2,
        "{found:?}"
    );
    Ok(())
}

async fn apply_key(
    widget: Arc<Widget>,
    context: Arc<Context>,
    key: &'static str,
) -> kube::Result<Action> {
    let data = json!({ key: widget.spec.size.to_string() });
    context.applier.apply(&config("both", data)).await?;
    let budget = json!({
        "metadata": {
            "name": widget.name_any(), "namespace": NAMESPACE, "finalizers": ["test.example.com/kept"],
        },
        "spec": { "minAvailable": 1 },
    });
    if key == "alpha" {
        let budget: PodDisruptionBudget = from_value(budget).map_err(kube::Error::SerdeError)?;
        context.applier.owned(&*widget, budget).await?;
    }
    Ok(Action::await_change())
}

#[tokio::test]
async fn two_controllers_apply_one_object_and_restore_what_others_remove() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut controllers = Controllers::default();
    for (name, condition) in [("alpha", ALPHA), ("beta", BETA)] {
        let apply = move |widget, context| apply_key(widget, context, name);
        let controller = Controller::new(name, apply).condition(condition);
        controllers.add(controller.owns::<ConfigMap>().owns::<PodDisruptionBudget>());
    }
    let webhooks = Webhooks::default();
    let _operator = cluster.run(&OPTIONS, crds(), controllers, webhooks, Context::of)?;
    let (widgets, configs) = (cluster.api::<Widget>()?, cluster.api::<ConfigMap>()?);
    let widget = Widget::new("both", WidgetSpec::default());
    widgets.create(&PostParams::default(), &widget).await?;
    let params = PatchParams::default();
    for size in ["0", "1", "2"] {
        let patch = Patch::Merge(json!({ "spec": { "size": size.parse::<i32>()? } }));
        widgets.patch("both", &params, &patch).await?;
        eventually(PATIENCE, async || {
            let data = configs.get("both").await?.data.unwrap_or_default();
            let expected = ["alpha", "beta"].map(|key| (key.to_owned(), size.to_owned()));
            ensure!(data == expected.into(), "{data:?}");
            Ok(())
        })
        .await?;
    }
    let budgets = cluster.api::<PodDisruptionBudget>()?;
    let removed = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    budgets.patch("both", &params, &removed).await?;
    eventually(PATIENCE, async || {
        let finalizers = budgets.get("both").await?.metadata.finalizers;
        ensure!(finalizers.is_some(), "not restored");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_store_with_a_selector_shows_what_is_unchanged() -> Result<()> {
    static CONTEXT: std::sync::OnceLock<(Applier, Store<ConfigMap>)> = std::sync::OnceLock::new();
    let cluster = Cluster::start()?;
    let context = |manager: &Manager| {
        let mine = StoreOptions::new().labels("app=mine");
        _ = CONTEXT.set((manager.applier(), manager.store_with(mine)));
    };
    async fn nothing(_: Arc<Widget>, _: Arc<()>) -> kube::Result<Action> {
        Ok(Action::await_change())
    }
    let verbs = &operator_runtime::Verb::READ;
    let controller = Controller::new("widgets", nothing)
        .needs::<ConfigMap>(verbs)
        .needs::<ConfigMap>(&[
            operator_runtime::Verb::Create,
            operator_runtime::Verb::Patch,
        ]);
    let webhooks = Webhooks::default();
    let _operator = cluster.run(&OPTIONS, crds(), controller.into(), webhooks, context)?;
    let (applier, store) = CONTEXT.get().context("no context")?;
    let mut mine = config("mine", json!({ "a": "b" }));
    mine.metadata.labels = Some([("app".to_owned(), "mine".to_owned())].into());
    ensure!(applier.apply(&mine).await?.sent);
    eventually(PATIENCE, async || {
        store
            .get(Some(NAMESPACE), "mine")
            .context("not shown")
            .map(drop)
    })
    .await?;
    ensure!(!applier.apply(&mine).await?.sent, "sent again");
    // Another field manager has sent nothing yet.
    ensure!(applier.with_manager("other").apply(&mine).await?.sent);
    // An object that the selector does not select is not shown.
    let other = config("other", json!({ "a": "b" }));
    for _ in 0..2 {
        ensure!(applier.apply(&other).await?.sent);
    }
    // Without the label, it is gone from the store.
    let api = cluster.api::<ConfigMap>()?;
    let unlabelled = Patch::Merge(json!({ "metadata": { "labels": null } }));
    api.patch("mine", &PatchParams::default(), &unlabelled)
        .await?;
    eventually(PATIENCE, async || {
        let is_gone = store.get(Some(NAMESPACE), "mine").is_none();
        ensure!(is_gone, "still shown");
        Ok(())
    })
    .await?;
    ensure!(applier.apply(&mine).await?.sent, "the label is missing");

    let dry = config("dry", json!({}));
    ensure!(applier.dry_run().apply(&dry).await?.uid.is_some());
    ensure!(api.get_opt("dry").await?.is_none(), "a dry run wrote");

    let resource = ApiResource::erase::<ConfigMap>(&());
    let mut object = DynamicObject::new("dynamic", &resource);
    object.metadata.namespace = Some(NAMESPACE.to_owned());
    let object = object.data(json!({ "data": { "a": "b" } }));
    let object = ScopedResource::namespaced(resource).object(object);
    let owner = api.get("mine").await?;
    applier.owned(&owner, object).await?;
    let found = api.get("dynamic").await?;
    let controls = |it: &[_]| it == Vec::from_iter(owner.controller_owner_ref(&()).map(blocking));
    ensure!(controls(found.owner_references()), "{found:?}");
    ensure!(found.data.is_some_and(|data| data["a"] == "b"));
    Ok(())
}

fn blocking(
    mut reference: k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference,
) -> k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference {
    reference.block_owner_deletion = Some(true);
    reference
}

#[tokio::test]
async fn an_applier_writes_to_another_cluster() -> Result<()> {
    let other = Cluster::start()?;
    let fake = operator_runtime::fake::Fake::default();
    let manager = fake.manager();
    let kubeconfig = Kubeconfig::read_from(other.control_plane().kubeconfig())?;
    let options = KubeConfigOptions::default();
    let config_of_other = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    let cluster = manager.cluster("other", config_of_other)?;
    let applier = manager.applier().for_cluster(&cluster);
    applier.apply(&config("there", json!({ "a": "b" }))).await?;
    ensure!(other.api::<ConfigMap>()?.get_opt("there").await?.is_some());
    ensure!(fake.requests().is_empty());
    Ok(())
}
