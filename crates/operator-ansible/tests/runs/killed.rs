//! Operators that are killed or stopped in the middle of a run.

use std::{
    env, fs,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_ansible::Automation;
use operator_runtime::envtest::{Cluster, NAMESPACE, eventually};
use serde_json::json;
use tokio::time::sleep;

use crate::app::{self, LIMIT, Subject, automation};

/// The directories of fork servers below this one.
fn directories(base: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The processes with this in their environment. That of a zombie is empty.
fn processes(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_marked = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        let mut all = environment.split(|byte| *byte == 0);
        all.any(|it| it == mark.as_bytes())
    };
    let marked = processes.filter(|it| is_marked(&it.path()));
    let pids = marked.filter_map(|it| it.file_name().to_str()?.parse().ok());
    pids.collect()
}

fn signal(name: &str, pid: u32) -> Result<()> {
    let sent = Command::new("kill")
        .args([name, &pid.to_string()])
        .status()?;
    ensure!(sent.success());
    Ok(())
}

/// How an operator ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Killed,
    KilledWithServer,
    Stopped,
}

/// An operator in a process of its own, which runs `tests/roles/hang`.
fn start(cluster: &Cluster, place: &Path) -> Result<Child> {
    let child = Command::new(env::current_exe()?)
        .args(["--exact", "killed::operator", "--ignored", "--nocapture"])
        .env("KUBECONFIG", cluster.control_plane().kubeconfig())
        .env("TMPDIR", place)
        .env("ANSIBLE_PYTHON", app::python())
        .env("OF_TEST_MARK", place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok(child)
}

/// The process of [`start`], which is no test.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the operator of the other tests, which they kill"]
async fn operator() -> Result<()> {
    use clap::Parser as _;
    use operator_runtime::{Flags, Manager};

    #[derive(clap::Parser)]
    struct Arguments {
        #[command(flatten)]
        flags: Flags,
    }
    if env::var_os("OF_TEST_MARK").is_none() {
        return Ok(());
    }
    let flags = [
        "operator",
        "--health-probe-bind-address=0",
        "--graceful-shutdown-timeout=4s",
    ];
    let manager = Manager::new(&app::OPTIONS, Arguments::parse_from(flags).flags).await?;
    let context = app::context(&manager, Automation::role("hang"));
    manager
        .controllers(app::controllers(&app::DECLARED), context)
        .run()
        .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_operator_that_is_killed_or_stopped() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let place = tempfile::tempdir()?;
    let mark = format!("OF_TEST_MARK={}", place.path().display());
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({})).await?;
    // With its fork server killed, too, something is left; the operators after it remove that.
    for end in [End::KilledWithServer, End::Killed, End::Stopped] {
        let mut child = start(&cluster, place.path())?;
        // The operator, the server, the run, its worker, its module and the two programs.
        eventually(LIMIT, async || {
            let found = processes(&mark);
            ensure!(found.len() == 7, "{found:?}");
            Ok(())
        })
        .await?;
        ensure!(directories(place.path()).len() == 1);
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
            ensure!(!processes(&mark).is_empty() && directories(place.path()).len() == 1);
            continue;
        }
        eventually(LIMIT, async || {
            let found = processes(&mark);
            ensure!(found.is_empty(), "{found:?}");
            let left = directories(place.path());
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
