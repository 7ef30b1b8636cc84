//! Drains nodes as `kubectl drain` does: cordons a node, evicts its Pods within their disruption budgets,
//! and uncordons it at the end.
//!
//! ```sh
//! cargo run --example drain -- --crd | kubectl apply -f -
//! cargo run --example drain
//! echo '{"apiVersion": "maintenance.example.com/v1", "kind": "NodeMaintenance",
//!     "metadata": {"name": "worker-1"}, "spec": {"timeoutSeconds": 300}}' | kubectl apply -f -
//! kubectl wait --for=condition=Drained --timeout=5m nodemaintenance/worker-1
//! kubectl delete nodemaintenance worker-1
//! ```

mod controller;

use std::error::Error;

use clap::Parser;
use kube::CustomResourceExt;
use operator_runtime::{Flags, Manager};

use controller::{Context, NodeMaintenance, OPTIONS, controller};

/// Drains nodes
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
        println!("{}", serde_json::to_string_pretty(&NodeMaintenance::crd())?);
        return Ok(());
    }
    let manager = Manager::new(&OPTIONS, args.flags).await?;
    let context = Context::new(&manager);
    Ok(manager.controllers(controller(), context).run().await?)
}
