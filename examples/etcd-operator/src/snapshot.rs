//! Saves and fetches snapshots: what the operator's image does in the Pods of backups and restores.

mod archive;
mod hash;
mod location;

use std::fs;
use std::path::PathBuf;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use reqwest::Url;
use serde::{Deserialize, Serialize};

pub use location::Location;

use archive::{Archive, remove_unfinished};

use crate::api::etcd::etcd_backup::Snapshot;
use crate::cluster::{CA, CERTIFICATE, KEY};
use crate::etcd::{Credentials, Etcd};

/// What Kubernetes reads when the Pod ends.
const TERMINATION_MESSAGE: &str = "/dev/termination-log";

#[derive(Debug, clap::Subcommand)]
pub enum SnapshotCommand {
    /// Saves the data of a cluster, and removes old snapshots.
    Save(SaveArgs),
    /// Fetches a snapshot, and checks it.
    Fetch(FetchArgs),
}

#[derive(Debug, clap::Args)]
pub struct SaveArgs {
    /// DNS name of the cluster's Service.
    #[arg(long)]
    host: String,
    /// Directory with the certificate and the key of a client.
    #[arg(long)]
    tls: PathBuf,
    /// Where the snapshots of this backup are: `file:///DIRECTORY` or `s3://BUCKET/PREFIX`.
    #[arg(long)]
    archive: Url,
    /// Name of the snapshot.
    #[arg(long)]
    name: String,
    /// How many snapshots stay in the archive.
    #[arg(long)]
    keep: usize,
}

#[derive(Debug, clap::Args)]
pub struct FetchArgs {
    /// Where the snapshots of the backup are: `file:///DIRECTORY` or `s3://BUCKET/PREFIX`.
    #[arg(long)]
    archive: Url,
    /// Name of the snapshot.
    #[arg(long)]
    name: String,
    /// File to write.
    #[arg(long)]
    to: PathBuf,
}

/// What the Pod of a backup reports.
#[derive(Debug, Deserialize, Serialize)]
pub struct Report {
    pub taken: Snapshot,
    /// The names of all snapshots in the archive, oldest first.
    pub kept: Vec<String>,
}

impl SnapshotCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        // Only fails if another provider is installed already.
        _ = rustls::crypto::ring::default_provider().install_default();
        match self {
            Self::Save(arguments) => arguments.run().await,
            Self::Fetch(arguments) => {
                let archive = Archive::open(&arguments.archive)?;
                archive.fetch(&arguments.name, &arguments.to).await
            }
        }
    }
}

impl SaveArgs {
    async fn run(self) -> anyhow::Result<()> {
        remove_unfinished(&self.archive)?;
        let archive = Archive::open(&self.archive)?;
        let taken = match archive.find(&self.name).await? {
            // The Pod was started again after it had finished.
            Some(taken) => taken,
            None => self.take(&archive).await?,
        };
        let kept = archive.prune(self.keep, &taken).await?;
        let report = serde_json::to_string(&Report { taken, kept })?;
        println!("{report}");
        fs::write(TERMINATION_MESSAGE, report)?;
        Ok(())
    }

    async fn take(&self, archive: &Archive) -> anyhow::Result<Snapshot> {
        let read = |name: &str| fs::read(self.tls.join(name));
        let credentials = Credentials {
            ca: read(CA)?,
            identity: [read(CERTIFICATE)?, read(KEY)?].concat(),
        };
        let etcd = Etcd::new(&self.host, None, &credentials)?;
        let time = Time(Timestamp::now());
        let header = etcd.status().await?.header;
        let (size, sha256) = archive.save(&self.name, etcd.snapshot().await?).await?;
        let snapshot = Snapshot {
            name: self.name.clone(),
            cluster_id: header.cluster_id.to_string(),
            time,
            revision: header.revision,
            size,
            sha256,
        };
        archive.describe(&snapshot).await?;
        Ok(snapshot)
    }
}
