//! The operator may do what its controllers declare, and nothing else.
#![cfg(feature = "envtest")]

mod widget;

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::{
    authorization::v1::SelfSubjectAccessReview,
    core::v1::{ConfigMap, Namespace, Secret, ServiceAccount},
};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use manager::{
    Action, Controller, Controllers, Manager, ObjectRef, Scope, Settings, Verb,
    envtest::{Cluster, NAMESPACE},
};
use serde_json::{from_value, json};
use tokio::time::sleep;

use widget::Widget;

fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(Cluster::start);
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

async fn nothing<K>(_: Arc<K>, _: Arc<()>) -> kube::Result<Action> {
    Ok(Action::await_change())
}

fn widgets_of(_: &ServiceAccount) -> Vec<ObjectRef<Widget>> {
    Vec::new()
}

#[tokio::test]
async fn permissions_are_exact() -> Result<()> {
    let settings = Settings {
        name: "exact",
        scope: Scope::Cluster,
    };
    let mut controllers = Controllers::default();
    let controller = Controller::<Widget, _>::new("widgets", nothing)
        .owns::<ConfigMap>()
        .watches::<ServiceAccount>(widgets_of)
        .needs::<Secret>(&[Verb::Get, Verb::Delete]);
    controllers.add(controller);
    let operator = cluster()?.run(&settings, widget::crds(), controllers, |_| ())?;

    let expected = [
        ("test.example.com", "widgets", "", "get list patch watch"),
        ("test.example.com", "widgets", "status", "patch"),
        ("test.example.com", "widgets", "finalizers", "update"),
        ("", "configmaps", "", "create get list patch watch"),
        ("", "serviceaccounts", "", "get list watch"),
        ("", "secrets", "", "delete get"),
        ("", "pods", "", ""),
        ("apps", "deployments", "", ""),
        ("rbac.authorization.k8s.io", "clusterroles", "", ""),
        ("apiextensions.k8s.io", "customresourcedefinitions", "", ""),
    ];
    let verbs = [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ];
    let reviews: Api<SelfSubjectAccessReview> = Api::all(operator.client()?);
    for (group, resource, subresource, allowed) in expected {
        let mut found = Vec::new();
        for verb in verbs {
            let review = from_value(json!({ "spec": { "resourceAttributes": {
                "group": group, "resource": resource, "subresource": subresource, "verb": verb,
                "namespace": NAMESPACE,
            }}}))?;
            let review = reviews.create(&PostParams::default(), &review).await?;
            found.extend(
                review
                    .status
                    .is_some_and(|status| status.allowed)
                    .then_some(verb),
            );
        }
        ensure!(
            found.join(" ") == allowed,
            "{group}/{resource}/{subresource}: {found:?}"
        );
    }
    Ok(())
}

static REFUSED: Mutex<Option<String>> = Mutex::new(None);

async fn overstep(object: Arc<ConfigMap>, client: Arc<Client>) -> kube::Result<Action> {
    let api: Api<ConfigMap> = Api::namespaced((*client).clone(), NAMESPACE);
    let change = Patch::Merge(json!({ "data": { "changed": "yes" } }));
    let result = api
        .patch(&object.name_any(), &PatchParams::default(), &change)
        .await;
    if let Err(kube::Error::Api(status)) = &result {
        *REFUSED.lock().unwrap() = Some(status.message.clone());
    }
    result.map(|_| Action::await_change())
}

#[tokio::test]
async fn what_is_not_declared_is_refused() -> Result<()> {
    let settings = Settings {
        name: "oversteps",
        scope: Scope::Cluster,
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::external("configmaps", overstep));
    let _operator = cluster()?.run(&settings, widget::crds(), controllers, Manager::client)?;
    let object: ConfigMap = from_value(json!({ "metadata": { "name": "target" } }))?;
    let api = cluster()?.api::<ConfigMap>()?;
    api.create(&PostParams::default(), &object).await?;
    let begin = Instant::now();
    loop {
        if let Some(message) = REFUSED.lock().unwrap().as_deref() {
            ensure!(
                message.contains("cannot patch resource \"configmaps\""),
                "{message}"
            );
            break;
        }
        ensure!(
            begin.elapsed() < Duration::from_secs(10),
            "nothing was refused"
        );
        sleep(Duration::from_millis(20)).await;
    }
    ensure!(api.get("target").await?.data.is_none());
    Ok(())
}

static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

async fn see(object: Arc<Secret>, _: Arc<()>) -> kube::Result<Action> {
    SEEN.lock().unwrap().insert(object.name_any());
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_namespaced_operator_works_in_its_namespace_with_a_role() -> Result<()> {
    let settings = Settings {
        name: "namespaced",
        scope: Scope::Namespace,
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::external("secrets", see));
    let _operator = cluster()?.run(&settings, widget::crds(), controllers, |_| ())?;

    let namespaces: Api<Namespace> = Api::all(cluster()?.client()?);
    let other = from_value(json!({ "metadata": { "name": "elsewhere" } }))?;
    namespaces.create(&PostParams::default(), &other).await?;
    for (namespace, name) in [("elsewhere", "outside"), (NAMESPACE, "inside")] {
        let api: Api<Secret> = Api::namespaced(cluster()?.client()?, namespace);
        let object = from_value(json!({ "metadata": { "name": name } }))?;
        api.create(&PostParams::default(), &object).await?;
    }
    let begin = Instant::now();
    while !SEEN.lock().unwrap().contains("inside") {
        ensure!(begin.elapsed() < Duration::from_secs(10), "it is not seen");
        sleep(Duration::from_millis(20)).await;
    }
    ensure!(!SEEN.lock().unwrap().contains("outside"));
    Ok(())
}
