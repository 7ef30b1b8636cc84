//! The operator of the README: it runs as many replicas of memcached as a `Memcached` asks for.
//!
//! ```sh
//! cargo run --example memcached -- --crd | kubectl apply -f -
//! cargo run --example memcached
//! ```

use std::{env, error::Error, io, sync::Arc};

use clap::Parser;
use k8s_openapi::{api::apps::v1::Deployment, apimachinery::pkg::apis::meta::v1::Condition};
use kube::{Api, Client, CustomResource, CustomResourceExt, KubeSchema, ResourceExt};
use operator_runtime::{Applier, Controller, Flags, Manager, ManagerOptions, Store, WatchScope};
use operator_runtime::{ReadyCondition, status};
use serde::{Deserialize, Serialize};
use serde_json::{from_value, json, to_writer};

#[derive(Clone, Debug, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(group = "cache.example.com", version = "v1", kind = "Memcached")]
#[kube(namespaced, status = "MemcachedStatus")]
struct MemcachedSpec {
    replicas: i32,
}

#[derive(Clone, Debug, Default, Deserialize, KubeSchema, Serialize)]
struct MemcachedStatus {
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    conditions: Vec<Condition>,
}

struct Context(Client, Applier, Store<Deployment>);

/// Drives the cluster toward `memcached.spec`; called on every change of it or its Deployment.
async fn reconcile(memcached: Arc<Memcached>, ctx: Arc<Context>) -> kube::Result<()> {
    let Context(client, applier, deployments) = &*ctx;
    let (name, replicas) = (memcached.name_any(), memcached.spec.replicas);
    let pod = json!({ "containers": [{ "name": "memcached", "image": "memcached:1.6" }] });
    let template = json!({ "metadata": { "labels": { "app": name } }, "spec": pod });
    let selector = json!({ "matchLabels": { "app": name } });
    let spec = json!({ "replicas": replicas, "selector": selector, "template": template });
    let deployment = json!({ "metadata": { "name": name }, "spec": spec });
    let deployment: Deployment = from_value(deployment).map_err(kube::Error::SerdeError)?;
    applier.owned(&*memcached, deployment).await?;

    let found = deployments.get(memcached.namespace().as_deref(), &name);
    let status = found.as_ref().and_then(|found| found.status.as_ref());
    let ready = status.and_then(|status| status.ready_replicas).unwrap_or(0);
    let message = format!("{ready} of {replicas} replicas are ready");
    let ready = ReadyCondition::default().of(&*memcached, ready >= replicas, "Deployed", message);
    let new = MemcachedStatus {
        conditions: vec![ready],
    };
    let api = Api::namespaced(client.clone(), &memcached.namespace().unwrap_or_default());
    status::patch(&api, &*memcached, &new).await.map(|_| ())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if env::args().any(|arg| arg == "--crd") {
        return Ok(to_writer(io::stdout(), &Memcached::crd())?);
    }
    let (name, scope) = ("memcached.example.com", WatchScope::Cluster);
    let manager = Manager::new(&ManagerOptions { name, scope }, Flags::parse()).await?;
    let context = Context(manager.client(), manager.applier(), manager.store());
    let controller = Controller::new("memcached", reconcile).owns::<Deployment>();
    Ok(manager.controllers(controller, context).run().await?)
}
