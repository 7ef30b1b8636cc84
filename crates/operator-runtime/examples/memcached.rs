//! The operator of the README: it runs as many replicas of memcached as a `Memcached` asks for.
//!
//! ```sh
//! cargo run --example memcached -- --crd | kubectl apply -f -
//! cargo run --example memcached
//! ```

use std::{error::Error, sync::Arc};

use clap::Parser;
use k8s_openapi::{api::apps::v1::Deployment, apimachinery::pkg::apis::meta::v1::Condition};
use kube::{Api, Client, CustomResource, CustomResourceExt, KubeSchema, ResourceExt};
use operator_runtime::{Applier, Controller, Controllers, Flags, Manager, ManagerOptions, Store};
use operator_runtime::{WatchScope, conditions, status};
use serde::{Deserialize, Serialize};
use serde_json::{from_value, json};

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

struct Context {
    client: Client,
    applier: Applier,
    deployments: Store<Deployment>,
}

/// Drives the cluster toward `memcached.spec`; called on every change of it or its Deployment.
async fn reconcile(memcached: Arc<Memcached>, ctx: Arc<Context>) -> kube::Result<()> {
    let (name, replicas) = (memcached.name_any(), memcached.spec.replicas);
    let labels = json!({ "app": name });
    let pod = json!({ "containers": [{ "name": "memcached", "image": "memcached:1.6" }] });
    let template = json!({ "metadata": { "labels": labels }, "spec": pod });
    let selector = json!({ "matchLabels": labels });
    let spec = json!({ "replicas": replicas, "selector": selector, "template": template });
    let deployment = json!({ "metadata": { "name": name }, "spec": spec });
    let deployment: Deployment = from_value(deployment).map_err(kube::Error::SerdeError)?;
    ctx.applier.owned(&*memcached, deployment).await?;

    let namespace = memcached.namespace().unwrap_or_default();
    let found = ctx.deployments.get(Some(&namespace), &name);
    let ready = found.and_then(|found| found.status.as_ref()?.ready_replicas);
    let ready = ready.unwrap_or_default();
    let message = format!("{ready} of {replicas} replicas are ready");
    let ready = conditions::new(&*memcached, "Ready", ready >= replicas, "Deployed", message);
    let mut new = memcached.status.clone().unwrap_or_default();
    conditions::set(&mut new.conditions, ready);
    let api = Api::namespaced(ctx.client.clone(), &namespace);
    status::patch(&api, &*memcached, &new).await.map(|_| ())
}

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "memcached.example.com",
    scope: WatchScope::Cluster,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|arg| arg == "--crd") {
        println!("{}", serde_json::to_string_pretty(&Memcached::crd())?);
        return Ok(());
    }
    let manager = Manager::new(&OPTIONS, Flags::parse()).await?;
    let context = Context {
        client: manager.client(),
        applier: manager.applier(),
        deployments: manager.store(),
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("memcached", reconcile).owns::<Deployment>());
    Ok(manager.controllers(controllers, context).run().await?)
}
