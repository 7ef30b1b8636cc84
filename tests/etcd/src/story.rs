//! The life of one cluster, from nothing to a restore.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::operations::{
    apply, backup, backup_to_bucket, client, cluster, disturb, eventually, kubectl, object_store,
    patch, ready, reason, restore,
};
use crate::space;

const PATIENCE: Duration = Duration::from_secs(120);

/// Tells the story; `whole` adds five members and an upgrade.
///
/// # Errors
/// If something does not happen in time, or the data is not what it should be.
pub async fn run([old, new]: [&str; 2], whole: bool) -> Result<()> {
    let begin = Instant::now();
    let say = |text: &str| println!("\n== {:3} s: {text}", begin.elapsed().as_secs());
    let absent = format!("{old}99");
    let (first, grown) = if whole { (3, 5) } else { (1, 3) };

    say(&format!("create a cluster of {first}"));
    apply(&cluster("demo", first, old))?;
    ready("etcdcluster/demo", PATIENCE).await?;
    show(&["get", "etcdcluster,pod", "-o", "wide"])?;

    say("write a key through the Service");
    let etcd = client("demo")?;
    etcd.put("hello", "world").await?;

    say(&format!("grow to {grown}"));
    patch("etcdcluster/demo", &json!({ "spec": { "size": grown } }))?;
    ready("etcdcluster/demo", PATIENCE).await?;
    show(&["get", "etcdcluster,pod"])?;

    if whole {
        say("ask for a version that does not exist, and take it back");
        patch(
            "etcdcluster/demo",
            &json!({ "spec": { "version": absent } }),
        )?;
        let pulls = async || {
            let pods = kubectl(&["get", "pods"], None)?;
            ensure!(pods.contains("ErrImagePull"), "every image exists");
            Ok(())
        };
        eventually(pulls).await?;
        show(&["get", "etcdcluster,pod"])?;
        patch("etcdcluster/demo", &json!({ "spec": { "version": old } }))?;
        ready("etcdcluster/demo", PATIENCE).await?;

        say(&format!(
            "upgrade from {old} to {new}, one member at a time, the leader last"
        ));
        patch("etcdcluster/demo", &json!({ "spec": { "version": new } }))?;
        ready("etcdcluster/demo", PATIENCE).await?;
        show(&["get", "etcdcluster,pod"])?;
    }

    say("take a snapshot");
    apply(&backup("demo", "demo"))?;
    ready("etcdbackup/demo", PATIENCE).await?;
    show(&[
        "get",
        "etcdbackup",
        "demo",
        "-o",
        "jsonpath={.status.snapshots}",
    ])?;
    etcd.put("hello", "a change after the snapshot").await?;

    let lost = grown / 2 + 1;
    say(&format!("lose the disks of {lost} of {grown} members"));
    for ordinal in 0..lost {
        disturb(&["lose-disk", &format!("demo-{ordinal}")])?;
    }
    reason("etcdcluster/demo", "MajorityLost", PATIENCE).await?;
    show(&["get", "etcdcluster,pod"])?;
    show(&[
        "get",
        "etcdcluster",
        "demo",
        "-o",
        "jsonpath={.status.conditions[?(@.type=='Ready')].message}",
    ])?;

    say("restore the snapshot");
    apply(&restore("demo", "demo", "demo", false))?;
    ready("etcdrestore/demo", 2 * PATIENCE).await?;
    show(&["get", "etcdcluster,pod,etcdrestore"])?;

    let found = client("demo")?.get("hello").await?;
    ensure!(found.as_deref() == Some("world"), "the key is {found:?}");
    say("the key is there, as it was in the snapshot");

    if whole {
        say("take a snapshot to a bucket, and restore it into a new cluster");
        apply(&object_store())?;
        kubectl(
            &["wait", "--for=condition=Ready", "pod/s3", "--timeout=60s"],
            None,
        )?;
        apply(&backup_to_bucket("bucket", "demo"))?;
        ready("etcdbackup/bucket", PATIENCE).await?;
        // In any order: the restore waits for the cluster.
        apply(&restore("copy", "copy", "bucket", false))?;
        apply(&cluster("copy", 1, new))?;
        ready("etcdrestore/copy", PATIENCE).await?;
        show(&["get", "etcdcluster,etcdbackup,etcdrestore"])?;
        let found = client("copy")?.get("hello").await?;
        ensure!(
            found.as_deref() == Some("world"),
            "the copy's key is {found:?}"
        );

        say("delete the CA of a cluster and a member, and put the CA back");
        let ca = kubectl(&["get", "secret", "copy-ca", "-o", "json"], None)?;
        let mut ca: Value = serde_json::from_str(&ca)?;
        for field in ["managedFields", "resourceVersion", "uid"] {
            ca["metadata"][field].take();
        }
        kubectl(&["delete", "secret/copy-ca", "pod/copy-0"], None)?;
        reason("etcdcluster/copy", "CaLost", PATIENCE).await?;
        eventually(async || client("copy")?.put("hello", "without a CA").await).await?;
        apply(&ca)?;
        ready("etcdcluster/copy", PATIENCE).await?;

        say("fill a database, make room, and let the operator defragment it");
        space::run("small", new).await?;
        show(&[
            "get",
            "events",
            "--field-selector",
            "involvedObject.name=small",
        ])?;
    }
    show(&[
        "get",
        "events",
        "--field-selector",
        "involvedObject.kind=EtcdCluster",
        "--sort-by=.lastTimestamp",
    ])?;
    Ok(())
}

/// Shows a command of kubectl and its output.
fn show(arguments: &[&str]) -> Result<()> {
    println!("$ kubectl {}", arguments.join(" "));
    println!("{}", kubectl(arguments, None)?.trim_end());
    Ok(())
}
