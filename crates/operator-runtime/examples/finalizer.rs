//! Cleans up outside the cluster before an object is deleted.
//!
//! A `Bucket` is a directory on this machine, in place of a cloud's storage. Garbage collection does not
//! reach it, so a finalizer keeps the object until the directory is gone.
//!
//! ```sh
//! cargo run --example finalizer -- --crd | kubectl apply -f -
//! cargo run --example finalizer -- --root /tmp/buckets
//! ```

use std::{error::Error, fs, io, path::PathBuf, sync::Arc, time::Duration};

use clap::Parser;
use kube::{Api, Client, CustomResource, CustomResourceExt, ResourceExt};
use operator_runtime::{
    Action, Controller, Flags, Manager, ManagerOptions, Predicate, ReconcileError, Watch,
    WatchScope, finalizer,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the finalizer, in a domain of this project, so that no other project uses it.
const FINALIZER: &str = "storage.example.com/directory";

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "storage.example.com",
    version = "v1",
    kind = "Bucket",
    namespaced
)]
struct BucketSpec {
    /// The text of a README in the directory.
    #[serde(default)]
    note: String,
}

struct Context {
    client: Client,
    root: PathBuf,
}

/// One error type per controller. The reason is one of a few words, so that metrics stay bounded.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Api(#[from] kube::Error),
    #[error("cannot change the directory")]
    Directory(#[from] io::Error),
}

impl ReconcileError for Failed {
    fn reason(&self) -> &'static str {
        match self {
            Self::Api(_) => "ApiCallFailed",
            Self::Directory(_) => "DirectoryFailed",
        }
    }
}

async fn reconcile(bucket: Arc<Bucket>, ctx: Arc<Context>) -> Result<Action, Failed> {
    let namespace = bucket.namespace().unwrap_or_default();
    let directory = ctx.root.join(&namespace).join(bucket.name_any());
    let api = Api::namespaced(ctx.client.clone(), &namespace);
    // The object gets the finalizer before anything exists outside the cluster.
    match finalizer::ensure(&api, &*bucket, FINALIZER).await? {
        finalizer::Event::Apply(bucket) => {
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("README"), &bucket.spec.note)?;
            // No watch shows a change of the directory, so check again.
            Ok(Action::requeue(Duration::from_secs(60)))
        }
        finalizer::Event::Cleanup => {
            // The cleanup may run twice: a directory that is already gone is a success.
            match fs::remove_dir_all(&directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
            finalizer::remove(&api, &*bucket, FINALIZER).await?;
            Ok(Action::await_change())
        }
        finalizer::Event::Gone => Ok(Action::await_change()),
    }
}

/// Keeps a directory for each Bucket
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    flags: Flags,
    /// Directory for the buckets
    #[arg(long, default_value = "buckets")]
    root: PathBuf,
    /// Print the CRD and exit
    #[arg(long)]
    crd: bool,
}

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "finalizer.example.com",
    scope: WatchScope::Cluster,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if args.crd {
        println!("{}", serde_json::to_string_pretty(&Bucket::crd())?);
        return Ok(());
    }
    let manager = Manager::new(&OPTIONS, args.flags).await?;
    let context = Context {
        client: manager.client(),
        root: args.root,
    };
    // A deletion changes the generation; a label does not.
    let watch = Watch::new().when(Predicate::generation());
    let controller = Controller::new("bucket", reconcile);
    let controller = controller.finalizer().primary_watch(watch);
    Ok(manager.controllers(controller, context).run().await?)
}
