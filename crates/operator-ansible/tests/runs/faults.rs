//! Faults while runs go on: no object is stuck, and nothing is left.

use std::{fs, time::Duration};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_ansible::Automation;
use operator_runtime::envtest::{Cluster, NAMESPACE, eventually};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    app::{self, Subject},
    process::{Process, processes, signal},
};

/// A retry may follow after a pause.
const LIMIT: Duration = Duration::from_secs(180);

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The processes of an operator whose command has this word.
fn with(operator: &Process, word: &str) -> Vec<u32> {
    let mut all = processes(&operator.mark);
    all.retain(|pid| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline"));
        command.is_ok_and(|it| it.contains(word))
    });
    all
}

/// The fork server of an operator. Its runs have the same command.
fn server(operator: &Process) -> Result<u32> {
    let own = operator.child.id();
    let parent = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let (_, fields) = stat.rsplit_once(") ")?;
        fields.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let found = with(operator, "server.py").into_iter();
    let mut found = found.filter(|pid| parent(pid) == Some(own));
    found.next().context("no fork server")
}

/// Waits until each object has been run for, with what it asks for now.
async fn all_are_ready(cluster: &Cluster) -> Result<()> {
    for name in NAMES {
        let subject = Subject::new(cluster, name)?;
        eventually(LIMIT, async || {
            let app = subject.apps().get(name).await?;
            let status = app.status.context("no status")?.0;
            let ready = status["conditions"].as_array().into_iter().flatten();
            let ready = ready.filter(|it| it["type"] == "Ready" && it["status"] == "True");
            let mut ready =
                ready.filter(|it| it["observedGeneration"].as_i64() == app.metadata.generation);
            ready
                .next()
                .with_context(|| format!("{name}: {status:?}"))?;
            Ok(())
        })
        .await?;
        subject.has::<ConfigMap>(NAMESPACE, name, |_| true).await?;
    }
    Ok(())
}

/// Waits until only the operator and its fork server are left, and no files of runs.
async fn only_the_server_is_left(operator: &Process, files: &std::path::Path) -> Result<()> {
    eventually(LIMIT, async || {
        let left = processes(&operator.mark);
        ensure!(left.len() == 2, "{left:?}");
        let directories: Vec<_> = fs::read_dir(files)?.flatten().collect();
        ensure!(directories.len() == 1, "{directories:?}");
        let runs = fs::read_dir(directories[0].path().join("runs"))?.count();
        ensure!(runs == 0, "{runs} runs have files");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn fork_servers_and_runs_that_are_killed_leave_no_object_stuck() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let place = tempfile::tempdir()?;
    let operator = Process::start(&cluster, place.path(), "one")?;
    for name in NAMES {
        let subject = Subject::new(&cluster, name)?;
        subject.create(json!({ "size": 1 })).await?;
    }
    // The first run begins, and then there is always one, until all objects have been run for.
    for round in 0..6 {
        let pid = eventually(LIMIT, async || server(&operator)).await?;
        sleep(Duration::from_millis(1500)).await;
        match round % 2 {
            0 => _ = signal("-KILL", pid),
            _ => {
                let run = with(&operator, "server.py")
                    .into_iter()
                    .find(|it| *it != pid);
                _ = run.map(|run| signal("-KILL", run));
            }
        }
        for name in NAMES {
            let subject = Subject::new(&cluster, name)?;
            subject.change(json!({ "size": round + 2 })).await?;
        }
    }
    all_are_ready(&cluster).await?;
    only_the_server_is_left(&operator, &place.path().join("tmp")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_hangs_is_ended_and_the_next_object_is_run_for() -> Result<()> {
    let cluster = Cluster::start()?;
    let limit = Duration::from_secs(4);
    let operator = app::run(&cluster, Automation::role("hang").timeout(limit))?;
    // There are two workers.
    let subjects = ["first", "second", "third"].map(|name| Subject::new(&cluster, name));
    for subject in &subjects {
        let subject = subject
            .as_ref()
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        subject.create(json!({})).await?;
    }
    for subject in subjects {
        let ready = subject?
            .condition("Ready", "False", "longer than 4s, in the task")
            .await?;
        ensure!(ready["reason"] == "RunTimedOut", "{ready}");
    }
    operator.stop()
}

/// A full disk: a file system in memory of a few KiB.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "mounts a file system, as root: cargo test --workspace --all-features --test runs -- --ignored faults::a_full_disk"]
async fn a_full_disk_fails_runs_and_leaves_no_object_stuck() -> Result<()> {
    use std::process::Command;

    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let place = tempfile::tempdir()?;
    let files = place.path().join("tmp");
    fs::create_dir(&files)?;
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
        .arg(&files)
        .status()?;
    ensure!(
        mounted.success(),
        "a file system cannot be mounted: run the test as root"
    );
    let result = async {
        let operator = Process::start(&cluster, place.path(), "one")?;
        let early = Subject::new(&cluster, NAMES[0])?;
        early.create(json!({ "size": 1 })).await?;
        early.condition("Ready", "True", "").await?;
        // As large as it gets.
        let large = files.join("large");
        _ = fs::write(&large, vec![0; 8 << 20]);
        for name in &NAMES[1..] {
            let subject = Subject::new(&cluster, name)?;
            subject.create(json!({ "size": 1 })).await?;
        }
        let failed = Subject::new(&cluster, NAMES[1])?;
        let ready = failed.condition("Ready", "False", "No space left").await?;
        println!("{}: {}", ready["reason"], ready["message"]);
        fs::remove_file(large)?;
        all_are_ready(&cluster).await?;
        only_the_server_is_left(&operator, &files).await
    }
    .await;
    _ = Command::new("umount").arg("-l").arg(&files).status();
    result
}
