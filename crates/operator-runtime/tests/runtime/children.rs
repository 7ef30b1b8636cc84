//! The children of an object: listed, created once, pruned, and recreated.

use std::{
    sync::{Arc, LazyLock, OnceLock},
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::Parser;
use k8s_openapi::api::{batch::v1::Job, core::v1::ConfigMap};
use kube::{
    Api, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Action, Applier, ChildError, Controller, Controllers, Flags, Manager, ManagerOptions,
    OwnerError, Store, WatchScope,
    envtest::{Cluster, NAMESPACE, eventually},
    fake::Fake,
    webhook::Webhooks,
};
use serde_json::{Value, from_value, json};

use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "children.example.com",
    scope: WatchScope::Cluster,
};

const MARK: &str = "operator-runtime/pruned-by";
const PATIENCE: Duration = Duration::from_secs(30);

fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(Cluster::start);
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

struct Context {
    applier: Applier,
    children: Store<ConfigMap>,
}

impl Context {
    fn of(manager: &Manager) -> Self {
        Self {
            applier: manager.applier(),
            children: manager.store(),
        }
    }
}

/// Applies as many children as the size asks for, named after their owner.
async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> kube::Result<Action> {
    let mut children = context.applier.children(&*widget);
    for number in 0..widget.spec.size {
        children.apply(config(&format!("{}-{number}", widget.name_any())));
    }
    children.apply_and_prune().await?;
    Ok(Action::await_change())
}

fn controllers() -> Controllers<Context> {
    Controller::new("widgets", reconcile)
        .prunes::<ConfigMap>()
        .into()
}

fn config(name: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    ConfigMap {
        metadata,
        ..ConfigMap::default()
    }
}

async fn widget(name: &str, size: i32) -> Result<Widget> {
    let api = cluster()?.api::<Widget>()?;
    let widget = Widget::new(name, WidgetSpec { size });
    Ok(api.create(&PostParams::default(), &widget).await?)
}

async fn resize(name: &str, size: i32) -> Result<()> {
    let patch = Patch::Merge(json!({ "spec": { "size": size } }));
    let api = cluster()?.api::<Widget>()?;
    api.patch(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// The ConfigMaps with this prefix, by name.
async fn named(prefix: &str) -> Result<Vec<String>> {
    let api = cluster()?.api::<ConfigMap>()?;
    let all = api.list(&Default::default()).await?;
    let names = all.iter().map(ResourceExt::name_any);
    Ok(names.filter(|name| name.starts_with(prefix)).collect())
}

async fn until_named(prefix: &str, expected: &[&str]) -> Result<()> {
    eventually(PATIENCE, async || {
        let found = named(prefix).await?;
        ensure!(found == expected, "{found:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn only_unwanted_children_are_pruned() -> Result<()> {
    static STORE: OnceLock<Store<ConfigMap>> = OnceLock::new();
    let context = |manager: &Manager| {
        let context = Context::of(manager);
        STORE.get_or_init(|| context.children.clone());
        context
    };
    let crds = crate::widget::crds();
    let operator = cluster()?.run(&OPTIONS, crds, controllers(), Webhooks::default(), context)?;
    let owner = widget("pruned", 3).await?;
    until_named("pruned-", &["pruned-0", "pruned-1", "pruned-2"]).await?;

    // They sort before the children, so they are visited first.
    let controller = json!(owner.controller_owner_ref(&()));
    let with = |field: &str, value: Value| {
        let mut reference = controller.clone();
        reference[field] = value;
        reference
    };
    let another = json!("00000000-0000-4000-8000-000000000000");
    for (name, mark, reference) in [
        (
            "a-of-another-operator",
            Some("other.example.com"),
            controller.clone(),
        ),
        (
            "a-of-another-owner",
            Some(OPTIONS.name),
            with("uid", another),
        ),
        ("a-of-nobody", Some(OPTIONS.name), Value::Null),
        ("a-of-ours-by-hand", None, controller.clone()),
        (
            "a-of-ours-without-control",
            Some(OPTIONS.name),
            with("controller", json!(false)),
        ),
    ] {
        let annotations = mark.map(|mark| json!({ MARK: mark }));
        let references = (!reference.is_null()).then(|| json!([reference]));
        let metadata =
            json!({ "name": name, "annotations": annotations, "ownerReferences": references });
        let object: ConfigMap = from_value(json!({ "metadata": metadata }))?;
        let api = cluster()?.api::<ConfigMap>()?;
        api.create(&PostParams::default(), &object).await?;
    }

    let store = STORE.get().context("the operator runs")?;
    eventually(PATIENCE, async || {
        let found = store.controlled_by(&owner);
        let found: Vec<_> = found.iter().map(|child| child.name_any()).collect();
        let ours = [
            "a-of-another-operator",
            "a-of-ours-by-hand",
            "pruned-0",
            "pruned-1",
            "pruned-2",
        ];
        ensure!(found == ours, "{found:?}");
        Ok(())
    })
    .await?;
    let kept = cluster()?.api::<ConfigMap>()?.get("pruned-0").await?.uid();
    resize("pruned", 1).await?;
    until_named("pruned-", &["pruned-0"]).await?;
    ensure!(
        named("a-of-").await?.len() == 5,
        "{:?}",
        named("a-of-").await?
    );
    // An empty set prunes, too.
    ensure!(kept == cluster()?.api::<ConfigMap>()?.get("pruned-0").await?.uid());
    resize("pruned", 0).await?;
    until_named("pruned-", &[]).await?;
    let unused = operator.unused();
    let reads = "get configmaps".to_owned();
    ensure!(unused.contains(&reads), "it asks for what the watch shows");
    operator.stop()
}

#[tokio::test]
async fn a_crash_between_applying_and_deleting_is_recovered() -> Result<()> {
    // The operator may do everything but the last step, at which it fails.
    let mut rules = controllers().rules().policy_rules();
    for rule in &mut rules {
        rule.verbs.retain(|verb| verb != "delete");
    }
    let crds = crate::widget::crds;
    let hooks = Webhooks::default;
    let options = ManagerOptions {
        name: "crashes.example.com",
        ..OPTIONS
    };
    let dies = cluster()?.run_with(&options, crds(), rules, controllers(), hooks(), Context::of)?;
    widget("crashed", 2).await?;
    until_named("crashed-", &["crashed-0", "crashed-1"]).await?;
    let kept = cluster()?.api::<ConfigMap>()?.get("crashed-0").await?.uid();
    resize("crashed", 1).await?;
    eventually(PATIENCE, async || {
        let refused = dies.refused().join("\n");
        let expected = "cannot delete resource \"configmaps\"";
        ensure!(refused.contains(expected), "{refused}");
        Ok(())
    })
    .await?;
    drop(dies);

    let lives = cluster()?.run(&options, crds(), controllers(), hooks(), Context::of)?;
    until_named("crashed-", &["crashed-0"]).await?;
    ensure!(kept == cluster()?.api::<ConfigMap>()?.get("crashed-0").await?.uid());
    lives.stop()
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// An applier of an operator that does not run, whose controller prunes Jobs, and an owner.
async fn applier(owner: &str) -> Result<(Applier, Widget)> {
    cluster()?.install(crate::widget::crds()).await?;
    let kubeconfig = cluster()?.control_plane().kubeconfig();
    let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
    let args = ["operator".to_owned(), kubeconfig];
    let manager = Manager::new(&OPTIONS, Args::parse_from(args).flags).await?;
    let applier = manager.applier();
    let controller: Controller<Widget, Context> = Controller::new("widgets", reconcile);
    let context = Context::of(&manager);
    // The pruned types are declared now.
    drop(manager.controllers(controller.prunes::<Job>(), context));
    Ok((applier, widget(owner, 0).await?))
}

fn job(name: &str, image: &str, parallelism: i32) -> Result<Job> {
    let container = json!({ "name": "main", "image": image });
    let pod = json!({ "spec": { "restartPolicy": "Never", "containers": [container] } });
    let spec = json!({ "parallelism": parallelism, "template": pod });
    Ok(from_value(
        json!({ "metadata": { "name": name }, "spec": spec }),
    )?)
}

/// The result of a set with one Job.
async fn set(
    applier: &Applier,
    owner: &Widget,
    job: Job,
    again: bool,
) -> kube::Result<Option<String>> {
    let mut children = applier.children(owner);
    match again {
        true => children.apply_or_recreate(job),
        false => children.apply(job),
    }
    let applied = children.apply_and_prune().await?.applied;
    Ok(applied.into_iter().next().and_then(|job| job.uid))
}

fn child_error<T>(result: kube::Result<T>) -> Result<ChildError> {
    match result.err().context("it passed")? {
        kube::Error::Service(error) => match error.downcast() {
            Ok(error) => Ok(*error),
            Err(error) => Err(anyhow!("{error}")),
        },
        error => Err(error.into()),
    }
}

#[tokio::test]
async fn immutable_objects_are_recreated_only_on_request() -> Result<()> {
    let (applier, owner) = applier("immutable").await?;
    let api: Api<Job> = cluster()?.api()?;
    let uid = async || anyhow::Ok(api.get("changes").await?.uid());
    let first = set(&applier, &owner, job("changes", "a", 1)?, false).await?;

    let refused = set(&applier, &owner, job("changes", "b", 1)?, false).await;
    ensure!(
        matches!(&refused, Err(kube::Error::Api(status)) if status.is_invalid()),
        "{refused:?}"
    );
    // An update that would be refused anyway is no reason to delete the old object.
    let wrong = set(&applier, &owner, job("changes", "b", -1)?, true).await;
    ensure!(
        matches!(&wrong, Err(kube::Error::Api(status)) if status.is_invalid()),
        "{wrong:?}"
    );
    ensure!(uid().await? == first, "it was deleted");

    let second = set(&applier, &owner, job("changes", "b", 1)?, true).await?;
    ensure!(second.is_some() && second != first && uid().await? == second);
    // A mutable field is updated.
    let changed = set(&applier, &owner, job("changes", "b", 2)?, true).await?;
    ensure!(changed == second && uid().await? == second);

    // An object with a finalizer is recreated after the finalizer is removed.
    let hold =
        |finalizers: Value| Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
    let params = PatchParams::default();
    api.patch("changes", &params, &hold(json!(["example.com/held"])))
        .await?;
    for _ in 0..2 {
        let waits = set(&applier, &owner, job("changes", "c", 1)?, true).await;
        let expected = ChildError::BeingDeleted("Job changes".to_owned());
        ensure!(child_error(waits)? == expected);
    }
    api.patch("changes", &params, &hold(Value::Null)).await?;
    let third = set(&applier, &owner, job("changes", "c", 1)?, true).await?;
    ensure!(third.is_some() && third != second && uid().await? == third);
    Ok(())
}

#[tokio::test]
async fn objects_of_no_set_are_not_recreated() -> Result<()> {
    let (applier, owner) = applier("by-hand").await?;
    let api: Api<Job> = cluster()?.api()?;
    let mut by_hand = job("by-hand", "a", 1)?;
    by_hand.metadata.owner_references = Some(Vec::from_iter(owner.controller_owner_ref(&())));
    let made = api.create(&PostParams::default(), &by_hand).await?;
    let refused = set(&applier, &owner, job("by-hand", "b", 1)?, true).await;
    ensure!(
        matches!(&refused, Err(kube::Error::Api(status)) if status.is_invalid()),
        "{refused:?}"
    );
    ensure!(api.get("by-hand").await?.uid() == made.uid());
    Ok(())
}

#[tokio::test]
async fn a_job_is_created_once() -> Result<()> {
    let (applier, owner) = applier("once").await?;
    let api: Api<Job> = cluster()?.api()?;
    let first = applier.create_owned(&owner, job("once", "a", 1)?).await?;
    let again = applier.create_owned(&owner, job("once", "b", 1)?).await?;
    ensure!(
        first.sent && !again.sent && first.uid == again.uid,
        "{again:?}"
    );
    let made = api.get("once").await?;
    ensure!(made.owner_references()[0].uid == owner.uid().unwrap_or_default());

    let foreign = job("foreign", "a", 1)?;
    api.create(&PostParams::default(), &foreign).await?;
    let expected = ChildError::NotControlled {
        child: "Job foreign".to_owned(),
        owner: "Widget once".to_owned(),
    };
    let created = applier.create_owned(&owner, job("foreign", "b", 1)?).await;
    ensure!(child_error(created)? == expected);
    // A set would delete it some day.
    let applied = set(&applier, &owner, job("foreign", "a", 2)?, false).await;
    ensure!(child_error(applied)? == expected);
    let foreign = api.get("foreign").await?;
    let deleted = applier.delete_owned(&owner, &foreign).await;
    ensure!(child_error(deleted)? == expected);
    ensure!(foreign.owner_references().is_empty(), "it was taken over");

    // An object that has changed since it was read is not deleted.
    let label = Patch::Merge(json!({ "metadata": { "labels": { "changed": "yes" } } }));
    api.patch("once", &PatchParams::default(), &label).await?;
    let conflict = applier.delete_owned(&owner, &made).await;
    ensure!(
        matches!(&conflict, Err(kube::Error::Api(status)) if status.is_conflict()),
        "{conflict:?}"
    );
    let made = api.get("once").await?;
    for _ in 0..2 {
        applier.delete_owned(&owner, &made).await?;
        ensure!(api.get_opt("once").await?.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn an_invalid_set_is_refused_before_any_request() -> Result<()> {
    let (applier, owner) = applier("wrong").await?;
    let mut children = applier.children(&owner);
    children.create(job("never-sent", "a", 1)?);
    children.apply(config("never-sent"));
    let error = child_error(children.apply_and_prune().await)?.to_string();
    let expected =
        "the controller of Widget does not prune ConfigMap: add `.prunes::<ConfigMap>()` to it";
    ensure!(error.starts_with(expected), "{error}");
    let undeclared = applier.delete_owned(&owner, &config("any")).await;
    ensure!(child_error(undeclared)?.to_string() == error);

    let mut children = applier.children(&owner);
    children.create(job("never-sent", "a", 1)?);
    children.apply(job("never-sent", "a", 1)?);
    let expected = ChildError::Twice("Job never-sent".to_owned());
    ensure!(child_error(children.apply_and_prune().await)? == expected);

    let mut children = applier.children(&owner);
    let mut nameless = job("", "a", 1)?;
    nameless.metadata.name = None;
    nameless.metadata.generate_name = Some("never-sent-".to_owned());
    children.create(nameless);
    let expected = ChildError::NoName("Job".to_owned());
    ensure!(child_error(children.apply_and_prune().await)? == expected);

    let mut waits = owner.clone();
    waits.metadata.deletion_timestamp = waits.metadata.creation_timestamp.clone();
    waits.metadata.finalizers = Some(vec!["foregroundDeletion".to_owned()]);
    let mut children = applier.children(&waits);
    children.create(job("never-sent", "a", 1)?);
    let error = children
        .apply_and_prune()
        .await
        .err()
        .context("it passed")?;
    ensure!(
        matches!(&error, kube::Error::Service(error)
            if error.downcast_ref() == Some(&OwnerError::WaitsForChildren)),
        "{error}"
    );
    let jobs = cluster()?.api::<Job>()?.list(&Default::default()).await?;
    ensure!(
        !jobs
            .iter()
            .any(|job| job.name_any().starts_with("never-sent"))
    );
    Ok(())
}

#[test]
fn two_controllers_do_not_prune_each_others_children() {
    let mut both = Controllers::default();
    for name in ["first", "second"] {
        let controller = Controller::new(name, reconcile).condition(name);
        both.add(controller.prunes::<ConfigMap>());
    }
    let refused = || {
        let hooks = Webhooks::default();
        cluster()?.run(&OPTIONS, crate::widget::crds(), both, hooks, Context::of)
    };
    let error = refused().map(drop).unwrap_err().to_string();
    let expected = "controllers `first` and `second` both prune each ConfigMap of a Widget";
    assert!(error.starts_with(expected), "{error}");
}

/// Without a cluster, and without a controller that declares anything.
#[tokio::test]
async fn the_fake_prunes_as_well() -> Result<()> {
    let fake = Fake::default();
    let owner = fake.insert(Widget::new("faked", WidgetSpec { size: 2 }));
    let mut by_hand = config("by-hand");
    by_hand.metadata.owner_references = Some(Vec::from_iter(owner.controller_owner_ref(&())));
    fake.insert(by_hand);
    let context = Arc::new(Context::of(&fake.manager()));
    reconcile(Arc::new(owner.clone()), context.clone()).await?;
    let mut smaller = owner.clone();
    smaller.spec.size = 1;
    reconcile(Arc::new(smaller), context).await?;
    let writes: Vec<_> = fake.writes().iter().map(ToString::to_string).collect();
    let path = |name: &str| format!("configmaps {NAMESPACE}/{name}");
    let expected = [
        format!("patch {}", path("faked-0")),
        format!("patch {}", path("faked-1")),
        format!("delete {}", path("faked-1")),
    ];
    ensure!(writes == expected, "{writes:?}");
    ensure!(fake.get::<ConfigMap>("by-hand").is_some());
    Ok(())
}
