//! kube's own `Controller` in a manager, which adds probes, logs, leader election with a fenced client, and
//! a graceful shutdown.
//!
//! For an existing operator without a rewrite. Reconcile metrics, cached reads and RBAC from types need an
//! `operator_runtime::Controller`.
//!
//! ```sh
//! cargo run --example kube_controller
//! kubectl create configmap greeting
//! kubectl label configmap greeting greet=world
//! kubectl get configmap greeting -o jsonpath='{.data.greeting}'
//! ```

use std::{error::Error, sync::Arc, time::Duration};

use clap::Parser;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        controller::{Action, Controller},
        watcher,
    },
};
use operator_runtime::{Flags, Manager, ManagerOptions, WatchScope};
use serde_json::json;

async fn reconcile(object: Arc<ConfigMap>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = object.namespace().unwrap_or_default();
    let api: Api<ConfigMap> = Api::namespaced((*client).clone(), &namespace);
    let name = object.name_any();
    let greeting = format!("Hello, {}!", object.labels()["greet"]);
    let patch = Patch::Apply(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name },
        "data": { "greeting": greeting },
    }));
    let params = PatchParams::apply("kube-controller.example.com").force();
    api.patch(&name, &params, &patch).await?;
    Ok(Action::await_change())
}

fn on_error(_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Client>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

/// Greets each ConfigMap that has a label `greet`
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    flags: Flags,
}

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "kube-controller.example.com",
    scope: WatchScope::Cluster,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let manager = Manager::new(&OPTIONS, Args::parse().flags).await?;
    let client = manager.client();
    let objects = Api::<ConfigMap>::all(client.clone());
    // The client closes a watch after 65 s of silence, so the timeout is shorter.
    let config = watcher::Config::default().labels("greet").timeout(50);
    // A task runs while this replica leads, until its token is cancelled.
    let manager = manager.task("greeter", |stop| async move {
        Controller::new(objects, config)
            .graceful_shutdown_on(stop.cancelled_owned())
            .run(reconcile, on_error, Arc::new(client))
            .for_each(|result| async {
                if let Err(error) = result {
                    tracing::warn!(%error, "reconcile failed");
                }
            })
            .await;
        Ok(())
    });
    Ok(manager.run().await?)
}
