//! The operator on crate `manager`, as `operator-forge` makes one.

use std::sync::Arc;

use clap::Parser;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, Client, ResourceExt};
use manager::{
    Action, Applier, Controller, Controllers, Flags, Manager, Scope, Settings,
    finalizer::{self, Finalizer},
};
use server::{FINALIZER, Server, deployment, writes};

const SETTINGS: Settings = Settings {
    name: "server.bench.example.com",
    scope: Scope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// What every reconcile uses.
struct Context {
    client: Client,
    applier: Applier,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let manager = Manager::new(&SETTINGS, args.manager).await?;
    let context = Context {
        client: manager.client(),
        applier: manager.applier(),
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("server", reconcile).owns::<Deployment>());
    Ok(manager.controllers(controllers, context).run().await?)
}

async fn reconcile(server: Arc<Server>, context: Arc<Context>) -> kube::Result<Action> {
    let namespace = server.namespace().unwrap_or_default();
    let api = Api::namespaced(context.client.clone(), &namespace);
    match finalizer::add(&api, &*server, FINALIZER).await? {
        Finalizer::Reconcile(server) => {
            let deployment = deployment::wanted(&server);
            context.applier.owned(&server, deployment).await?;
            writes::set_available(&api, &server).await?;
        }
        Finalizer::CleanUp => finalizer::remove(&api, &*server, FINALIZER).await?,
        Finalizer::Gone => {}
    }
    Ok(Action::await_change())
}
