//! A project's integration tests: the context and the tasks of its operator, roles beside the declared
//! permissions, and reconciles side by side.

use std::{fs, path::Path, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::{authorization::v1::SelfSubjectAccessReview, core::v1::ConfigMap};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use operator_runtime::{
    CancellationToken, Controller, Controllers, Manager, ManagerOptions, TaskError, Verb,
    WatchScope,
    envtest::{Cluster, NAMESPACE, eventually},
    webhook::Webhooks,
};
use serde_json::{from_value, json};
use tokio::{sync::Notify, time::timeout};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "harness.example.com",
    scope: WatchScope::Cluster,
};

/// A Role and a ClusterRole, as in `config/rbac` of a project.
const ROLES: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: backup-role
  namespace: system
rules:
- {apiGroups: [\"\"], resources: [configmaps], resourceNames: [backup], verbs: [get, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: backup-rolebinding
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: version-role
rules:
- {nonResourceURLs: [/healthz], verbs: [get]}
";

#[derive(clap::Args)]
struct OperatorFlags {
    #[arg(long, default_value = "from-a-flag")]
    value: String,
}

struct Context;

impl Context {
    /// Calls the API server before the operator starts.
    async fn new(manager: &Manager, flags: OperatorFlags) -> Result<Self> {
        let api: Api<ConfigMap> = Api::namespaced(manager.client(), NAMESPACE);
        let patch = Patch::Merge(json!({ "data": { "key": flags.value } }));
        let made = api.patch("backup", &PatchParams::default(), &patch).await;
        made.context("no backup")?;
        Ok(Self)
    }
}

fn run(cluster: Cluster) -> Result<Cluster> {
    let crds = anyhow::Ok(Vec::new());
    let (controllers, webhooks) = (Controllers::default(), Webhooks::default());
    cluster.with_operator(&OPTIONS, crds, controllers, webhooks, Context::new)
}

#[tokio::test]
async fn the_context_is_built_with_the_roles_of_the_project() -> Result<()> {
    let Err(error) = run(Cluster::start()?) else {
        bail!("its context was made without permission");
    };
    let error = format!("{error:#}");
    ensure!(
        error.starts_with("cannot build the context: no backup: "),
        "{error}"
    );

    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("roles");
    fs::create_dir_all(&directory)?;
    let file = directory.join("backup_role.yaml");
    fs::write(&file, ROLES)?;
    let cluster = Cluster::start()?.with_roles(&file)?;
    let backups = cluster.api::<ConfigMap>()?;
    let backup: ConfigMap = from_value(json!({ "metadata": { "name": "backup" } }))?;
    backups.create(&PostParams::default(), &backup).await?;
    let cluster = run(cluster)?;
    let data = backups.get("backup").await?.data.unwrap_or_default();
    ensure!(data["key"] == "from-a-flag", "{data:?}");
    let review =
        json!({ "spec": { "nonResourceAttributes": { "path": "/healthz", "verb": "get" } } });
    let reviews: Api<SelfSubjectAccessReview> = Api::all(cluster.operator()?.client()?);
    let review = from_value(review)?;
    let review = reviews.create(&PostParams::default(), &review).await?;
    let status = review.status.context("a status")?;
    ensure!(status.allowed, "{status:?}");

    fs::write(&file, "kind: RoleBinding")?;
    let error = cluster
        .with_roles(&file)
        .err()
        .context("the file was accepted")?;
    fs::remove_dir_all(&directory)?;
    let error = format!("{error:#}");
    ensure!(
        error.ends_with("backup_role.yaml: the file contains no role"),
        "{error}"
    );
    Ok(())
}

const LIMIT: Duration = Duration::from_secs(20);

async fn ignore(_: Arc<ConfigMap>, _: Arc<Client>) -> kube::Result<()> {
    Ok(())
}

async fn report(client: Arc<Client>, stop: CancellationToken) -> Result<(), TaskError> {
    let api: Api<ConfigMap> = Api::namespaced((*client).clone(), NAMESPACE);
    let report = from_value(json!({ "metadata": { "name": "report" } }))?;
    api.create(&PostParams::default(), &report).await?;
    stop.cancelled().await;
    Ok(())
}

#[tokio::test]
async fn tasks_run_with_their_permissions() -> Result<()> {
    let controller = Controller::external("configs", ignore)
        .task("report", report)
        .needs::<ConfigMap>(&[Verb::Create]);
    let (crds, webhooks) = (anyhow::Ok(Vec::new()), Webhooks::default());
    let (controllers, context) = (controller.into(), Manager::client);
    let cluster =
        Cluster::start()?.with_operator(&OPTIONS, crds, controllers, webhooks, context)?;
    let reports = cluster.api::<ConfigMap>()?;
    eventually(LIMIT, async || Ok(reports.get("report").await.map(drop)?)).await?;
    let refused = cluster.operator()?.refused();
    ensure!(refused.is_empty(), "{refused:?}");
    Ok(())
}

#[derive(Clone, Default)]
struct Progress {
    slow: Arc<Notify>,
    fast: Arc<Notify>,
    ended: Arc<Notify>,
}

/// Ends the reconcile of `slow` only after that of `fast`.
async fn wait_for_fast(config: Arc<ConfigMap>, progress: Arc<Progress>) -> kube::Result<()> {
    match config.metadata.name.as_deref() {
        Some("slow") => {
            progress.slow.notify_one();
            progress.fast.notified().await;
            progress.ended.notify_one();
        }
        Some("fast") => progress.fast.notify_one(),
        _ => (),
    }
    Ok(())
}

#[tokio::test]
async fn a_slow_reconcile_does_not_block_the_object_of_another_test() -> Result<()> {
    let controllers = Controller::external("configs", wait_for_fast).into();
    let progress = Progress::default();
    let given = progress.clone();
    let (crds, webhooks) = (anyhow::Ok(Vec::new()), Webhooks::default());
    let context = |_: &Manager| given;
    let cluster =
        Cluster::start()?.with_operator(&OPTIONS, crds, controllers, webhooks, context)?;
    let configs = cluster.api::<ConfigMap>()?;
    let create = async |name: &str| {
        let config = from_value(json!({ "metadata": { "name": name } }))?;
        anyhow::Ok(configs.create(&PostParams::default(), &config).await?)
    };
    create("slow").await?;
    timeout(LIMIT, progress.slow.notified()).await?;
    create("fast").await?;
    timeout(LIMIT, progress.ended.notified()).await?;
    Ok(())
}
