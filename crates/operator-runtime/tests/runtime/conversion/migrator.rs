//! A migrating process with exactly the documented permissions.

use std::{
    env,
    io::BufReader,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
};

use anyhow::{Context, Result};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use operator_runtime::{envtest::ControlPlane, migrate::migrate};
use serde_json::json;

use crate::conversion::{
    setup::{apply, kubectl},
    types::crds,
};

/// The process. The tests of migration run this binary again.
#[tokio::test]
async fn process() -> Result<()> {
    let Some(kubeconfig) = env::var_os("TEST_MIGRATE") else {
        return Ok(());
    };
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    config.proxy_url = None;
    let client = Client::try_from(config)?;
    for crd in crds("v1")? {
        migrate(&client, &crd, |line| eprintln!("{line}")).await?;
    }
    Ok(())
}

/// Starts the process; also returns its output.
pub fn start(kubeconfig: &Path) -> Result<(Child, BufReader<ChildStderr>)> {
    let mut child = Command::new(env::current_exe()?)
        .args(["--exact", "conversion::migrator::process", "--nocapture"])
        .env("TEST_MIGRATE", kubeconfig)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(child.stderr.take().context("no stderr")?);
    Ok((child, lines))
}

/// A kubeconfig with exactly the documented permissions.
pub fn migrator(control_plane: &ControlPlane) -> Result<PathBuf> {
    kubectl(control_plane, "create serviceaccount migrator")?;
    let rules = json!([
        { "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["get"] },
        { "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions/status"], "verbs": ["patch"] },
        { "apiGroups": ["test.example.com"], "resources": ["widgets"], "verbs": ["list", "get", "patch"] },
    ]);
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": { "name": "migrator" },
        "rules": rules,
    });
    apply(control_plane, &role)?;
    let binding = "create clusterrolebinding migrator --clusterrole=migrator --serviceaccount=default:migrator";
    kubectl(control_plane, binding)?;
    let token = kubectl(control_plane, "create token migrator")?;
    control_plane.kubeconfig_for("migrator", &token)
}
