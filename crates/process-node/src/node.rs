//! The node: takes Pods that no node has, gives claims a disk, and reports itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use futures::StreamExt;
use k8s_openapi::{
    api::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod},
    jiff::Timestamp,
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt, watcher},
};
use serde_json::json;
use tokio::{sync::watch, time::sleep};

use crate::{host::Host, network, pod};

/// The name of the node.
pub(crate) const NAME: &str = "processes";

/// The beginning of the names of volumes that the node makes.
const VOLUME: &str = "pvc-";

/// Runs the node, for as long as the machine runs.
pub(crate) fn run(host: Arc<Host>) {
    let client = host.client.clone();
    tokio::spawn(async move { forever("the Node", || report(&client)).await });
    let pods = host.clone();
    tokio::spawn(async move { forever("Pods", || run_pods(&pods)).await });
    tokio::spawn(async move { forever("claims", || provide_volumes(&host)).await });
}

/// Registers the Node and keeps its Lease.
async fn report(client: &Client) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let params = PatchParams::apply("process-node").force();
    let node = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": NAME, "labels": { "kubernetes.io/hostname": NAME, "kubernetes.io/os": "linux" } },
    });
    nodes.patch(NAME, &params, &Patch::Apply(node)).await?;
    let status = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": NAME },
        "status": {
            "addresses": [{ "type": "InternalIP", "address": network::GATEWAY }],
            "capacity": { "cpu": "64", "memory": "256Gi", "pods": "1000" },
            "allocatable": { "cpu": "64", "memory": "256Gi", "pods": "1000" },
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Running", "message": "",
                "lastHeartbeatTime": Timestamp::now(), "lastTransitionTime": Timestamp::now(),
            }],
        },
    });
    nodes
        .patch_status(NAME, &params, &Patch::Apply(status))
        .await?;
    let leases: Api<k8s_openapi::api::coordination::v1::Lease> =
        Api::namespaced(client.clone(), "kube-node-lease");
    loop {
        let now = Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
            .to_string();
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": NAME },
            "spec": { "holderIdentity": NAME, "leaseDurationSeconds": 40, "renewTime": now },
        });
        leases.patch(NAME, &params, &Patch::Apply(lease)).await?;
        sleep(Duration::from_secs(10)).await;
    }
}

/// Takes Pods that have no node, and runs those that it has.
async fn run_pods(host: &Arc<Host>) -> Result<()> {
    let pods: Api<Pod> = Api::all(host.client.clone());
    let mut running: BTreeMap<String, watch::Sender<Arc<Pod>>> = BTreeMap::new();
    let mut events = Box::pin(watcher(pods, watcher::Config::default()).default_backoff());
    let mut listed = BTreeSet::new();
    while let Some(event) = events.next().await {
        let pod = match event {
            Ok(watcher::Event::Apply(pod)) => pod,
            Ok(watcher::Event::InitApply(pod)) => {
                listed.extend(pod.uid());
                pod
            }
            Ok(watcher::Event::Delete(pod)) => {
                running.remove(&pod.uid().unwrap_or_default());
                continue;
            }
            Ok(watcher::Event::Init) => {
                listed.clear();
                continue;
            }
            Ok(watcher::Event::InitDone) => {
                running.retain(|uid, _| listed.contains(uid));
                continue;
            }
            // The API server is down: Pods run on, and the watcher tries again.
            Err(_) => continue,
        };
        let uid = pod.uid().unwrap_or_default();
        if let Some(sender) = running.get(&uid) {
            sender.send_replace(Arc::new(pod));
            continue;
        }
        let phase = pod
            .status
            .as_ref()
            .and_then(|status| status.phase.as_deref());
        if matches!(phase, Some("Succeeded" | "Failed")) {
            continue;
        }
        match pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) {
            Some(NAME) => {
                let (sender, receiver) = watch::channel(Arc::new(pod));
                running.insert(uid, sender);
                tokio::spawn(pod::run(host.clone(), receiver));
            }
            Some(_) => {}
            None => {
                let client = host.client.clone();
                tokio::spawn(async move { bind(&client, &pod).await });
            }
        }
    }
    Ok(())
}

/// Binds a Pod to this node, once its claims have disks.
async fn bind(client: &Client, pod: &Pod) {
    let namespace = pod.namespace().unwrap_or_default();
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), &namespace);
    let volumes = pod
        .spec
        .iter()
        .flat_map(|spec| spec.volumes.iter().flatten());
    for claim in volumes.filter_map(|volume| volume.persistent_volume_claim.as_ref()) {
        let is_bound = |claim: &PersistentVolumeClaim| {
            let phase = claim.status.as_ref().and_then(|it| it.phase.as_deref());
            phase == Some("Bound")
        };
        while !claims
            .get(&claim.claim_name)
            .await
            .is_ok_and(|it| is_bound(&it))
        {
            let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
            let found = pods.get_opt(&pod.name_any()).await;
            if found.is_ok_and(|found| found.is_none_or(|it| it.uid() != pod.uid())) {
                return;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
    let binding = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": { "name": pod.name_any(), "namespace": namespace, "uid": pod.uid() },
        "target": { "apiVersion": "v1", "kind": "Node", "name": NAME },
    });
    let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let created: kube::Result<kube::core::Status> = pods
        .create_subresource("binding", &pod.name_any(), &PostParams::default(), &binding)
        .await;
    if let Err(error) = created
        && !matches!(&error, kube::Error::Api(it) if it.is_conflict() || it.is_not_found())
    {
        eprintln!("process-node: cannot bind {}: {error}", pod.name_any());
    }
}

/// Gives each claim a volume, and takes the volume and its data away when the claim is gone.
async fn provide_volumes(host: &Host) -> Result<()> {
    let claims: Api<PersistentVolumeClaim> = Api::all(host.client.clone());
    let mut events = Box::pin(watcher(claims, watcher::Config::default()).default_backoff());
    let mut listed = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Init) => listed.clear(),
            Ok(watcher::Event::InitApply(claim)) => listed.push(claim),
            // No event reports a claim that was deleted while the watch was interrupted. Its disk goes before a new claim
            // of the same name gets one.
            Ok(watcher::Event::InitDone) => {
                release_others(&host.client, &listed).await?;
                for claim in &listed {
                    provide(host, claim).await?;
                }
            }
            Ok(watcher::Event::Apply(claim)) => provide(host, &claim).await?,
            Ok(watcher::Event::Delete(claim)) => {
                release(&host.client, &volume_name(&claim), &disk(host, &claim)).await?;
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// Takes the volumes away that belong to none of the claims.
async fn release_others(client: &Client, claims: &[PersistentVolumeClaim]) -> Result<()> {
    let names: BTreeSet<String> = claims.iter().map(volume_name).collect();
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    for volume in volumes.list(&ListParams::default()).await? {
        let name = volume.name_any();
        let path = volume.spec.and_then(|spec| Some(spec.host_path?.path));
        if let Some(disk) = path.filter(|_| name.starts_with(VOLUME) && !names.contains(&name)) {
            release(client, &name, Path::new(&disk)).await?;
        }
    }
    Ok(())
}

async fn release(client: &Client, volume: &str, disk: &Path) -> Result<()> {
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    match volumes.delete(volume, &DeleteParams::default()).await {
        Err(kube::Error::Api(error)) if error.is_not_found() => {}
        deleted => _ = deleted?,
    }
    _ = fs::remove_dir_all(disk);
    Ok(())
}

/// Gives a claim a volume, if it has none.
async fn provide(host: &Host, claim: &PersistentVolumeClaim) -> Result<()> {
    let spec = claim.spec.clone().unwrap_or_default();
    if spec.volume_name.is_some() {
        return Ok(());
    }
    let disk = disk(host, claim);
    fs::create_dir_all(&disk)?;
    let requests = spec
        .resources
        .and_then(|it| it.requests)
        .unwrap_or_default();
    let volume = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": { "name": volume_name(claim) },
        "spec": {
            "accessModes": spec.access_modes,
            "capacity": requests,
            "storageClassName": spec.storage_class_name.unwrap_or_default(),
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": { "path": disk },
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "name": claim.name_any(), "namespace": claim.namespace(), "uid": claim.uid(),
            },
        },
    });
    let volumes: Api<PersistentVolume> = Api::all(host.client.clone());
    let params = PatchParams::apply("process-node").force();
    volumes
        .patch(&volume_name(claim), &params, &Patch::Apply(volume))
        .await?;
    Ok(())
}

fn disk(host: &Host, claim: &PersistentVolumeClaim) -> PathBuf {
    let disks = host.directory.join("volumes");
    disks
        .join(claim.namespace().unwrap_or_default())
        .join(claim.name_any())
}

fn volume_name(claim: &PersistentVolumeClaim) -> String {
    format!("{VOLUME}{}", claim.uid().unwrap_or_default())
}

/// Does something again and again: an error, such as an API server that restarts, is no reason to stop.
pub(crate) async fn forever<F: Future<Output = Result<()>>>(what: &str, run: impl Fn() -> F) {
    loop {
        if let Err(error) = run().await {
            eprintln!("process-node: {what}: {error:#}");
        }
        sleep(Duration::from_millis(500)).await;
    }
}
