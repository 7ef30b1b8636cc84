// SPDX-License-Identifier: Apache-2.0

use clap::Parser;
use manager::{Flags, Manager};
use operator::{Context, SETTINGS, controllers};

#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let manager = Manager::new(&SETTINGS, args.manager).await?;
    let context = Context::new(&manager);
    let manager = manager.controllers(controllers::all(), context);
    Ok(manager.run().await?)
}
