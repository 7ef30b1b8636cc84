//! The operator on kube's own `Controller`, with nothing around it.

use std::{sync::Arc, time::Duration};

use clap::Parser;
use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, ResourceExt,
    runtime::{
        Controller,
        controller::{Action, Config},
        watcher,
    },
};
use server::{FINALIZER, Server, writes};

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 1)]
    max_concurrent_reconciles: u16,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let client = Client::try_default().await?;
    let config = Config::default().concurrency(args.max_concurrent_reconciles);
    let controller = Controller::new(
        Api::<Server>::all(client.clone()),
        watcher::Config::default(),
    )
    .owns(
        Api::<Deployment>::all(client.clone()),
        watcher::Config::default(),
    )
    .with_config(config)
    .shutdown_on_signal()
    .run(reconcile, retry, Arc::new(client));
    let report = |result| async move {
        if let Err(error) = result {
            eprintln!("{error}");
        }
    };
    controller.for_each(report).await;
    Ok(())
}

async fn reconcile(server: Arc<Server>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = server.namespace().unwrap_or_default();
    let api = Api::namespaced((*client).clone(), &namespace);
    if !server.finalizers().iter().any(|name| name == FINALIZER) {
        writes::add_finalizer(&api, &server).await?;
        return Ok(Action::await_change());
    }
    writes::apply_deployment(&client, &server).await?;
    writes::set_available(&api, &server).await?;
    Ok(Action::await_change())
}

fn retry(_: Arc<Server>, _: &kube::Error, _: Arc<Client>) -> Action {
    Action::requeue(Duration::from_secs(1))
}
