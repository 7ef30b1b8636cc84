//! The webhooks on operator-runtime, as `operator-forge` makes them.

use std::sync::Arc;

use clap::Parser;
use operator_runtime::{Flags, Manager, ManagerOptions, WatchScope};
use webhooks::webhooks::{Context, all};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "webhooks.bench.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let manager = Manager::new(&OPTIONS, args.manager).await?;
    let manager = manager.webhooks(all(), Arc::new(Context));
    Ok(manager.run().await?)
}
