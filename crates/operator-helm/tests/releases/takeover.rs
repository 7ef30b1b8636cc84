//! Releases of operator-sdk are taken over while their objects run.

use std::{
    env, fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::CronJob,
    core::v1::{ConfigMap, Pod, Secret, Service},
};
use kube::{
    Api, Client, ResourceExt,
    api::{DynamicObject, ListParams, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use operator_runtime::envtest::{Cluster, NAMESPACE, Options, eventually};
use serde_json::json;

use crate::{
    former,
    web::{LIMIT, Release, run},
};

/// What has to be the same before and after.
#[derive(Debug, PartialEq)]
struct Running {
    /// The uids of the Pods.
    pods: Vec<Option<String>>,
    set: Option<String>,
    /// The revision of the template that the Pods have.
    revision: Option<String>,
    address: Option<String>,
}

impl Running {
    /// When so many Pods are there.
    async fn of(release: &Release, replicas: usize) -> Result<Self> {
        let labels =
            ListParams::default().labels(&format!("app.kubernetes.io/instance={}", release.name));
        let pods = eventually(LIMIT, async || {
            let api: Api<Pod> = release.api();
            let pods = api.list(&labels).await?.items;
            // The kubelet would do this. A StatefulSet makes the next Pod when one is ready.
            let ready = json!([{ "type": "Ready", "status": "True" }]);
            let ready = json!({ "status": { "phase": "Running", "conditions": ready } });
            for pod in &pods {
                let ready = Patch::Merge(&ready);
                api.patch_status(&pod.name_any(), &PatchParams::default(), &ready)
                    .await?;
            }
            ensure!(pods.len() == replicas, "{} Pods", pods.len());
            Ok(pods)
        })
        .await?;
        let set: StatefulSet = release.api().get(release.name).await?;
        let service: Service = release.api().get(release.name).await?;
        Ok(Self {
            pods: pods.iter().map(ResourceExt::uid).collect(),
            set: set.uid(),
            revision: set.status.and_then(|it| it.update_revision),
            address: service.spec.and_then(|it| it.cluster_ip),
        })
    }
}

/// A cluster whose StatefulSets have Pods.
fn start() -> Result<Cluster> {
    Cluster::start_with(&Options {
        controller_manager: true,
        ..Options::default()
    })
}

/// Goes on where the former operator stopped. `moved` has 2 replicas; `ended` is deleted before this operator begins.
async fn go_on(cluster: &Cluster, moved: &Release, ended: &Release) -> Result<()> {
    let before = Running::of(moved, 2).await?;
    ended.delete().await?;
    let operator = run(cluster)?;
    moved.is_at(2).await?;
    moved.condition("Released", "True", "").await?;
    ensure!(Running::of(moved, 2).await? == before, "{before:?}");
    former::is_taken_over(moved).await?;
    // The former chart had another source of the volume, and a volume has one.
    let disk = format!("{}-disk", moved.name);
    let has_config = |it: &CronJob| {
        let job = it.spec.job_template.spec.as_ref();
        let pod = job.and_then(|job| job.template.spec.as_ref());
        let volumes = pod.and_then(|it| it.volumes.clone()).unwrap_or_default();
        volumes
            .iter()
            .all(|it| it.config_map.is_some() && it.empty_dir.is_none())
    };
    moved.has(&disk, has_config).await?;
    let labels = ListParams::default().labels(&format!("owner=helm,name={}", moved.name));
    let revisions = moved.api::<Secret>().list(&labels).await?;
    let shown = revisions
        .iter()
        .map(|it| (&*it.labels()["version"], &*it.labels()["status"]));
    let shown: Vec<_> = shown.collect();
    ensure!(
        shown == [("1", "superseded"), ("2", "deployed")],
        "{shown:?}"
    );

    moved.change(json!({ "replicaCount": 3 })).await?;
    moved.is_at(3).await?;
    let after = Running::of(moved, 3).await?;
    ensure!(after.revision == before.revision, "{after:?}");

    ended.is_gone().await?;
    moved.delete().await?;
    moved.is_gone().await?;
    for release in [moved, ended] {
        release.lacks::<StatefulSet>(release.name).await?;
        let config = format!("{}-config", release.name);
        release.lacks::<ConfigMap>(&config).await?;
        former::has_nothing_dropped(release).await?;
        release
            .has::<Secret>(&format!("{}-kept", release.name), |_| true)
            .await?;
    }
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn releases_are_taken_over() -> Result<()> {
    let cluster = start()?;
    cluster.install(crate::web::crds()).await?;
    let moved = Release::new(&cluster, "moved")?;
    let ended = Release::new(&cluster, "ended")?;
    former::install(
        &moved,
        json!({ "replicaCount": 2, "disk": { "enabled": true } }),
    )
    .await?;
    former::install(&ended, json!({})).await?;
    go_on(&cluster, &moved, &ended).await
}

/// The operator of operator-sdk, which ends when this is dropped.
struct InGo(Child);

impl Drop for InGo {
    fn drop(&mut self) {
        // It may have ended by itself, and the test says so elsewhere.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl InGo {
    /// Starts it in a directory with its charts.
    fn start(directory: &Path, kubeconfig: &Path) -> Result<Self> {
        let program = env::var("HELM_OPERATOR").context("HELM_OPERATOR names no program")?;
        for (path, bytes) in former::chart() {
            let path = directory.join("helm-charts/web").join(path);
            fs::create_dir_all(path.parent().context("no directory")?)?;
            fs::write(path, bytes)?;
        }
        let watches = json!([{
            "group": "charts.example.com", "version": "v1alpha1", "kind": "Web", "chart": "helm-charts/web",
        }]);
        fs::write(directory.join("watches.yaml"), watches.to_string())?;
        let log = fs::File::create(directory.join("log"))?;
        let child = Command::new(program)
            .args(["run", "--metrics-bind-address=0"])
            .args(["--health-probe-bind-address=0", "--leader-elect=false"])
            .current_dir(directory)
            .env("KUBECONFIG", kubeconfig)
            .env("WATCH_NAMESPACE", NAMESPACE)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok(Self(child))
    }
}

/// The CRD as operator-sdk generates it, without a schema.
async fn install_open_crd(cluster: &Cluster) -> Result<()> {
    let mut crds = crate::web::crds()?;
    for crd in &mut crds {
        for version in &mut crd.spec.versions {
            let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
            version.schema = Some(serde_json::from_value(json!({ "openAPIV3Schema": {
                "type": "object", "properties": { "spec": open, "status": open },
            }}))?);
        }
    }
    cluster.install(anyhow::Ok(crds)).await
}

async fn is_deployed(client: Client, name: &str, log: &Path) -> Result<()> {
    let kind = GroupVersionKind::gvk("charts.example.com", "v1alpha1", "Web");
    let kind = ApiResource::from_gvk_with_plural(&kind, "webs");
    let api: Api<DynamicObject> = Api::namespaced_with(client, NAMESPACE, &kind);
    eventually(LIMIT, async || {
        let status = api.get(name).await?.data["status"].clone();
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let deployed = conditions.iter().any(|it| it["type"] == "Deployed");
        match deployed && status["deployedRelease"]["name"] == name {
            true => Ok(()),
            false => bail!("{status}: {}", fs::read_to_string(log)?),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs operator-sdk's operator: make takeover"]
async fn the_operator_in_go_is_taken_over() -> Result<()> {
    let cluster = start()?;
    install_open_crd(&cluster).await?;
    let directory = tempfile::tempdir()?;
    let go = InGo::start(directory.path(), &cluster.control_plane().kubeconfig())?;
    let moved = Release::new(&cluster, "moved")?;
    let ended = Release::new(&cluster, "ended")?;
    moved
        .create(json!({ "replicaCount": 2, "disk": { "enabled": true } }))
        .await?;
    ended.create(json!({})).await?;
    for release in [&moved, &ended] {
        let log = directory.path().join("log");
        is_deployed(release.client.clone(), release.name, &log).await?;
    }
    drop(go);
    let set: StatefulSet = moved.api().get(moved.name).await?;
    ensure!(!former::owned(&set).is_empty(), "{set:?}");
    go_on(&cluster, &moved, &ended).await
}
