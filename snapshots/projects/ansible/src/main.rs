// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use clap::Parser;
use operator_runtime::{Flags, Manager};

use caches::{Context, OPTIONS, OperatorFlags, controllers, webhooks};

#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    manager: Flags,
    #[command(flatten)]
    operator: OperatorFlags,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let manager = Manager::new(&OPTIONS, args.manager).await?;
    let context = Arc::new(Context::new(&manager, args.operator).await?);
    let manager = manager
        .controllers(controllers::all(), context.clone())
        .webhooks(webhooks::all(), context);
    Ok(manager.run().await?)
}
