//! The snapshots of one backup, wherever they are. `ObjectStore` is the trait of all destinations.

use std::io::Write;
use std::path::Path as FilePath;
use std::{fs, io};

use anyhow::Context;
use futures::{Stream, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart};
use reqwest::Url;

use super::hash::Checksum;
use crate::api::etcd::etcd_backup::Snapshot;

/// How many parts of a snapshot are on their way at once.
const PARTS: usize = 2;

/// Each snapshot is an object, and one with `.json` behind its name that describes it.
#[derive(Debug)]
pub struct Archive {
    store: Box<dyn ObjectStore>,
    directory: Path,
}

impl Archive {
    /// Opens a directory of a disk, or a prefix in a bucket. The credentials for a bucket are in the environment.
    pub fn open(url: &Url) -> anyhow::Result<Self> {
        let (store, directory) = object_store::parse_url_opts(url, std::env::vars())?;
        let store = match url.scheme() {
            "file" => Box::new(LocalFileSystem::new().with_fsync(true)),
            _ => store,
        };
        Ok(Self { store, directory })
    }

    /// The snapshot with this name, if it was saved.
    pub async fn find(&self, name: &str) -> anyhow::Result<Option<Snapshot>> {
        match self.store.get(&self.description(name)).await {
            Ok(found) => Ok(Some(serde_json::from_slice(&found.bytes().await?)?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Saves the bytes of a snapshot, and returns its size and hash. It is there whole, or not at all.
    pub async fn save(
        &self,
        name: &str,
        parts: impl Stream<Item = Result<Vec<u8>, crate::etcd::Error>>,
    ) -> anyhow::Result<(i64, String)> {
        let mut parts = std::pin::pin!(parts);
        let mut checksum = Checksum::default();
        let upload = self.store.put_multipart(&self.path(name)).await?;
        let mut upload = WriteMultipart::new(upload);
        let written = async {
            while let Some(part) = parts.try_next().await? {
                checksum.read(&part);
                upload.wait_for_capacity(PARTS).await?;
                upload.write(&part);
            }
            checksum.finish()
        };
        match written.await {
            Ok(whole) => {
                upload.finish().await?;
                Ok(whole)
            }
            Err(error) => {
                upload.abort().await?;
                Err(error)
            }
        }
    }

    /// Adds the description of a snapshot that was saved. From now on, it counts.
    pub async fn describe(&self, snapshot: &Snapshot) -> anyhow::Result<()> {
        let description = serde_json::to_vec(snapshot)?;
        let path = self.description(&snapshot.name);
        self.store.put(&path, description.into()).await?;
        Ok(())
    }

    /// Removes old snapshots of the cluster that `taken` is of, beside that one. Returns the names of all that are left,
    /// oldest first.
    pub async fn prune(&self, keep: usize, taken: &Snapshot) -> anyhow::Result<Vec<String>> {
        let objects: Vec<_> = self.store.list(Some(&self.directory)).try_collect().await?;
        let mut snapshots = Vec::new();
        for object in objects {
            let name = object.location.filename().unwrap_or_default();
            if let Some(name) = name.strip_suffix(".json") {
                snapshots.extend(self.find(name).await?);
            }
        }
        snapshots.sort_by(|a, b| (&a.time.0, &a.name).cmp(&(&b.time.0, &b.name)));
        // A cluster that was created anew, and is empty, must not rotate the data of its predecessor out.
        let is_same = |it: &&Snapshot| it.cluster_id == taken.cluster_id && it.name != taken.name;
        let others = snapshots.iter().filter(is_same);
        let old = (others.clone().count() + 1).saturating_sub(keep);
        let old: Vec<_> = others.take(old).map(|it| it.name.clone()).collect();
        for name in &old {
            // A Pod may have been killed in between.
            match self.store.delete(&self.path(name)).await {
                Err(object_store::Error::NotFound { .. }) => {}
                result => result?,
            }
            self.store.delete(&self.description(name)).await?;
        }
        let names = snapshots.into_iter().map(|snapshot| snapshot.name);
        Ok(names.filter(|name| !old.contains(name)).collect())
    }

    /// Copies a snapshot to a file, and checks that it is the one that was saved.
    pub async fn fetch(&self, name: &str, to: &FilePath) -> anyhow::Result<()> {
        let saved = self
            .find(name)
            .await?
            .context("there is no such snapshot")?;
        let mut parts = self.store.get(&self.path(name)).await?.into_stream();
        let mut file = fs::File::create(to)?;
        let mut checksum = Checksum::default();
        while let Some(part) = parts.try_next().await? {
            checksum.read(&part);
            file.write_all(&part)?;
        }
        let fetched = checksum.finish()?;
        anyhow::ensure!(
            fetched == (saved.size, saved.sha256),
            "the snapshot is not the one that was saved"
        );
        Ok(())
    }

    fn path(&self, name: &str) -> Path {
        self.directory.clone().join(name)
    }

    fn description(&self, name: &str) -> Path {
        self.path(&format!("{name}.json"))
    }
}

/// Removes what an earlier Pod left of a file when it was killed. `LocalFileSystem` writes to `NAME#1`, and then
/// renames it.
pub fn remove_unfinished(url: &Url) -> io::Result<()> {
    let Some(directory) = url.to_file_path().ok().filter(|it| it.is_dir()) else {
        return Ok(());
    };
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains('#') {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use futures::stream;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::etcd::Error;

    /// A directory of one test.
    fn directory(name: &str) -> (PathBuf, Url) {
        let name = format!("archive-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let url = Url::from_directory_path(&path).unwrap();
        (path, url)
    }

    fn database(text: &str) -> Vec<u8> {
        [text.as_bytes(), &Sha256::digest(text)].concat()
    }

    async fn save(archive: &Archive, second: i64, bytes: &[u8]) -> anyhow::Result<Snapshot> {
        let name = format!("{second}.db");
        let parts = bytes.chunks(7).map(|part| Ok(part.to_vec()));
        let parts: Vec<Result<_, Error>> = parts.collect();
        let (size, sha256) = archive.save(&name, stream::iter(parts)).await?;
        let snapshot = Snapshot {
            name,
            cluster_id: (second / 10).to_string(),
            time: Time(Timestamp::from_second(second).unwrap()),
            revision: 1,
            size,
            sha256,
        };
        archive.describe(&snapshot).await?;
        Ok(snapshot)
    }

    #[tokio::test]
    async fn the_newest_snapshots_are_kept() {
        let (path, url) = directory("newest");
        let archive = Archive::open(&url).unwrap();
        // Those below ten are of an earlier cluster.
        for second in [2, 13, 11, 12] {
            save(&archive, second, &database("data")).await.unwrap();
        }
        // The clock of its node is late.
        let taken = save(&archive, 10, &database("data")).await.unwrap();
        for _ in 0..2 {
            let kept = archive.prune(2, &taken).await.unwrap();
            assert_eq!(kept, ["2.db", "10.db", "13.db"]);
        }
        assert!(!path.join("11.db").exists());
        assert!(archive.find("11.db").await.unwrap().is_none());
        fs::remove_dir_all(path).unwrap();
    }

    #[tokio::test]
    async fn a_snapshot_that_is_not_whole_is_not_saved() {
        let (path, url) = directory("whole");
        let archive = Archive::open(&url).unwrap();
        assert!(save(&archive, 1, b"half of it").await.is_err());
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        fs::write(path.join("1.db#1"), "killed").unwrap();
        remove_unfinished(&url).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        fs::remove_dir_all(path).unwrap();
    }

    #[tokio::test]
    async fn only_the_snapshot_that_was_saved_is_fetched() {
        let (path, url) = directory("fetch");
        let archive = Archive::open(&url).unwrap();
        save(&archive, 1, &database("data")).await.unwrap();
        let to = path.join("fetched");
        archive.fetch("1.db", &to).await.unwrap();
        assert_eq!(fs::read(&to).unwrap(), database("data"));
        for other in [database("other"), b"data".to_vec()] {
            fs::write(path.join("1.db"), other).unwrap();
            assert!(archive.fetch("1.db", &to).await.is_err());
        }
        assert!(archive.fetch("2.db", &to).await.is_err());
        fs::remove_dir_all(path).unwrap();
    }
}
