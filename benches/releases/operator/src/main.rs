//! The operator, as `operator-forge create api --helm-chart` makes one.

use std::sync::Arc;

use clap::Parser;
use operator_helm::{Error, InstallsChart, Releases};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, WatchScope,
};
use release_operator::{CHART, Cache};

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
    releases.add::<Cache>(&manager, NAME, &CHART);
    let controller = Controller::new(NAME, reconcile);
    let controllers = Controllers::from(controller.finalizer().installs(&CHART));
    let context = Context { releases };
    Ok(manager.controllers(controllers, context).run().await?)
}

async fn reconcile(cache: Arc<Cache>, context: Arc<Context>) -> Result<Action, Error> {
    let values = cache.spec.0.clone();
    context.releases.reconcile(&*cache, values).await
}
