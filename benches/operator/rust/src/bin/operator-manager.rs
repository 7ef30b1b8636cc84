//! The operator on crate `manager`, as `operator-forge` makes one.

use std::sync::Arc;

use clap::Parser;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, Client, ResourceExt};
use manager::{Action, Controller, Controllers, Flags, Manager, Scope, Settings};
use server::{FINALIZER, Server, writes};

const SETTINGS: Settings = Settings {
    name: "server.bench.example.com",
    scope: Scope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let manager = Manager::new(&SETTINGS, args.manager).await?;
    let context = manager.client();
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("server", reconcile).owns::<Deployment>());
    Ok(manager.controllers(controllers, context).run().await?)
}

async fn reconcile(server: Arc<Server>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = server.namespace().unwrap_or_default();
    let api = Api::namespaced((*client).clone(), &namespace);
    if !server.finalizers().iter().any(|name| name == FINALIZER) {
        // The event of this write brings the object back.
        writes::add_finalizer(&api, &server).await?;
        return Ok(Action::await_change());
    }
    writes::apply_deployment(&client, &server).await?;
    writes::set_available(&api, &server).await?;
    Ok(Action::await_change())
}
