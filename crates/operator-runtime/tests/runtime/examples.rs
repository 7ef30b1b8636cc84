//! Runs each example as a process against a real API server and checks its result.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::LazyLock,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::ConfigMap},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
    core::{ApiResource, GroupVersionKind},
};
use operator_runtime::envtest::{Cluster, NAMESPACE, free_port};
use serde_json::{Value, json};
use tokio::time::sleep;

/// An idle operator stops at once; a machine under load needs longer.
const STOP: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(30);

/// The cluster of all tests, each of which has its own types.
fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(Cluster::start);
    CLUSTER.as_ref().map_err(|error| anyhow!("{error:#}"))
}

/// The binaries of the examples by name. Builds them, because `cargo test --test examples` does not.
fn binaries() -> Result<&'static BTreeMap<String, PathBuf>> {
    static BINARIES: LazyLock<Result<BTreeMap<String, PathBuf>>> = LazyLock::new(build);
    BINARIES.as_ref().map_err(|error| anyhow!("{error:#}"))
}

fn build() -> Result<BTreeMap<String, PathBuf>> {
    let mut cargo = Command::new(env!("CARGO"));
    // As `make test` has compiled everything, so that only the examples are left to link.
    cargo.args(["build", "--profile", "test", "--workspace"]);
    cargo.args(["--examples", "--all-features", "--locked"]);
    cargo.args(["--message-format", "json", "--quiet"]);
    // cargo's variables would change the environment of build scripts, and rebuild half of the
    // dependencies.
    for (name, _) in env::vars() {
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "cannot build the examples:\n{errors}"
    );
    let mut binaries = BTreeMap::new();
    for line in output.stdout.split(|byte| *byte == b'\n') {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        if let (Some("example"), Some(name), Some(path)) = (
            message["target"]["kind"][0].as_str(),
            message["target"]["name"].as_str(),
            message["executable"].as_str(),
        ) {
            binaries.insert(name.to_owned(), path.into());
        }
    }
    Ok(binaries)
}

/// A running example. Dropping it kills it.
struct Example {
    child: Child,
    health: SocketAddr,
    log: PathBuf,
}

impl Example {
    /// Installs the CRD that the example prints, starts the example as an administrator, and waits until it
    /// is ready.
    async fn start(name: &str, flags: &[&str]) -> Result<Self> {
        let cluster = cluster()?;
        let binary = binaries()?.get(name);
        let binary = binary.with_context(|| format!("there is no example `{name}`"))?;
        if let Some(crd) = crd(binary)? {
            cluster.install(anyhow::Ok(vec![crd])).await?;
        }
        let health = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let log = directory(name)?.join("log");
        let child = Command::new(binary)
            .arg("--kubeconfig")
            .arg(cluster.control_plane().kubeconfig())
            .arg(format!("--health-probe-bind-address={health}"))
            .arg("--log-format=text")
            .args(flags)
            .env_remove("RUST_LOG")
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        let mut example = Self { child, health, log };
        let begin = Instant::now();
        while !example.get("/readyz").starts_with("HTTP/1.0 200") {
            if let Some(status) = example.child.try_wait()? {
                bail!("{name} ended ({status}):\n{}", example.log());
            }
            if begin.elapsed() > PATIENCE {
                bail!("{name} is not ready: {}", example.get("/readyz?verbose"));
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(example)
    }

    fn get(&self, path: &str) -> String {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(self.health)?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        ask().unwrap_or_default()
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Stops it as a rollout does: in time, and without an error.
    async fn stop(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        let kill = Command::new("kill").args(["-s", "TERM", &id]).status()?;
        ensure!(kill.success(), "cannot send SIGTERM");
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "{status}:\n{}", self.log());
                return Ok(());
            }
            ensure!(begin.elapsed() < STOP, "still runs:\n{}", self.log());
            sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The output of `--crd`; an example without a type of its own lacks the flag.
fn crd(binary: &Path) -> Result<Option<CustomResourceDefinition>> {
    let output = Command::new(binary).arg("--crd").output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(errors.contains("unexpected argument '--crd'"), "{errors}");
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&output.stdout)?))
}

/// An empty directory for the files of a test.
fn directory(name: &str) -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("example-{name}"));
    _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path)?;
    Ok(path)
}

/// Objects in a version of a type that only the example has in Rust.
fn objects(group: &str, version: &str, kind: &str) -> Result<Api<DynamicObject>> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let client = cluster()?.client()?;
    Ok(Api::namespaced_with(client, NAMESPACE, &resource))
}

async fn create(api: &Api<DynamicObject>, object: Value) -> Result<DynamicObject> {
    let object = serde_json::from_value(object)?;
    Ok(api.create(&PostParams::default(), &object).await?)
}

/// Waits until a dry run of a create has this result. The API server calls a webhook a moment after its
/// configuration exists.
async fn asked(
    api: &Api<DynamicObject>,
    object: &Value,
    is_asked: impl Fn(&kube::Result<DynamicObject>) -> bool,
) -> Result<()> {
    let object = serde_json::from_value(object.clone())?;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    until("the webhooks are asked", async || {
        Ok(is_asked(&api.create(&params, &object).await).then_some(()))
    })
    .await
}

/// Waits until `find` returns a value.
async fn until<T>(what: &str, mut find: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let begin = Instant::now();
    loop {
        if let Some(found) = find().await? {
            return Ok(found);
        }
        ensure!(
            begin.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the condition `Ready` of the newest generation has this status and message.
async fn until_ready(api: &Api<DynamicObject>, status: &str, message: &str) -> Result<()> {
    until(&format!("Ready={status}, `{message}`"), async || {
        let object = api.get("sample").await?;
        let ready = &object.data["status"]["conditions"][0];
        let newest = ready["observedGeneration"] == json!(object.metadata.generation);
        let holds = newest && ready["status"] == status && ready["message"] == message;
        Ok(holds.then_some(()))
    })
    .await
}

#[tokio::test]
async fn memcached() -> Result<()> {
    let example = Example::start("memcached", &[]).await?;
    let api = objects("cache.example.com", "v1", "Memcached")?;
    let sample = json!({
        "apiVersion": "cache.example.com/v1",
        "kind": "Memcached",
        "metadata": { "name": "sample" },
        "spec": { "replicas": 2 },
    });
    let owner = create(&api, sample).await?;
    until_ready(&api, "False", "0 of 2 replicas are ready").await?;
    let deployments = cluster()?.api::<Deployment>()?;
    let owned = deployments.get("sample").await?;
    ensure!(owned.owner_references()[0].uid == owner.uid().unwrap_or_default());

    // There is no kubelet, so the test reports the Pods as running.
    let running = json!({ "status": { "replicas": 2, "readyReplicas": 2 } });
    let (params, patch) = (PatchParams::default(), Patch::Merge(running));
    deployments.patch_status("sample", &params, &patch).await?;
    until_ready(&api, "True", "2 of 2 replicas are ready").await?;

    let scale = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    api.patch("sample", &params, &scale).await?;
    until_ready(&api, "False", "2 of 3 replicas are ready").await?;
    let replicas = deployments.get("sample").await?.spec.replicas;
    ensure!(replicas == Some(3), "{replicas:?}");
    example.stop().await
}

#[tokio::test]
async fn finalizer() -> Result<()> {
    let root = directory("buckets")?;
    let flag = format!("--root={}", root.display());
    let example = Example::start("finalizer", &[&flag]).await?;
    let api = objects("storage.example.com", "v1", "Bucket")?;
    let sample = json!({
        "apiVersion": "storage.example.com/v1",
        "kind": "Bucket",
        "metadata": { "name": "sample" },
        "spec": { "note": "mine" },
    });
    create(&api, sample).await?;
    let note = root.join(NAMESPACE).join("sample/README");
    until("the directory", async || {
        let text = fs::read_to_string(&note).ok();
        Ok(text.filter(|text| text == "mine"))
    })
    .await?;

    api.delete("sample", &DeleteParams::default()).await?;
    until("the end of the object", async || {
        Ok(api.get_opt("sample").await?.is_none().then_some(()))
    })
    .await?;
    ensure!(!root.join(NAMESPACE).join("sample").exists(), "it is left");
    example.stop().await
}

/// The type of an object is found while the operator runs, watched, and no longer watched.
#[tokio::test]
async fn stack() -> Result<()> {
    let example = Example::start("stack", &[]).await?;
    let api = objects("stack.example.com", "v1", "Stack")?;
    let gear = json!({
        "apiVersion": "late.example.com/v1",
        "kind": "Gear",
        "metadata": { "name": "gear" },
        "spec": { "teeth": 9 },
    });
    let config_map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "stacked" },
        "data": { "a": "b" },
    });
    let sample = json!({
        "apiVersion": "stack.example.com/v1",
        "kind": "Stack",
        "metadata": { "name": "sample" },
        "spec": { "objects": [gear, config_map] },
    });
    create(&api, sample).await?;
    let missing = "the API server does not serve Gear in late.example.com/v1";
    until_ready(&api, "False", missing).await?;

    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let late: CustomResourceDefinition = serde_json::from_value(json!({
        "metadata": { "name": "gears.late.example.com" },
        "spec": {
            "group": "late.example.com",
            "names": { "kind": "Gear", "plural": "gears" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": schema },
            }],
        },
    }))?;
    cluster()?.install(anyhow::Ok(vec![late])).await?;
    until_ready(&api, "True", "applied 2 objects").await?;

    let gears = objects("late.example.com", "v1", "Gear")?;
    let config_maps = cluster()?.api::<ConfigMap>()?;
    let first = gears.get("gear").await?;
    ensure!(first.data["spec"]["teeth"] == 9);
    config_maps.get("stacked").await?;
    // Its watch shows the deletion.
    gears.delete("gear", &DeleteParams::default()).await?;
    until("another gear", async || {
        let gear = gears.get_opt("gear").await?;
        Ok(gear.filter(|gear| gear.uid() != first.uid()))
    })
    .await?;

    let fewer = Patch::Merge(json!({ "spec": { "objects": [config_map] } }));
    api.patch("sample", &PatchParams::default(), &fewer).await?;
    until("the end of the gear and of its watch", async || {
        let is_gone = gears.get_opt("gear").await?.is_none();
        let ended = "no longer watching gears in late.example.com/v1";
        let types = &api.get("sample").await?.data["status"]["types"];
        let left = json!([{ "apiVersion": "v1", "kind": "ConfigMap" }]);
        Ok((is_gone && *types == left && example.log().contains(ended)).then_some(()))
    })
    .await?;
    config_maps.get("stacked").await?;

    // Without a finalizer, nothing tells the reconcile function.
    api.delete("sample", &DeleteParams::default()).await?;
    until("the end of all its watches", async || {
        let ended = "no longer watching configmaps in v1";
        Ok(example.log().contains(ended).then_some(()))
    })
    .await?;
    example.stop().await
}

#[tokio::test]
async fn webhooks() -> Result<()> {
    let port = format!("--webhook-port={}", free_port()?);
    let example = Example::start("webhooks", &["--webhook-host=localhost", &port]).await?;
    let api = objects("cache.example.com", "v1", "Cache")?;
    let older = objects("cache.example.com", "v1alpha1", "Cache")?;
    let sample = |replicas: i32| {
        json!({
            "apiVersion": "cache.example.com/v1",
            "kind": "Cache",
            "metadata": { "name": "sample" },
            "spec": { "replicas": replicas },
        })
    };
    asked(&api, &sample(-1), |tried| tried.is_err()).await?;
    let denied = create(&api, sample(-1)).await.err();
    let error = denied.context("it was let in")?.to_string();
    ensure!(
        error.contains("spec.replicas: Invalid value: -1: may not be negative"),
        "{error}"
    );

    let created = create(&api, sample(2)).await?;
    ensure!(created.data["spec"]["owner"] == "admin", "{}", created.data);
    let found = older.get("sample").await?;
    ensure!(found.data["spec"] == json!({ "size": 2 }), "{}", found.data);

    let params = PatchParams::default();
    let steal = Patch::Merge(json!({ "spec": { "owner": "me" } }));
    let error = api
        .patch("sample", &params, &steal)
        .await
        .err()
        .context("it was stolen")?;
    ensure!(
        error
            .to_string()
            .contains("spec.owner: Forbidden: may not change"),
        "{error}"
    );
    let error = api.delete("sample", &DeleteParams::default()).await.err();
    let error = error.context("it was deleted")?.to_string();
    ensure!(error.contains("scale it to 0 replicas first"), "{error}");

    // The fields that the older version cannot hold survive a write through it.
    let scale = Patch::Merge(json!({ "spec": { "size": 0 } }));
    older.patch("sample", &params, &scale).await?;
    let spec = api.get("sample").await?.data["spec"].take();
    ensure!(spec == json!({ "replicas": 0, "owner": "admin" }), "{spec}");
    api.delete("sample", &DeleteParams::default()).await?;
    example.stop().await
}

/// The rest is in the tests of the example itself.
#[tokio::test]
async fn cronjob() -> Result<()> {
    let port = format!("--webhook-port={}", free_port()?);
    // The example `webhooks` may run in the same cluster at the same time, with the default names.
    let flags = [
        "--webhook-host=localhost",
        "--webhook-mutating-configuration=cronjobs",
        "--webhook-validating-configuration=cronjobs",
        &port,
    ];
    let example = Example::start("cronjob", &flags).await?;
    let api = objects("batch.tutorial.kubebuilder.io", "v2", "CronJob")?;
    let pod =
        json!({ "restartPolicy": "OnFailure", "containers": [{ "name": "a", "image": "b" }] });
    let sample = json!({
        "apiVersion": "batch.tutorial.kubebuilder.io/v2",
        "kind": "CronJob",
        "metadata": { "name": "sample" },
        "spec": {
            "schedule": { "minute": "*/5" },
            "suspend": true,
            "jobTemplate": { "spec": { "template": { "spec": pod } } },
        },
    });
    asked(&api, &sample, |tried| {
        let tried = tried.as_ref().ok();
        tried.is_some_and(|tried| tried.data["spec"]["concurrencyPolicy"] == "Allow")
    })
    .await?;
    // The API server learns of the conversion apart from the webhooks, and until then stores this version as if it were the other.
    let old = objects("batch.tutorial.kubebuilder.io", "v1", "CronJob")?;
    let mut sample_of_old = sample.clone();
    sample_of_old["apiVersion"] = json!("batch.tutorial.kubebuilder.io/v1");
    sample_of_old["spec"]["schedule"] = json!("*/5 * * * *");
    asked(&old, &sample_of_old, kube::Result::is_ok).await?;
    create(&api, sample).await?;
    until_ready(&api, "False", "no Job is started").await?;
    example.stop().await
}

#[tokio::test]
async fn kube_controller() -> Result<()> {
    let example = Example::start("kube_controller", &[]).await?;
    let api = cluster()?.api::<ConfigMap>()?;
    let greeting = json!({ "metadata": { "name": "greeting", "labels": { "greet": "world" } } });
    let greeting = serde_json::from_value(greeting)?;
    api.create(&PostParams::default(), &greeting).await?;
    until("a greeting", async || {
        let data = api.get("greeting").await?.data.unwrap_or_default();
        Ok(data
            .get("greeting")
            .filter(|text| *text == "Hello, world!")
            .cloned())
    })
    .await?;
    example.stop().await
}

#[tokio::test]
async fn control_plane() -> Result<()> {
    let kubeconfig = directory("control_plane")?.join("bin/admin.kubeconfig");
    let binary = binaries()?.get("control_plane").context("no example")?;
    let child = Command::new(binary)
        .arg(&kubeconfig)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut example = Example {
        child,
        health: SocketAddr::from(([127, 0, 0, 1], 0)),
        log: PathBuf::new(),
    };
    until("a kubeconfig", async || {
        ensure!(example.child.try_wait()?.is_none(), "it ended");
        Ok(kubeconfig.is_file().then_some(()))
    })
    .await?;
    let options = KubeConfigOptions::default();
    let config = Kubeconfig::read_from(&kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(config, &options).await?;
    config.proxy_url = None;
    let api: Api<ConfigMap> = Api::namespaced(Client::try_from(config)?, NAMESPACE);
    api.list(&ListParams::default()).await?;

    let mut printed = example.child.stdout.take().context("no stdout")?;
    example.stop().await?;
    let mut text = String::new();
    printed.read_to_string(&mut text)?;
    let line = format!("export KUBECONFIG={}", kubeconfig.display());
    ensure!(text.contains(&line), "{text}");
    ensure!(!kubeconfig.exists(), "the kubeconfig is left");
    ensure!(api.list(&ListParams::default()).await.is_err(), "it runs");
    Ok(())
}
