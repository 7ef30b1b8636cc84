use std::sync::Arc;

use clap::Parser;
use operator_runtime::{Flags, Manager};

use etcd_operator::snapshot::SnapshotCommand;
use etcd_operator::{Context, OPTIONS, OperatorFlags, controllers, webhooks};

#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    manager: Flags,
    #[command(flatten)]
    operator: OperatorFlags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// What the Pods of backups and restores run.
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let Some(Command::Snapshot(snapshot)) = args.command {
        return snapshot.run().await;
    }
    let manager = Manager::new(&OPTIONS, args.manager).await?;
    let context = Arc::new(Context::new(&manager, args.operator).await?);
    let manager = manager
        .controllers(controllers::all(), context.clone())
        .webhooks(webhooks::all(), context);
    Ok(manager.run().await?)
}
