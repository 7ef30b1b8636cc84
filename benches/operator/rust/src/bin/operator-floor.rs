//! The writes of the operator and nothing else: one list, then a loop. No operator can be faster.

use clap::Parser;
use futures::{StreamExt, TryStreamExt, stream};
use kube::{Api, Client, ResourceExt, api::ListParams};
use server::{Server, writes};

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 1)]
    max_concurrent_reconciles: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let client = Client::try_default().await?;
    let api = Api::<Server>::all(client.clone());
    let servers = api.list(&ListParams::default()).await?;
    stream::iter(servers.items)
        .map(|server| write(&client, server))
        .buffer_unordered(args.max_concurrent_reconciles)
        .try_collect::<()>()
        .await?;
    // Stays, as an operator does, so that it is measured as one.
    std::future::pending().await
}

async fn write(client: &Client, server: Server) -> kube::Result<()> {
    let namespace = server.namespace().unwrap_or_default();
    let api = Api::namespaced(client.clone(), &namespace);
    let server = writes::add_finalizer(&api, &server).await?;
    writes::apply_deployment(client, &server).await?;
    writes::set_available(&api, &server).await
}
