//! A project's integration tests: the context of its operator, and roles beside the declared permissions.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::{authorization::v1::SelfSubjectAccessReview, core::v1::ConfigMap};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Controllers, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, NAMESPACE},
    webhook::Webhooks,
};
use serde_json::{from_value, json};

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
