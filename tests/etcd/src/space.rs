//! A database that fills up: the operator says so, and gives the space back once it is free.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;

use crate::{
    operations::{apply, client, cluster, eventually, ready, reason},
    workload::Etcd,
};

const PATIENCE: Duration = Duration::from_secs(60);

/// Half a megabyte. A request may have one and a half.
const VALUE: usize = 500_000;

/// More values than fit.
const MOST: usize = 100;

/// Fills the database of a small cluster, compacts it, and waits for the defragmentation.
///
/// # Errors
/// If the cluster is not ready again.
pub async fn run(name: &str, version: &str) -> Result<()> {
    let mut small = cluster(name, 1, version);
    // Two fifths of it are for the database.
    small["spec"]["storage"]["size"] = json!("20Mi");
    small["spec"]["defragmentation"] = json!({ "threshold": 50, "minimumSize": "1Mi" });
    apply(&small)?;
    let object = format!("etcdcluster/{name}");
    ready(&object, PATIENCE).await?;
    let etcd = client(name)?;
    let value = "x".repeat(VALUE);
    let mut written = 0;
    while etcd.put("large", &value).await.is_ok() {
        written += 1;
        ensure!(written < MOST, "the database is never full");
    }
    reason(&object, "NoSpace", PATIENCE).await?;

    let full = size(&etcd).await?;
    let last = etcd.entry("large", 0).await?.revision;
    let compaction = json!({ "revision": last.to_string(), "physical": true });
    etcd.call("kv/compaction", compaction).await?;
    // etcd counts pages as free only some transactions after they were freed. A full database accepts deletions.
    let nothing = json!({ "key": BASE64_STANDARD.encode("nothing") });
    eventually(async || {
        etcd.call("kv/deleterange", nothing.clone()).await?;
        let size = size(&etcd).await?;
        ensure!(size < full / 2, "the database has {size} of {full} bytes");
        Ok(())
    })
    .await?;
    // That the user has made room is the user's to say.
    let member = etcd.leader().await?.to_string();
    let disarm = json!({ "action": "DEACTIVATE", "memberID": member, "alarm": "NOSPACE" });
    etcd.call("maintenance/alarm", disarm).await?;
    ready(&object, PATIENCE).await?;
    etcd.put("large", &value).await
}

/// The size of the database file in bytes.
async fn size(etcd: &Etcd) -> Result<u64> {
    let status = etcd.call("maintenance/status", json!({})).await?;
    let size = status["dbSize"].as_str().context("there is no size")?;
    Ok(size.parse()?)
}
