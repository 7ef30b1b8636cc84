//! The signals and the end of an operator process.

use std::{
    env,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use clap::Parser;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::{Client, ResourceExt, api::PostParams};
use operator_runtime::{Action, Controller, Controllers, Manager, ShardKey, Watch, api_of};

use crate::faults::{
    OPTIONS,
    journal::{Failed, write},
    operator::{Args, FAULT, Process, metric},
    site::{Site, is_ready},
    table::row,
    until,
};
use crate::widget::Widget;

/// Reconciles a widget by the prefix of its name.
async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> Result<Action, Failed> {
    let name = widget.name_any();
    match name.split('-').next() {
        Some("slow") => tokio::time::sleep(Duration::from_millis(800)).await,
        Some("stuck") => std::future::pending().await,
        Some("failing") => return Err(Failed::Told),
        Some("blocked") => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        Some("conflict") => {
            // As a faster client would write it.
            let mut stale = (*widget).clone();
            stale.metadata.resource_version = Some("1".to_owned());
            let api = api_of(&client, &stale);
            api.replace(&name, &PostParams::default(), &stale).await?;
        }
        _ => {}
    }
    write(&widget, &client).await?;
    Ok(Action::requeue(Duration::from_secs(3600)))
}

async fn see(_: Arc<Node>, _: Arc<Client>) -> kube::Result<()> {
    Ok(())
}

/// The operator, as in `main` of a project. The tests run this binary again, with its flags in the
/// environment.
#[test]
fn operator() {
    let Ok(flags) = env::var("TEST_OPERATOR_FLAGS") else {
        return;
    };
    let flags = flags.split(' ').filter(|flag| !flag.is_empty());
    let args = Args::parse_from(["operator"].into_iter().chain(flags));
    // The number of threads of a pod with a small quota.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let result: anyhow::Result<()> = runtime.block_on(async {
        let manager = Manager::new(&OPTIONS, args.manager).await?;
        let client = manager.client();
        let mut controllers = Controllers::default();
        controllers.add(Controller::new("widgets", reconcile).owns::<ConfigMap>());
        match env::var(FAULT).as_deref() {
            Ok("same-name") => controllers.add(Controller::new("widgets", reconcile)),
            Ok("same-condition") => controllers.add(Controller::new("others", reconcile)),
            Ok("unknown-cluster") => {
                let watch = Watch::new().cluster("elsewhere");
                let others = Controller::new("others", reconcile).condition("Others");
                controllers.add(others.primary_watch(watch));
            }
            Ok("shared-by-all") => {
                let others = Controller::new("others", reconcile).condition("Others");
                controllers.add(others.without_leadership().sharded(ShardKey::uid()));
            }
            Ok("shared-nodes") => {
                let nodes = Controller::external("nodes", see);
                controllers.add(nodes.sharded(ShardKey::namespace()));
            }
            Ok("unknown-trigger") => drop(manager.trigger::<Widget>("gadgets")),
            _ => {}
        }
        Ok(manager.controllers(controllers, client).run().await?)
    });
    if let Err(error) = result {
        // As the standard library does with the result of `main`.
        eprintln!("Error: {error:?}");
        std::process::exit(1);
    }
    std::process::exit(0);
}

fn place(site: &Site) -> String {
    format!("--watch-namespace={}", site.namespace)
}

/// Waits until a reconcile of the widget runs.
async fn running(process: &Process) -> Result<()> {
    until("a reconcile runs", 30, async || {
        Ok(
            metric(process.metrics, "controller_runtime_active_workers", "")
                .await
                .unwrap_or_default()
                > 0.0,
        )
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn signals_in_the_middle_of_reconciles() -> Result<()> {
    let site = Site::new("signals").await?;
    site.create("slow", 1).await?;
    let done = async |name: &str| Ok(is_ready(&site.widgets().get(name).await?));

    let process = Process::start(&site.kubeconfig, &[&place(&site)])?;
    running(&process).await?;
    process.signal("TERM")?;
    let begin = Instant::now();
    let (status, log) = process.end(10).await?;
    ensure!(status.success(), "{status}: {log}");
    ensure!(
        done("slow").await?,
        "the reconcile that ran was not finished: {log}"
    );
    row(
        "SIGTERM in a reconcile",
        "it was finished, exit 0",
        begin.elapsed(),
    );

    // After a kill, the next process continues from the state that was left.
    for name in ["slow-1", "slow-2", "slow-3"] {
        site.create(name, 1).await?;
    }
    let process = Process::start(&site.kubeconfig, &[&place(&site)])?;
    running(&process).await?;
    process.signal("KILL")?;
    let (status, _) = process.end(10).await?;
    ensure!(!status.success());
    let begin = Instant::now();
    let _process = Process::start(
        &site.kubeconfig,
        &[&place(&site), "--max-concurrent-reconciles=4"],
    )?;
    for name in ["slow-1", "slow-2", "slow-3"] {
        until(name, 30, async || done(name).await).await?;
    }
    row(
        "SIGKILL in a reconcile",
        "the next process did the rest",
        begin.elapsed(),
    );
    Ok(())
}

/// Ends when the time for a shutdown is over, or at once after a second signal, even if the reconcile blocks the only thread.
pub async fn a_reconcile_that_never_ends() -> Result<()> {
    let site = Site::new("never-ends").await?;
    site.create("stuck", 1).await?;
    let flags = [&*place(&site), "--graceful-shutdown-timeout=8s"];
    let process = Process::start(&site.kubeconfig, &flags)?;
    running(&process).await?;
    process.signal("TERM")?;
    let begin = Instant::now();
    let (status, log) = process.end(40).await?;
    let took = begin.elapsed();
    ensure!(status.code() == Some(1), "{status}: {log}");
    ensure!(
        (6.0..8.0).contains(&took.as_secs_f64()),
        "it took {took:?}: {log}"
    );
    ensure!(
        log.contains("reconciles still ran 6s after the stop signal"),
        "{log}"
    );
    row(
        "a reconcile that never ends, SIGTERM",
        "given up after three quarters of the time for a shutdown, exit 1",
        took,
    );

    site.delete("stuck").await?;
    site.create("blocked", 1).await?;
    let begin = Instant::now();
    let process = Process::start(&site.kubeconfig, &[&place(&site)])?;
    // The thread of the metrics server is blocked, too, so the earlier lists must do.
    let listed = |plural| site.gate.count(begin, |ask| ask.reads(plural)) > 0;
    until("both types are listed", 30, async || {
        Ok(listed("widgets") && listed("configmaps"))
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    process.signal("TERM")?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    process.signal("TERM")?;
    let begin = Instant::now();
    let (status, log) = process.end(10).await?;
    ensure!(status.code() == Some(1), "{status}: {log}");
    row(
        "a reconcile that blocks its thread, two signals",
        "ended at once, exit 1",
        begin.elapsed(),
    );
    Ok(())
}
