// SPDX-License-Identifier: MIT

use std::sync::Arc;

use clap::Parser;
use operator_runtime::{Flags, Manager};
use project_many::{Context, OPTIONS, controllers, webhooks};

#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let manager = Manager::new(&OPTIONS, args.manager).await?;
    let context = Arc::new(Context::new(&manager));
    let manager = manager
        .controllers(controllers::all(), context.clone())
        .webhooks(webhooks::all(), context);
    Ok(manager.run().await?)
}
