//! The operator has exactly the declared permissions.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::{
    authorization::v1::SelfSubjectAccessReview,
    batch::v1::Job,
    core::v1::{ConfigMap, Namespace, Pod, Secret, ServiceAccount},
    rbac::v1::PolicyRule,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ApiResource, DeleteParams, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
    runtime::events::{Event, EventType, Recorder},
};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Manager, ManagerOptions, ObjectRef, ScopedResource,
    Verb, Watch, WatchScope,
    envtest::{Cluster, NAMESPACE, Operator, Options, eventually},
    webhook::Webhooks,
};
use serde_json::{from_value, json};
use tokio::time::sleep;

use crate::widget::Widget;

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
    let options = ManagerOptions {
        name: "exact",
        scope: WatchScope::Cluster,
    };
    let mut controllers = Controllers::default();
    let controller = Controller::<Widget, _>::new("widgets", nothing)
        .owns::<ConfigMap>()
        .prunes::<Job>()
        .watches::<ServiceAccount>(widgets_of)
        .needs::<Secret>(&[Verb::Get, Verb::Delete]);
    controllers.add(controller);
    let operator = cluster()?.run(
        &options,
        crate::widget::crds(),
        controllers,
        Webhooks::default(),
        |_| (),
    )?;

    let expected = [
        ("test.example.com", "widgets", "", "get list watch"),
        ("test.example.com", "widgets", "status", "patch"),
        ("test.example.com", "widgets", "finalizers", "update"),
        ("", "configmaps", "", "create get list patch watch"),
        ("batch", "jobs", "", "create delete get list patch watch"),
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

async fn overstep(object: Arc<ConfigMap>, client: Arc<Client>) -> kube::Result<Action> {
    let api: Api<ConfigMap> = Api::namespaced((*client).clone(), NAMESPACE);
    let change = Patch::Merge(json!({ "data": { "changed": "yes" } }));
    let params = PatchParams::default();
    api.patch(&object.name_any(), &params, &change).await?;
    Ok(Action::await_change())
}

#[tokio::test]
async fn an_undeclared_call_is_refused() -> Result<()> {
    let options = ManagerOptions {
        name: "oversteps",
        scope: WatchScope::Cluster,
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::external("configmaps", overstep));
    let operator = cluster()?.run(
        &options,
        crate::widget::crds(),
        controllers,
        Webhooks::default(),
        Manager::client,
    )?;
    let object: ConfigMap = from_value(json!({ "metadata": { "name": "target" } }))?;
    let api = cluster()?.api::<ConfigMap>()?;
    api.create(&PostParams::default(), &object).await?;
    let refused = || operator.refused().join("\n");
    until(|| refused().contains("cannot patch resource \"configmaps\"")).await?;
    ensure!(api.get("target").await?.data.is_none());
    ensure!(operator.stop().is_err());
    Ok(())
}

/// Applies a child whose owner reference blocks the owner's foreground deletion.
async fn own(account: Arc<ServiceAccount>, applier: Arc<Applier>) -> kube::Result<Action> {
    let child = json!({ "metadata": { "name": account.name_any() } });
    let child: ConfigMap = from_value(child).map_err(kube::Error::SerdeError)?;
    applier.owned(&*account, child).await?;
    Ok(Action::await_change())
}

/// OpenShift enables this admission plugin.
#[tokio::test]
async fn an_owner_reference_may_block_the_deletion() -> Result<()> {
    let options = Options {
        api_server_flags: vec![
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".to_owned(),
        ],
        ..Options::default()
    };
    let cluster = Cluster::start_with(&options)?;
    let options = ManagerOptions {
        name: "blocks",
        scope: WatchScope::Cluster,
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::external("accounts", own).owns::<ConfigMap>());
    let crds = crate::widget::crds();
    let hooks = Webhooks::default();
    let operator = cluster.run(&options, crds, controllers, hooks, Manager::applier)?;
    let account: ServiceAccount = from_value(json!({ "metadata": { "name": "owner" } }))?;
    let accounts = cluster.api::<ServiceAccount>()?;
    accounts.create(&PostParams::default(), &account).await?;
    let children = cluster.api::<ConfigMap>()?;
    let child = eventually(Duration::from_secs(10), async || {
        let refused = || format!("refused: {:?}", operator.refused());
        children.get("owner").await.with_context(refused)
    });
    let child = child.await?;
    ensure!(child.owner_references()[0].block_owner_deletion == Some(true));
    operator.stop()
}

/// A missing type is reported at once, not after the readiness timeout.
#[tokio::test]
async fn a_type_that_is_not_served_is_named() -> Result<()> {
    let options = ManagerOptions {
        name: "lacks",
        scope: WatchScope::Cluster,
    };
    let gadget = |version| {
        let kind = GroupVersionKind::gvk("lacking.example.com", version, "Gadget");
        ScopedResource::namespaced(ApiResource::from_gvk(&kind))
    };
    let mut controllers = Controllers::default();
    let controller = Controller::<Widget, _>::external("widgets", nothing)
        .owns_dynamic(gadget("v1"), Watch::new())
        // Whether that cluster serves the type is not checked in this one.
        .owns_dynamic(gadget("v2"), Watch::new().cluster("other"));
    controllers.add(controller);
    let crds = crate::widget::crds();
    let operator = cluster()?.run(&options, crds, controllers, Webhooks::default(), |_| ());
    let error = operator.err().context("it started")?.to_string();
    let expected = "the API server of the tests does not serve gadgets.lacking.example.com in version v1: \
        put the CRD, as YAML, into tests/crds/";
    ensure!(error == expected, "{error}");
    Ok(())
}

/// The object has the required fields of its CRD's schema, so the API server accepts it.
#[tokio::test]
async fn a_minimal_object_is_valid() -> Result<()> {
    let cluster = cluster()?;
    cluster.install(crate::widget::crds()).await?;
    let widget: Widget = cluster.minimal_object("minimal").await?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    cluster.api()?.create(&params, &widget).await?;
    let error = cluster.minimal_object::<ConfigMap>("minimal").await.err();
    ensure!(error.is_some(), "a ConfigMap has no CRD");
    Ok(())
}

/// The arguments of the reconcile function below.
struct Caller {
    client: Client,
    recorder: Recorder,
    name: &'static str,
}

/// Uses every declared permission, whatever is refused.
async fn use_all(widget: Arc<Widget>, caller: Arc<Caller>) -> kube::Result<Action> {
    let Caller {
        client,
        recorder,
        name,
    } = &*caller;
    let widgets: Api<Widget> = Api::default_namespaced(client.clone());
    let (params, apply) = (PatchParams::default(), PatchParams::apply(name));
    let label = Patch::Merge(json!({ "metadata": { "labels": { "seen": "yes" } } }));
    let status = Patch::Merge(json!({ "status": { "observedGeneration": 1 } }));
    _ = widgets.get("used").await;
    _ = widgets.patch("used", &params, &label).await;
    _ = widgets.patch_status("used", &params, &status).await;

    let children: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let child = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "ownerReferences": [widget.controller_owner_ref(&())] },
    });
    _ = children.get(name).await;
    // Creates it, and then has nothing to change.
    for _ in 0..2 {
        _ = children.patch(name, &apply, &Patch::Apply(&child)).await;
    }
    let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
    _ = accounts.get(name).await;
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    _ = secrets.get(name).await;
    _ = secrets.delete(name, &DeleteParams::default()).await;

    let event = Event {
        type_: EventType::Normal,
        reason: "Used".to_owned(),
        note: None,
        action: "Use".to_owned(),
        secondary: None,
    };
    // One event, and then the same one again.
    for _ in 0..2 {
        _ = recorder.publish(&event, &widget.object_ref(&())).await;
    }
    Ok(Action::await_change())
}

fn users_of_all() -> Controllers<Caller> {
    let mut controllers = Controllers::default();
    let controller = Controller::new("widgets", use_all)
        .finalizer()
        .owns::<ConfigMap>()
        .watches::<ServiceAccount>(widgets_of)
        .needs::<Secret>(&[Verb::Get, Verb::Delete]);
    controllers.add(controller);
    controllers
}

fn run_with(name: &'static str, rules: Vec<PolicyRule>) -> Result<Operator> {
    let options = ManagerOptions {
        name,
        scope: WatchScope::Cluster,
    };
    let context = move |manager: &Manager| Caller {
        client: manager.client(),
        recorder: manager.recorder(),
        name,
    };
    cluster()?.run_with(
        &options,
        crate::widget::crds(),
        rules,
        users_of_all(),
        Webhooks::default(),
        context,
    )
}

#[tokio::test]
async fn exactly_the_declared_verbs_are_used() -> Result<()> {
    let rules = users_of_all().rules().policy_rules();
    let mut more = users_of_all().rules();
    more.allow::<Pod>(&[Verb::Get]);
    let exact = run_with("exactly", rules.clone())?;
    let generous = run_with("generous", more.policy_rules())?;

    let mut without = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let resource = rule
            .resources
            .iter()
            .flatten()
            .next()
            .context("a resource")?;
        // No request uses it: see `Operator::unused`.
        let verbs = rule
            .verbs
            .iter()
            .filter(|_| !resource.ends_with("/finalizers"));
        for verb in verbs {
            let mut rules = rules.clone();
            rules[at].verbs.retain(|kept| kept != verb);
            rules.retain(|rule| !rule.verbs.is_empty());
            let name = format!("without-{verb}-{}", resource.replace('/', "-"));
            let operator = run_with(name.leak(), rules)?;
            let refusal = format!("cannot {verb} resource \"{resource}\" in API group");
            without.push((operator, refusal));
        }
    }
    ensure!(without.len() == 17, "{}", without.len());

    let widget = from_value(json!({ "metadata": { "name": "used" }, "spec": {} }))?;
    let widgets = cluster()?.api::<Widget>()?;
    widgets.create(&PostParams::default(), &widget).await?;
    let used = until(|| exact.unused().is_empty()).await;
    used.with_context(|| format!("unused: {:?}", exact.unused()))?;
    until(|| generous.unused() == ["get pods"]).await?;
    for (operator, refusal) in without {
        let refused = || operator.refused().join("\n");
        let found = until(|| refused().contains(&refusal)).await;
        found.with_context(|| format!("not refused: {refusal}, but:\n{}", refused()))?;
        ensure!(operator.stop().is_err(), "{refusal}");
    }
    exact.stop()?;
    generous.stop()
}

async fn until(condition: impl Fn() -> bool) -> Result<()> {
    let begin = Instant::now();
    while !condition() {
        ensure!(begin.elapsed() < Duration::from_secs(10), "not after 10 s");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

async fn see(object: Arc<Secret>, _: Arc<()>) -> kube::Result<Action> {
    SEEN.lock().unwrap().insert(object.name_any());
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_namespaced_operator_works_in_its_namespace_with_a_role() -> Result<()> {
    let options = ManagerOptions {
        name: "namespaced",
        scope: WatchScope::Namespaces,
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::external("secrets", see));
    let _operator = cluster()?.run(
        &options,
        crate::widget::crds(),
        controllers,
        Webhooks::default(),
        |_| (),
    )?;

    let namespaces: Api<Namespace> = Api::all(cluster()?.client()?);
    let other = from_value(json!({ "metadata": { "name": "elsewhere" } }))?;
    namespaces.create(&PostParams::default(), &other).await?;
    for (namespace, name) in [("elsewhere", "outside"), (NAMESPACE, "inside")] {
        let api: Api<Secret> = Api::namespaced(cluster()?.client()?, namespace);
        let object = from_value(json!({ "metadata": { "name": name } }))?;
        api.create(&PostParams::default(), &object).await?;
    }
    until(|| SEEN.lock().unwrap().contains("inside")).await?;
    ensure!(!SEEN.lock().unwrap().contains("outside"));
    Ok(())
}

/// An operator that does not start fails the tests at once, with its error.
#[tokio::test]
async fn an_operator_that_does_not_start_says_why() -> Result<()> {
    let options = ManagerOptions {
        name: "twice",
        scope: WatchScope::Cluster,
    };
    let mut controllers = Controllers::default();
    for name in ["first", "second"] {
        controllers.add(Controller::<Widget, _>::new(name, nothing));
    }
    let started = cluster()?.run(
        &options,
        crate::widget::crds(),
        controllers,
        Webhooks::default(),
        |_| (),
    );
    let said = started.map(drop).unwrap_err().to_string();
    let expected = "controllers `first` and `second` both show failures of Widget as `Ready`";
    ensure!(said.starts_with(expected), "{said}");
    Ok(())
}
