//! What a user does with kubectl, and what happens to Pods.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::workload::Etcd;

/// The namespace of `config/default`.
const OPERATOR: &str = "etcd-operator-system";
const DEPLOYMENT: &str = "etcd-operator-controller-manager";

/// Runs kubectl and returns its output.
///
/// # Errors
/// If kubectl fails.
pub fn kubectl(arguments: &[&str], input: Option<&str>) -> Result<String> {
    let mut kubectl = Command::new("kubectl");
    kubectl
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = kubectl.spawn().context("cannot run kubectl")?;
    if let Some(input) = input {
        use std::io::Write;
        let mut stdin = child.stdin.take().context("kubectl has no input")?;
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "kubectl {}: {error}",
        arguments.join(" ")
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Applies an object.
///
/// # Errors
/// If the API server refuses it.
pub fn apply(object: &Value) -> Result<()> {
    kubectl(
        &["apply", "--server-side", "-f", "-"],
        Some(&object.to_string()),
    )?;
    Ok(())
}

/// Merges `patch` into an object of the operator.
///
/// # Errors
/// If the API server refuses it.
pub fn patch(object: &str, patch: &Value) -> Result<()> {
    kubectl(
        &["patch", object, "--type=merge", "-p", &patch.to_string()],
        None,
    )?;
    Ok(())
}

/// An object.
///
/// # Errors
/// If there is no such object.
pub fn get(object: &str) -> Result<Value> {
    Ok(serde_json::from_str(&kubectl(
        &["get", object, "-o", "json"],
        None,
    )?)?)
}

/// An EtcdCluster.
pub fn cluster(name: &str, size: u32, version: &str) -> Value {
    json!({
        "apiVersion": "etcd.example.com/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "size": size, "version": version, "storage": { "size": "1Gi" } },
    })
}

/// An EtcdBackup that is taken once, and the claim for it.
pub fn backup(name: &str, cluster: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": { "name": name, "namespace": "default" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": { "requests": { "storage": "1Gi" } },
                },
            },
            {
                "apiVersion": "etcd.example.com/v1alpha1",
                "kind": "EtcdBackup",
                "metadata": { "name": name, "namespace": "default" },
                "spec": { "cluster": cluster, "destination": { "claim": name } },
            },
        ],
    })
}

/// An EtcdBackup that is taken once, to a bucket of [`object_store`].
pub fn backup_to_bucket(name: &str, cluster: &str) -> Value {
    json!({
        "apiVersion": "etcd.example.com/v1alpha1",
        "kind": "EtcdBackup",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "cluster": cluster, "destination": { "s3": {
            "bucket": "snapshots",
            "prefix": "test",
            "endpoint": "http://s3.default.svc:7070",
            "secret": "s3",
        } } },
    })
}

/// A server of S3's protocol with one bucket, and its credentials.
pub fn object_store() -> Value {
    let key = |name: &str| json!({ "secretKeyRef": { "name": "s3", "key": name } });
    json!({
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": { "name": "s3", "namespace": "default" },
                "stringData": { "AWS_ACCESS_KEY_ID": "snapshots", "AWS_SECRET_ACCESS_KEY": "not-so-secret" },
            },
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": { "name": "s3", "namespace": "default" },
                "spec": { "selector": { "app": "s3" }, "ports": [{ "port": 7070 }] },
            },
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": { "name": "s3", "namespace": "default", "labels": { "app": "s3" } },
                "spec": {
                    "containers": [{
                        "name": "s3",
                        "image": "versitygw",
                        "command": ["sh", "-c", "mkdir -p /data/objects/snapshots /data/attributes && \
                            exec versitygw --port :7070 posix --sidecar /data/attributes /data/objects"],
                        "env": [
                            { "name": "ROOT_ACCESS_KEY_ID", "valueFrom": key("AWS_ACCESS_KEY_ID") },
                            { "name": "ROOT_SECRET_ACCESS_KEY", "valueFrom": key("AWS_SECRET_ACCESS_KEY") },
                        ],
                        "readinessProbe": { "tcpSocket": { "port": 7070 }, "periodSeconds": 1 },
                        "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
                    }],
                    "volumes": [{ "name": "data", "emptyDir": {} }],
                },
            },
        ],
    })
}

/// An EtcdRestore.
pub fn restore(name: &str, cluster: &str, backup: &str, overwrite: bool) -> Value {
    json!({
        "apiVersion": "etcd.example.com/v1alpha1",
        "kind": "EtcdRestore",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "cluster": cluster, "backup": backup, "overwrite": overwrite },
    })
}

/// The reason and the message of a condition of an object, and whether it is true for the object's newest spec.
pub fn condition(object: &Value, type_: &str) -> (bool, String) {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let Some(found) = conditions.find(|it| it["type"] == type_) else {
        return (false, "no condition yet".to_owned());
    };
    let is_new = found["observedGeneration"] == object["metadata"]["generation"];
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (
        is_new && found["status"] == "True",
        format!("{}: {}", text("reason"), text("message")),
    )
}

/// Waits until an object is ready, and returns how long that took.
///
/// # Errors
/// If it takes longer than `patience`.
pub async fn ready(object: &str, patience: Duration) -> Result<Duration> {
    wait_for(object, patience, |found| condition(found, "Ready")).await
}

/// Waits until the condition `Ready` of an object has a reason.
///
/// # Errors
/// If it takes longer than `patience`.
pub async fn reason(object: &str, reason: &str, patience: Duration) -> Result<Duration> {
    let has = |found: &Value| {
        let (_, text) = condition(found, "Ready");
        (text.starts_with(&format!("{reason}:")), text)
    };
    wait_for(object, patience, has).await
}

/// Waits until a cluster is ready, in its own words and in fact: it has `size` Pods, and each is ready.
///
/// # Errors
/// If it takes longer than `patience`.
pub async fn settled(cluster: &str, size: usize, patience: Duration) -> Result<Duration> {
    let begin = Instant::now();
    loop {
        ready(&format!("etcdcluster/{cluster}"), patience).await?;
        let pods = pods(cluster)?;
        let is_ready = |pod: &&Value| {
            let conditions = pod["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
        };
        let count = pods.iter().filter(is_ready).count();
        if (count, pods.len()) == (size, size) {
            return Ok(begin.elapsed());
        }
        let all = pods.len();
        ensure!(
            begin.elapsed() < patience,
            "{cluster} says that it is ready, and {count} of its {all} Pods are, not {size}"
        );
        sleep(Duration::from_millis(200)).await;
    }
}

/// Does something again until it succeeds: what it needs may be about to start.
///
/// # Errors
/// The last error, after half a minute.
pub async fn eventually<T>(mut act: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    loop {
        match act().await {
            Err(_) if begin.elapsed() < Duration::from_secs(30) => {
                sleep(Duration::from_millis(200)).await;
            }
            result => return result,
        }
    }
}

async fn wait_for(
    object: &str,
    patience: Duration,
    check: impl Fn(&Value) -> (bool, String),
) -> Result<Duration> {
    let begin = Instant::now();
    loop {
        // The API server may be down, which is a fault to be survived.
        let why = match get(object) {
            Ok(found) => match check(&found) {
                (true, _) => return Ok(begin.elapsed()),
                (false, why) => why,
            },
            Err(error) => format!("{error:#}"),
        };
        if begin.elapsed() > patience {
            bail!("{object} within {patience:?}: {why}");
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// A client of a cluster, with the credentials from its Secret.
///
/// # Errors
/// If the Secret is missing.
pub fn client(cluster: &str) -> Result<Etcd> {
    let directory = run_directory()?.join("clients").join(cluster);
    fs::create_dir_all(&directory)?;
    let secret = get(&format!("secret/{cluster}-client"))?;
    for name in ["ca.crt", "tls.crt", "tls.key"] {
        use base64::{Engine, prelude::BASE64_STANDARD};
        let text = secret["data"][name]
            .as_str()
            .context("the Secret lacks a key")?;
        // Clients that connect again read the file meanwhile.
        let new = directory.join(format!("{name}.new"));
        fs::write(&new, BASE64_STANDARD.decode(text)?)?;
        fs::rename(new, directory.join(name))?;
    }
    Etcd::new(&format!("{cluster}-client.default.svc"), &directory)
}

/// Deploys the operator as `make deploy` does.
///
/// # Errors
/// If it does not become ready.
pub fn deploy(project: &Path) -> Result<()> {
    let directory = project.join("config/default").display().to_string();
    kubectl(&["apply", "--server-side", "-k", &directory], None)?;
    rolled_out()
}

/// Lets the operator end right before its write number `exit_at`, once. It runs without leader election, whose lease would
/// delay each restart.
///
/// # Errors
/// If it does not become ready.
pub fn exit_at(exit_at: u64) -> Result<()> {
    let patch = json!({ "spec": {
        "strategy": { "type": "Recreate", "rollingUpdate": null },
        "template": {
            "metadata": { "annotations": { "exit-at": exit_at.to_string() } },
            "spec": {
                "volumes": [{ "name": "fault", "emptyDir": {} }],
                "containers": [{
                    "name": "manager",
                    "args": ["--leader-elect=false", "--health-probe-bind-address=:8081"],
                    "env": [{ "name": "ETCD_OPERATOR_EXIT_AT", "value": exit_at.to_string() }],
                    "volumeMounts": [{ "name": "fault", "mountPath": "/fault" }],
                }],
            },
        },
    } });
    let deployment = format!("deployment/{DEPLOYMENT}");
    let arguments = [
        "-n",
        OPERATOR,
        "patch",
        &deployment,
        "-p",
        &patch.to_string(),
    ];
    kubectl(&arguments, None)?;
    rolled_out()
}

/// Whether the operator ended since it was deployed.
///
/// # Errors
/// If it has no Pod.
pub fn has_exited() -> Result<bool> {
    let pods = kubectl(&["-n", OPERATOR, "get", "pods", "-o", "json"], None)?;
    let pods: Value = serde_json::from_str(&pods)?;
    let restarts = pods.pointer("/items/0/status/containerStatuses/0/restartCount");
    Ok(restarts.and_then(Value::as_u64).unwrap_or_default() > 0)
}

fn rolled_out() -> Result<()> {
    let deployment = format!("deployment/{DEPLOYMENT}");
    kubectl(
        &[
            "-n",
            OPERATOR,
            "rollout",
            "status",
            &deployment,
            "--timeout=60s",
        ],
        None,
    )?;
    Ok(())
}

/// The directory of the machine.
///
/// # Errors
/// Outside `process-node run`.
pub fn run_directory() -> Result<PathBuf> {
    let directory = env::var_os("PROCESS_NODE_DIR");
    Ok(directory.context("not inside `process-node run`")?.into())
}

/// Disturbs the machine by a command of `process-node`.
///
/// # Errors
/// If the command fails, such as when the container does not run.
pub fn disturb(arguments: &[&str]) -> Result<()> {
    let program = env::var_os("PROCESS_NODE").context("PROCESS_NODE names no program")?;
    let output = Command::new(program).args(arguments).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "process-node {}: {error}",
        arguments.join(" ")
    );
    Ok(())
}

/// Kills the operator.
///
/// # Errors
/// If it does not run.
pub fn kill_operator() -> Result<()> {
    let names = kubectl(&["-n", OPERATOR, "get", "pods", "-o", "name"], None)?;
    let name = names.lines().next().context("the operator has no Pod")?;
    let name = name.trim_start_matches("pod/");
    disturb(&["kill", "--namespace", OPERATOR, name, "manager"])
}

/// The names of the members of a cluster.
///
/// # Errors
/// If there is no such cluster.
pub fn members(cluster: &str) -> Result<Vec<String>> {
    let found = get(&format!("etcdcluster/{cluster}"))?;
    let members = found["status"]["members"].as_array();
    let names = members
        .into_iter()
        .flatten()
        .filter_map(|it| it["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// The Pods of a cluster.
///
/// # Errors
/// If the API server does not answer.
pub fn pods(cluster: &str) -> Result<Vec<Value>> {
    let label = format!("-l=etcd.example.com/cluster={cluster}");
    let pods = kubectl(&["get", "pods", &label, "-o", "json"], None)?;
    let pods: Value = serde_json::from_str(&pods)?;
    Ok(pods["items"].as_array().cloned().unwrap_or_default())
}

/// The name of the member that leads.
///
/// # Errors
/// If no member tells, or the status of the cluster does not show that one.
pub async fn leader(cluster: &str) -> Result<String> {
    let id = client(cluster)?.leader().await?;
    let found = get(&format!("etcdcluster/{cluster}"))?;
    let members = found["status"]["members"].as_array();
    let mut members = members.into_iter().flatten();
    let leader = members.find(|it| it["id"] == format!("{id:x}"));
    let name = leader.and_then(|it| it["name"].as_str());
    Ok(name.context("the leader is no member")?.to_owned())
}
