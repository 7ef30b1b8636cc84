//! The operator, as `operator-forge create api --helm-chart` makes one.

use std::sync::Arc;

use clap::Parser;
use operator_helm::{Error, Releases};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, WatchScope,
};
use release_operator::{Cache, chart};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "release.bench.example.com",
    scope: WatchScope::Cluster,
};

const NAME: &str = "bench-cache";

struct Context {
    releases: Releases,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let manager = Manager::new(&OPTIONS, Flags::parse()).await?;
    let mut releases = Releases::new(&manager);
    releases.add::<Cache>(&manager, NAME, chart());
    let controller = Controller::new(NAME, reconcile).finalizer();
    let controllers = Controllers::from(chart().permissions(controller));
    let context = Context { releases };
    Ok(manager.controllers(controllers, context).run().await?)
}

async fn reconcile(cache: Arc<Cache>, context: Arc<Context>) -> Result<Action, Error> {
    context.releases.reconcile(NAME, &*cache).await
}
