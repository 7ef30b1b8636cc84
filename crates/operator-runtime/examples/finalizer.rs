//! Cleans up outside the cluster before an object is deleted.
//!
//! A `Bucket` is a directory on this machine, in place of a cloud's storage. Garbage collection does not
//! reach it, so a finalizer keeps the object until the directory is gone.
//!
//! ```sh
//! cargo run --example finalizer -- --crd | kubectl apply -f -
//! cargo run --example finalizer -- --root /tmp/buckets
//! ```

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Parser;
use kube::{Client, CustomResource, CustomResourceExt, ResourceExt};
use operator_runtime::{
    Action, Controller, Flags, Manager, ManagerOptions, Predicate, ReconcileError, Watch,
    WatchScope, api_of, finalizer,
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
    let api = api_of(&ctx.client, &*bucket);
    let apply = async |bucket: Arc<Bucket>| create(&bucket, &ctx.root);
    let cleanup = async |bucket: Arc<Bucket>| delete(&bucket, &ctx.root);
    // The object gets the finalizer before anything exists outside the cluster.
    finalizer::run(&api, bucket, FINALIZER, apply, cleanup).await
}

fn create(bucket: &Bucket, root: &Path) -> Result<Action, Failed> {
    let directory = directory(bucket, root);
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("README"), &bucket.spec.note)?;
    // No watch shows a change of the directory, so check again.
    Ok(Action::requeue(Duration::from_secs(60)))
}

/// May run twice: a directory that is already gone is a success.
fn delete(bucket: &Bucket, root: &Path) -> Result<(), Failed> {
    match fs::remove_dir_all(directory(bucket, root)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn directory(bucket: &Bucket, root: &Path) -> PathBuf {
    let namespace = bucket.namespace().unwrap_or_default();
    root.join(namespace).join(bucket.name_any())
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
