//! The operator on operator-runtime, as `operator-forge` makes one.

use std::sync::Arc;

use clap::Parser;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, Client, ResourceExt};
use operator_runtime::{
    Action, Applier, Controller, Controllers, Flags, Manager, ManagerOptions, Watch, WatchScope,
    finalizer::{self, Event},
};
use server::{FINALIZER, Server, deployment, writes};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "server.bench.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    /// Watch only the Deployments with the label of this operator
    #[arg(long)]
    own_only: bool,

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
    let manager = Manager::new(&OPTIONS, args.manager).await?;
    let context = Context {
        client: manager.client(),
        applier: manager.applier(),
    };
    let mut controllers = Controllers::default();
    let controller = Controller::new("server", reconcile);
    controllers.add(match args.own_only {
        true => controller.owns_with::<Deployment>(Watch::new().labels(deployment::SELECTOR)),
        false => controller.owns::<Deployment>(),
    });
    Ok(manager.controllers(controllers, context).run().await?)
}

async fn reconcile(server: Arc<Server>, context: Arc<Context>) -> kube::Result<Action> {
    let namespace = server.namespace().unwrap_or_default();
    let api = Api::namespaced(context.client.clone(), &namespace);
    match finalizer::ensure(&api, &*server, FINALIZER).await? {
        Event::Apply(server) => {
            let deployment = deployment::wanted(&server);
            context.applier.owned(&server, deployment).await?;
            writes::set_available(&api, &server).await?;
        }
        Event::Cleanup => finalizer::remove(&api, &*server, FINALIZER).await?,
        Event::Gone => {}
    }
    Ok(Action::await_change())
}
