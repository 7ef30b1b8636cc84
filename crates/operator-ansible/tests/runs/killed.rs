//! Operators that are killed or stopped in the middle of a run.

use std::{
    fs,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_ansible::Automation;
use operator_runtime::envtest::{Cluster, NAMESPACE, eventually};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    app::{self, LIMIT, Subject, automation},
    process::{Process, processes, signal},
};

/// The directories of fork servers below this one.
fn directories(base: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// How an operator ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Killed,
    KilledWithServer,
    Stopped,
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_operator_that_is_killed_or_stopped() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let place = tempfile::tempdir()?;
    let files = place.path().join("tmp");
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({})).await?;
    // With its fork server killed, too, something is left; the operators after it remove that.
    for end in [End::KilledWithServer, End::Killed, End::Stopped] {
        let mut process = Process::start(&cluster, place.path(), "hang")?;
        let (mark, child) = (process.mark.clone(), &mut process.child);
        // The operator, the server, the run, its worker, its module and the two programs.
        eventually(LIMIT, async || {
            let found = processes(&mark);
            ensure!(found.len() == 7, "{found:?}");
            Ok(())
        })
        .await?;
        ensure!(directories(&files).len() == 1);
        match end {
            End::Killed => child.kill()?,
            End::Stopped => signal("-TERM", child.id())?,
            End::KilledWithServer => {
                // The server would clean up if it saw the end of the operator, and the operator would start another server.
                signal("-STOP", child.id())?;
                for pid in processes(&mark) {
                    let command = fs::read_to_string(format!("/proc/{pid}/cmdline"));
                    if command.is_ok_and(|it| it.contains("server.py")) {
                        _ = signal("-KILL", pid);
                    }
                }
                child.kill()?;
            }
        }
        let status = child.wait()?;
        ensure!(
            status.signal().is_none() == (end == End::Stopped),
            "{status}"
        );
        if end == End::KilledWithServer {
            process.leaves = true;
            ensure!(!processes(&mark).is_empty() && directories(&files).len() == 1);
            continue;
        }
        eventually(LIMIT, async || {
            let found = processes(&mark);
            ensure!(found.is_empty(), "{found:?}");
            let left = directories(&files);
            ensure!(left.is_empty(), "{left:?}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_deleted_ends_its_run() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(&cluster, Automation::role("hang"))?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({})).await?;
    sample
        .condition("Running", "True", "Running reconciliation")
        .await?;
    sleep(Duration::from_secs(2)).await;
    sample.delete().await?;
    sample.lacks::<app::App>(NAMESPACE, "sample").await?;
    // A worker is free again: of two objects that hang, both can.
    operator.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_operator_runs_only_for_what_changed() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(&cluster, automation())?;
    let (same, other) = (
        Subject::new(&cluster, "same")?,
        Subject::new(&cluster, "other")?,
    );
    for subject in [&same, &other] {
        subject.create(json!({ "size": 1 })).await?;
        subject.condition("Ready", "True", "").await?;
    }
    sleep(Duration::from_secs(2)).await;
    operator.stop()?;
    let (before, old) = (same.completion().await?, other.completion().await?);
    let maps = other.api::<ConfigMap>(NAMESPACE);
    maps.delete("other", &Default::default()).await?;
    let operator = app::run(&cluster, automation())?;
    other.has::<ConfigMap>(NAMESPACE, "other", |_| true).await?;
    eventually(LIMIT, async || {
        ensure!(other.completion().await? != old);
        Ok(())
    })
    .await?;
    sleep(Duration::from_secs(2)).await;
    ensure!(same.completion().await? == before);
    // It is watched all the same.
    same.api::<ConfigMap>(NAMESPACE)
        .delete("same", &Default::default())
        .await?;
    same.has::<ConfigMap>(NAMESPACE, "same", |_| true).await?;
    operator.stop()
}
