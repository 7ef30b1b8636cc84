//! kubebuilder's CronJob tutorial, and its multiversion tutorial: see `README.md`.
//!
//! ```sh
//! cargo run --example cronjob -- --crd | kubectl apply -f -
//! cargo run --example cronjob -- --webhook-host 192.168.1.20
//! ```

mod api;
mod controller;
mod schedule;
mod status;
#[cfg(all(test, feature = "envtest"))]
mod tests;
mod webhooks;

use std::{error::Error, sync::Arc};

use clap::Parser;
use k8s_openapi::{
    api::batch::v1::Job,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::Client;
use operator_runtime::{
    Applier, CrdError, Crds, Flags, Manager, ManagerOptions, Store, WatchScope,
};

use api::{v1, v2};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "batch.tutorial.kubebuilder.io",
    scope: WatchScope::Cluster,
};

/// The context of reconciles and webhooks.
struct Context {
    client: Client,
    applier: Applier,
    jobs: Store<Job>,
}

impl Context {
    fn new(manager: &Manager) -> Self {
        Self {
            client: manager.client(),
            applier: manager.applier(),
            jobs: manager.store(),
        }
    }
}

/// Both versions; the first is the storage version.
fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<v1::CronJob>();
    crds.add_served::<v2::CronJob>();
    crds.merge()
}

/// Runs Jobs on a schedule
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    flags: Flags,
    /// Print the CRD and exit
    #[arg(long)]
    crd: bool,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if args.crd {
        for crd in crds()? {
            println!("{}", serde_json::to_string_pretty(&crd)?);
        }
        return Ok(());
    }
    let manager = Manager::new(&OPTIONS, args.flags).await?;
    let context = Arc::new(Context::new(&manager));
    let manager = manager
        .controllers(controller::controller(), context.clone())
        .webhooks(webhooks::webhooks(), context);
    Ok(manager.run().await?)
}
