//! Stores of selected or transformed objects.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Controller, Controllers, Flags, Index, Manager, ManagerOptions, Store, StoreOptions, Verb,
    WatchScope,
    envtest::{Cluster, NAMESPACE, Operator, eventually, free_port},
    fake::Fake,
    webhook::Webhooks,
};
use serde_json::{from_value, json};

use crate::widget::Widget;

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "stores.example.com",
    scope: WatchScope::Cluster,
};

const SOON: Duration = Duration::from_secs(30);

async fn reconcile<C>(_: Arc<Widget>, _: Arc<C>) -> kube::Result<()> {
    Ok(())
}

/// An operator that reads Secrets, with the permissions for that, and its context.
fn start<C: Clone + Send + Sync + 'static>(
    cluster: &Cluster,
    options: &ManagerOptions,
    context: fn(&Manager) -> C,
) -> Result<(Operator, C)> {
    let controller = Controller::new("widgets", reconcile).needs::<Secret>(Verb::READ);
    start_with(cluster, options, controller, context)
}

fn start_with<C: Clone + Send + Sync + 'static>(
    cluster: &Cluster,
    options: &ManagerOptions,
    controller: Controller<Widget, C>,
    context: fn(&Manager) -> C,
) -> Result<(Operator, C)> {
    let mut controllers = Controllers::default();
    controllers.add(controller);
    let (sender, receiver) = mpsc::channel();
    let context = move |manager: &Manager| {
        let context = context(manager);
        _ = sender.send(context.clone());
        context
    };
    let crds = crate::widget::crds();
    let operator = cluster.run(options, crds, controllers, Webhooks::default(), context)?;
    Ok((operator, receiver.recv()?))
}

fn without_data(secret: &mut Secret) {
    secret.data = None;
}

#[derive(Clone)]
struct Stores {
    stores: [Store<Secret>; 6],
    by_app: Index<Secret>,
}

impl Stores {
    fn new(manager: &Manager) -> Self {
        let options = StoreOptions::new;
        let whole = manager.store::<Secret>();
        let app = |secret: &Secret| secret.labels().get("app").into_iter().cloned().collect();
        Self {
            by_app: whole.index(app),
            stores: [
                whole,
                manager.store_with(options().labels("app=web")),
                manager.store_with(options().fields("type=example.com/x")),
                manager.store_with(options().fields("metadata.name!=a").labels("app")),
                manager.store_with(options().namespaces(["elsewhere"])),
                manager.store_with(options().transform(without_data)),
            ],
        }
    }

    /// The names in each store, with a mark where there is data, and then those of the index.
    fn held(&self) -> Vec<String> {
        let name = |secret: &Arc<Secret>| match secret.data {
            Some(_) => format!("{}+", secret.name_any()),
            None => secret.name_any(),
        };
        let names = |secrets: &[Arc<Secret>]| secrets.iter().map(name).collect();
        let mut held: Vec<String> = self
            .stores
            .iter()
            .map(|store| names(&store.list()))
            .collect();
        held.push(names(&self.by_app.get("web")));
        held
    }
}

/// The changes of the Secrets, step by step.
async fn step(client: Client, number: usize) -> Result<()> {
    let here: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let elsewhere: Api<Secret> = Api::namespaced(client.clone(), "elsewhere");
    let (post, patch) = (PostParams::default(), PatchParams::default());
    let secret = |name: &str, app: &str, type_: &str| {
        let metadata = json!({ "name": name, "labels": { "app": app } });
        from_value(json!({ "metadata": metadata, "type": type_, "data": { "k": "dg==" } }))
    };
    match number {
        0 => {
            let namespace = json!({ "metadata": { "name": "elsewhere" } });
            let namespaces: Api<Namespace> = Api::all(client);
            namespaces.create(&post, &from_value(namespace)?).await?;
            here.create(&post, &secret("a", "web", "Opaque")?).await?;
            here.create(&post, &secret("b", "api", "example.com/x")?)
                .await?;
            elsewhere
                .create(&post, &secret("c", "web", "example.com/x")?)
                .await?;
        }
        1 => {
            let label = |app| Patch::Merge(json!({ "metadata": { "labels": { "app": app } } }));
            here.patch("a", &patch, &label(json!("api"))).await?;
            here.patch("b", &patch, &label(json!("web"))).await?;
            elsewhere.patch("c", &patch, &label(json!(null))).await?;
        }
        2 => {
            let empty = Patch::Merge(json!({ "data": null }));
            here.patch("a", &patch, &empty).await?;
            here.delete("b", &DeleteParams::default()).await?;
        }
        _ => {
            elsewhere.delete("c", &DeleteParams::default()).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn stores_and_stores_of_the_fake_hold_the_selected_objects() -> Result<()> {
    let (cluster, fake) = (Cluster::start()?, Fake::default());
    let (operator, real) = start(&cluster, &OPTIONS, Stores::new)?;
    let unit = Stores::new(&fake.manager());
    let mut seen = Vec::new();
    for number in 0..4 {
        step(cluster.client()?, number).await?;
        step(fake.client(), number).await?;
        // In a unit test, a write appears without delay.
        let expected = unit.held();
        eventually(SOON, async || {
            let held = real.held();
            ensure!(held == expected, "{held:?} and not {expected:?}");
            Ok(())
        })
        .await?;
        seen.push(expected.join(" "));
    }
    let expected = [
        "a+b+c+ a+c+ b+c+ b+c+ c+ abc a+c+",
        "a+b+c+ b+ b+c+ b+ c+ abc b+",
        "ac+  c+  c+ ac ",
        "a     a ",
    ];
    ensure!(seen == expected, "{seen:#?}");
    let unused = operator.unused();
    let needed = ["list secrets", "watch secrets"];
    ensure!(
        !unused.iter().any(|unused| needed.contains(&&**unused)),
        "{unused:?}"
    );
    operator.stop()
}

fn here_and_elsewhere(manager: &Manager) -> [Store<Secret>; 2] {
    let elsewhere = StoreOptions::new().namespaces(["elsewhere"]);
    [manager.store(), manager.store_with(elsewhere)]
}

/// The Role of a namespaced operator exists only in its namespaces.
#[tokio::test]
async fn a_namespace_without_the_role_is_refused() -> Result<()> {
    let cluster = Cluster::start()?;
    let options = ManagerOptions {
        scope: WatchScope::Namespaces,
        ..OPTIONS
    };
    let (operator, [here, elsewhere]) = start(&cluster, &options, here_and_elsewhere)?;
    tokio::time::timeout(SOON, here.synced()).await?;
    eventually(SOON, async || {
        let refused = operator.refused().join("\n");
        ensure!(
            refused.contains("in the namespace \"elsewhere\""),
            "{refused}"
        );
        Ok(())
    })
    .await?;
    ensure!(elsewhere.list().is_empty());
    Ok(())
}

fn password(manager: &Manager) -> Store<Secret> {
    manager.store_with(StoreOptions::new().fields("metadata.name=password"))
}

#[tokio::test]
async fn one_object_may_be_read_without_the_others() -> Result<()> {
    let cluster = Cluster::start()?;
    let api: Api<Secret> = cluster.api()?;
    for name in ["other", "password"] {
        let secret = from_value(json!({ "metadata": { "name": name } }))?;
        api.create(&PostParams::default(), &secret).await?;
    }
    let controller = Controller::new("widgets", reconcile);
    let controller = controller.needs_named::<Secret>("password", Verb::READ);
    let (operator, store) = start_with(&cluster, &OPTIONS, controller, password)?;
    tokio::time::timeout(SOON, store.synced()).await?;
    let held: Vec<_> = store
        .list()
        .iter()
        .map(|secret| secret.name_any())
        .collect();
    ensure!(held == ["password"], "{held:?}");

    let api: Api<Secret> = Api::namespaced(operator.client()?, NAMESPACE);
    api.get("password").await?;
    for refused in [
        api.get("other").await.map(|_| ()),
        api.list(&ListParams::default()).await.map(|_| ()),
    ] {
        let refused = refused.err().context("it may read the others")?;
        ensure!(
            matches!(&refused, kube::Error::Api(s) if s.is_forbidden()),
            "{refused}"
        );
    }
    operator.stop()
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// The operator of the test below: this binary again, with its flags in the environment.
#[test]
fn operator() {
    let Ok(flags) = env::var("TEST_STORES_FLAGS") else {
        return;
    };
    let args = Args::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    // As in `main` of a project.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let begin = Instant::now();
        let manager = Manager::new(&OPTIONS, args.manager).await.unwrap();
        let secrets = match env::var("TEST_STORES_WHOLE") {
            Ok(_) => manager.store::<Secret>(),
            Err(_) => manager.store_with(StoreOptions::new().transform(without_data)),
        };
        let filled = async {
            secrets.synced().await;
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let (held, took) = (secrets.list().len(), begin.elapsed().as_millis());
            println!("\nfilled {held} {took} {}", peak.unwrap().trim());
        };
        tokio::select! {
            result = manager.run() => panic!("{result:?}"),
            () = filled => {}
        }
    });
}

const SECRETS: usize = 150;

/// The memory limit of the generated Deployment, in kB.
const LIMIT: usize = 128 << 10;

#[tokio::test]
async fn secrets_larger_than_the_memory_limit_fit() -> Result<()> {
    let cluster = Cluster::start()?;
    // Built once, because it takes a while in a debug build.
    let data = json!({ "data": { "key": "eHh4".repeat(1_000_000 / 3) } });
    let kind = ApiResource::erase::<Secret>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client()?, NAMESPACE, &kind);
    let create = |number| {
        let (api, name) = (api.clone(), format!("s-{number:03}"));
        let secret = DynamicObject::new(&name, &kind).data(data.clone());
        async move {
            api.create(&PostParams::default(), &secret)
                .await
                .map(|_| ())
        }
    };
    let creates = stream::iter((0..SECRETS).map(create)).buffer_unordered(2);
    creates.try_collect::<Vec<_>>().await?;

    let kubeconfig = cluster.control_plane().kubeconfig().to_owned();
    let run = |whole| {
        let kubeconfig = kubeconfig.clone();
        tokio::task::spawn_blocking(move || fill(&kubeconfig, whole))
    };
    let (whole, part) = (run(true).await??, run(false).await??);
    for filled in [&whole, &part] {
        ensure!(filled.held == SECRETS, "it holds {}", filled.held);
    }
    let (whole, part) = (whole.peak, part.peak);
    ensure!(whole > LIMIT, "whole, they would fit: {whole} kB");
    ensure!(part < LIMIT, "{part} kB");
    println!("{SECRETS} Secrets of 1 MB: {whole} kB, without their data {part} kB");
    Ok(())
}

/// An operator when its store held all Secrets.
pub struct Filled {
    pub held: usize,
    pub took: Duration,
    /// Its peak memory in kB.
    pub peak: usize,
}

/// Runs an operator until its store holds all Secrets, `whole` or without their data.
pub fn fill(kubeconfig: &Path, whole: bool) -> Result<Filled> {
    let flags = format!(
        "--health-probe-bind-address=:{} --metrics-bind-address=127.0.0.1:{} --metrics-secure=false \
         --kubeconfig={}",
        free_port()?,
        free_port()?,
        kubeconfig.display()
    );
    let mut command = Command::new(env::current_exe()?);
    command
        .args(["--exact", "stores::operator", "--nocapture"])
        .env("TEST_STORES_FLAGS", flags)
        .stderr(Stdio::inherit());
    if whole {
        command.env("TEST_STORES_WHOLE", "");
    }
    let text = String::from_utf8(command.output()?.stdout)?;
    let line = text.lines().find_map(|line| line.strip_prefix("filled "));
    let mut words = line.with_context(|| text.clone())?.split_whitespace();
    let mut number = || anyhow::Ok(words.next().context("too short")?.parse::<usize>()?);
    Ok(Filled {
        held: number()?,
        took: Duration::from_millis(number()?.try_into()?),
        peak: number()?,
    })
}
