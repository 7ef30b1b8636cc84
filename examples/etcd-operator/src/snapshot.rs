//! Takes one snapshot: what the operator's image does in the Pod of a backup.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::api::etcd::v1alpha1::etcd_backup::Snapshot;
use crate::cluster::{CA, CERTIFICATE, KEY};
use crate::etcd::{Credentials, Etcd};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

/// The length of the SHA-256 that etcd puts behind the database. `etcdutl` checks it on restoring.
const HASH: usize = 32;

/// What Kubernetes reads when the Pod ends.
const TERMINATION_MESSAGE: &str = "/dev/termination-log";

/// Saves the data of a cluster to a directory.
#[derive(Debug, clap::Args)]
pub struct SnapshotArgs {
    /// DNS name of the cluster's Service.
    #[arg(long)]
    host: String,
    /// Directory with the certificate and the key of a client.
    #[arg(long)]
    tls: PathBuf,
    /// Directory for the snapshots.
    #[arg(long)]
    directory: PathBuf,
    /// File name of the snapshot.
    #[arg(long)]
    name: String,
    /// How many snapshots stay in the directory.
    #[arg(long)]
    keep: usize,
}

/// What the Pod reports.
#[derive(Debug, Deserialize, Serialize)]
pub struct Report {
    pub taken: Snapshot,
    /// The names of all snapshots in the directory, oldest first.
    pub kept: Vec<String>,
}

impl SnapshotArgs {
    /// Takes the snapshot, removes old ones, and reports both.
    pub async fn run(self) -> anyhow::Result<()> {
        // Only fails if another provider is installed already.
        _ = rustls::crypto::ring::default_provider().install_default();
        let directory = Directory(self.directory.clone());
        fs::create_dir_all(&directory.0)?;
        let taken = match directory.read(&self.name) {
            // The Pod was started again after it had finished.
            Ok(taken) => taken,
            Err(_) => self.take(&directory).await?,
        };
        let kept = directory.prune(self.keep)?;
        let report = serde_json::to_string(&Report { taken, kept })?;
        println!("{report}");
        fs::write(TERMINATION_MESSAGE, report)?;
        Ok(())
    }

    async fn take(&self, directory: &Directory) -> anyhow::Result<Snapshot> {
        let read = |name: &str| fs::read(self.tls.join(name));
        let credentials = Credentials {
            ca: read(CA)?,
            identity: [read(CERTIFICATE)?, read(KEY)?].concat(),
        };
        let etcd = Etcd::new(&self.host, None, &credentials)?;
        let time = Time(Timestamp::now());
        let revision = etcd.status().await?.header.revision;
        let partial = directory.0.join(".partial");
        let mut file = Verified::create(&partial)?;
        let mut parts = Box::pin(etcd.snapshot().await?);
        while let Some(part) = parts.try_next().await? {
            file.write(&part)?;
        }
        let (size, sha256) = file.finish()?;
        let snapshot = Snapshot {
            name: self.name.clone(),
            time,
            revision,
            size,
            sha256,
        };
        directory.publish(&partial, &snapshot)?;
        Ok(snapshot)
    }
}

/// A file whose last bytes are the hash of all bytes before.
struct Verified {
    file: File,
    hash: Sha256,
    size: i64,
    /// The last bytes, which are not hashed, because they may be the hash.
    last: Vec<u8>,
}

impl Verified {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::create(path)?,
            hash: Sha256::new(),
            size: 0,
            last: Vec::new(),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.size += i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        self.last.extend_from_slice(bytes);
        let hashed = self.last.len().saturating_sub(HASH);
        self.hash.update(&self.last[..hashed]);
        self.last.drain(..hashed);
        Ok(())
    }

    /// The size of the file, and its hash if that is the one at its end.
    fn finish(self) -> anyhow::Result<(i64, String)> {
        let hash = self.hash.finalize();
        anyhow::ensure!(
            self.last == hash.as_slice(),
            "the snapshot does not have the hash that etcd sent with it"
        );
        self.file.sync_all()?;
        let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((self.size, hash))
    }
}

/// The snapshots of one backup: each is a file, and one with `.json` behind its name that describes it.
struct Directory(PathBuf);

impl Directory {
    fn description(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    fn read(&self, name: &str) -> anyhow::Result<Snapshot> {
        Ok(serde_json::from_slice(&fs::read(self.description(name))?)?)
    }

    /// Gives a complete file its name. The description is last: what it describes is whole.
    fn publish(&self, partial: &Path, snapshot: &Snapshot) -> anyhow::Result<()> {
        fs::rename(partial, self.0.join(&snapshot.name))?;
        let description = self.0.join(".partial.json");
        let mut file = File::create(&description)?;
        file.write_all(&serde_json::to_vec(snapshot)?)?;
        file.sync_all()?;
        fs::rename(description, self.description(&snapshot.name))?;
        File::open(&self.0)?.sync_all()?;
        Ok(())
    }

    /// Removes all but the newest snapshots, and returns the names of those.
    fn prune(&self, keep: usize) -> anyhow::Result<Vec<String>> {
        let mut snapshots = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(".json")
                && !name.starts_with('.')
            {
                snapshots.push(self.read(name)?);
            }
        }
        snapshots.sort_by(|a, b| (&a.time.0, &a.name).cmp(&(&b.time.0, &b.name)));
        let old = snapshots.len().saturating_sub(keep);
        for snapshot in snapshots.drain(..old) {
            fs::remove_file(self.description(&snapshot.name))?;
            fs::remove_file(self.0.join(&snapshot.name))?;
        }
        Ok(snapshots
            .into_iter()
            .map(|snapshot| snapshot.name)
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_with_its_hash_behind_it_is_whole() {
        let directory = std::env::temp_dir().join(format!("snapshot-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let data: Vec<u8> = (0..100).collect();
        let with_hash = [data.clone(), Sha256::digest(&data).to_vec()].concat();
        for (bytes, part, whole) in [
            (&with_hash, 7, true),
            (&with_hash, 132, true),
            (&with_hash[..131].to_vec(), 7, false),
            (&data, 50, false),
            (&Vec::new(), 1, false),
        ] {
            let mut file = Verified::create(&directory.join("file")).unwrap();
            bytes
                .chunks(part)
                .for_each(|part| file.write(part).unwrap());
            let finished = file.finish();
            assert_eq!(finished.is_ok(), whole, "{} bytes", bytes.len());
            if let Ok((size, hash)) = finished {
                assert_eq!((size, hash.len()), (132, 64));
            }
        }
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn the_newest_snapshots_are_kept() {
        let path = std::env::temp_dir().join(format!("snapshots-{}", std::process::id()));
        let directory = Directory(path);
        fs::create_dir_all(&directory.0).unwrap();
        for second in [3, 1, 2] {
            let partial = directory.0.join(".partial");
            fs::write(&partial, "data").unwrap();
            let snapshot = Snapshot {
                name: format!("{second}.db"),
                time: Time(Timestamp::from_second(second).unwrap()),
                ..Snapshot::default()
            };
            directory.publish(&partial, &snapshot).unwrap();
        }
        assert_eq!(directory.prune(2).unwrap(), ["2.db", "3.db"]);
        assert_eq!(directory.prune(2).unwrap(), ["2.db", "3.db"]);
        assert!(!directory.0.join("1.db").exists());
        assert!(directory.read("3.db").is_ok());
        fs::remove_dir_all(directory.0).unwrap();
    }
}
