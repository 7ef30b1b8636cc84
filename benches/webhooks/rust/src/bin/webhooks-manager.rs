//! The webhooks on crate `manager`, as `operator-forge` makes them.

use std::sync::Arc;

use clap::Parser;
use manager::{Flags, Manager, Scope, Settings};
use webhooks::webhooks::{Context, all};

const SETTINGS: Settings = Settings {
    name: "webhooks.bench.example.com",
    scope: Scope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let manager = Manager::new(&SETTINGS, args.manager).await?;
    let manager = manager.webhooks(all(), Arc::new(Context));
    Ok(manager.run().await?)
}
