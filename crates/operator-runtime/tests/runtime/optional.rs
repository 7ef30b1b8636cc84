//! A controller of a type that the API server does not always serve.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, PostParams},
};
use operator_runtime::{
    Action, Controller, Controllers, CrdError, ManagerOptions, Serves, Store, StoreOptions,
    WatchScope,
    envtest::{Cluster, NAMESPACE, eventually},
    fake::Fake,
    webhook::Webhooks,
};

use crate::widget::{Widget, WidgetSpec, crds};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "optional.example.com",
    scope: WatchScope::Cluster,
};

const LIMIT: Duration = Duration::from_secs(40);

/// The names of reconciled widgets and ConfigMaps.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

async fn widget(widget: Arc<Widget>, _: Arc<Store<Widget>>) -> kube::Result<Action> {
    SEEN.lock().unwrap().push(widget.name_any());
    Ok(Action::await_change())
}

async fn config(config: Arc<ConfigMap>, _: Arc<Store<Widget>>) -> kube::Result<Action> {
    SEEN.lock().unwrap().push(config.name_any());
    Ok(Action::await_change())
}

async fn is_seen(name: &str) -> Result<()> {
    eventually(LIMIT, async || {
        let seen = SEEN.lock().unwrap();
        ensure!(
            seen.iter().any(|it| it == name),
            "only {seen:?} are reconciled"
        );
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_optional_controller_follows_its_crd() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut controllers = Controllers::default();
    controllers.add(Controller::external("widgets", widget).optional());
    controllers.add(Controller::external("configs", config));
    // The operator is ready without the type.
    let none: Result<Vec<CustomResourceDefinition>, CrdError> = Ok(Vec::new());
    let store = Arc::new(Mutex::new(None));
    let given = store.clone();
    let context = move |manager: &operator_runtime::Manager| {
        let widgets = manager.store_with(StoreOptions::<Widget>::new().optional());
        *given.lock().unwrap() = Some(widgets.clone());
        widgets
    };
    let _operator = cluster.run(&OPTIONS, none, controllers, Webhooks::default(), context)?;
    let store: Store<Widget> = store.lock().unwrap().clone().context("a store")?;
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client()?, NAMESPACE);
    let mut object = ConfigMap::default();
    object.metadata.name = Some("without-widgets".to_owned());
    configs.create(&PostParams::default(), &object).await?;
    is_seen("without-widgets").await?;
    ensure!(store.list().is_empty());

    let widgets: Api<Widget> = Api::namespaced(cluster.client()?, NAMESPACE);
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client()?);
    for name in ["first", "again"] {
        cluster.install(crds()).await?;
        let object = Widget::new(name, WidgetSpec::default());
        eventually(LIMIT, async || {
            let created = widgets.create(&PostParams::default(), &object).await;
            created.map(drop).context("creating a widget")
        })
        .await?;
        is_seen(name).await?;
        ensure!(store.get(Some(NAMESPACE), name).is_some());

        let definition = crds()?.remove(0).name_any();
        definitions
            .delete(&definition, &DeleteParams::default())
            .await?;
        eventually(LIMIT, async || {
            ensure!(store.list().is_empty(), "the store still has widgets");
            ensure!(
                definitions.get_opt(&definition).await?.is_none(),
                "the CRD is there"
            );
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[derive(clap::Args)]
struct NoFlags {}

#[tokio::test]
async fn whether_a_type_is_served_is_asked_again() -> Result<()> {
    let cluster = Cluster::start()?;
    let given: Arc<Mutex<Option<(Serves, Serves)>>> = Arc::default();
    let context = {
        let given = given.clone();
        async move |manager: &operator_runtime::Manager, _: NoFlags| {
            let both = (
                manager.serves::<Widget>().await,
                manager.serves::<ConfigMap>().await,
            );
            *given.lock().unwrap() = Some(both);
            anyhow::Ok(())
        }
    };
    let none: Result<Vec<CustomResourceDefinition>, CrdError> = Ok(Vec::new());
    let cluster = cluster.with_operator(
        &OPTIONS,
        none,
        Controllers::default(),
        Webhooks::default(),
        context,
    )?;
    let (widgets, configs) = given.lock().unwrap().clone().context("answers")?;
    ensure!(configs.now() && !widgets.now());
    cluster.install(crds()).await?;
    eventually(LIMIT, async || {
        ensure!(widgets.now(), "widgets are not served");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_fake_may_lack_a_type() -> Result<()> {
    let fake = Fake::default();
    ensure!(fake.manager().serves::<Widget>().await.now());
    fake.without::<Widget>();
    let manager = fake.manager();
    ensure!(!manager.serves::<Widget>().await.now());
    ensure!(manager.serves::<ConfigMap>().await.now());
    let widgets: Api<Widget> = Api::namespaced(fake.client(), NAMESPACE);
    ensure!(widgets.get_opt("a").await?.is_none());
    ensure!(widgets.list(&Default::default()).await.is_err());
    Ok(())
}
