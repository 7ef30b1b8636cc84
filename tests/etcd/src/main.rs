//! Proves the etcd operator of `examples/`. Runs inside `process-node run`; `tests/etcd/run.sh` does all of it.

mod faults;
mod history;
mod operations;
mod space;
mod steps;
mod story;
mod workload;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Deploys the operator and shows that it keeps clusters of etcd alive
#[derive(Parser)]
struct Arguments {
    /// Directory of the operator's project
    #[arg(long)]
    project: PathBuf,
    /// Versions of etcd that the node has images for: an older and a newer one
    #[arg(long, num_args = 2)]
    versions: Vec<String>,
    #[command(subcommand)]
    command: Proof,
}

#[derive(Subcommand)]
enum Proof {
    /// Create, grow, back up, lose the majority, restore
    Story {
        /// Grow to five members and upgrade, too
        #[arg(long)]
        whole: bool,
    },
    /// Disturb clusters under load, and print a table
    Faults {
        /// Only the rows whose name contains this text
        #[arg(long, default_value = "")]
        only: String,
    },
    /// End the operator right before each of its writes
    Steps {
        /// Only this scenario: create, grow, upgrade or restore
        #[arg(long)]
        only: Option<String>,
    },
}

#[tokio::main]
async fn main() -> Result<()> {
    // Only fails if another provider is installed already.
    _ = rustls::crypto::ring::default_provider().install_default();
    let arguments = Arguments::parse();
    operations::deploy(&arguments.project)?;
    let versions = [
        arguments.versions[0].as_str(),
        arguments.versions[1].as_str(),
    ];
    match arguments.command {
        Proof::Story { whole } => story::run(versions, whole).await,
        Proof::Faults { only } => faults::run(versions, &only).await,
        Proof::Steps { only } => steps::run(versions, only.as_deref()).await,
    }
}
