//! Steps of the wall clock, as NTP or an administrator makes them.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};
use kube::Api;
use tokio::time::sleep;

use crate::faults::{
    operator::{Process, metric},
    site::{Site, is_ready},
    table::row,
    until,
};

const DAY: i64 = 24 * 60 * 60;

/// Builds the library that changes the clock of a process.
fn library() -> Result<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/runtime/faults/clock.c");
    let library = directory.join("clock.so");
    // cargo links this test with the same compiler.
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .args([source, "-ldl"])
        .status()?;
    ensure!(status.success(), "cannot compile {source}");
    Ok(library)
}

/// A replica with a clock of its own.
struct Replica {
    process: Process,
    step: PathBuf,
}

impl Replica {
    fn start(site: &Site, name: &str) -> Result<Self> {
        let step = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("clock-{name}"));
        fs::write(&step, "0")?;
        let place = format!("--watch-namespace={}", site.namespace);
        let lease = format!("--leader-elect-resource-namespace={}", site.namespace);
        let flags = [
            &*place,
            &*lease,
            "--leader-elect",
            "--leader-elect-lease-duration=5s",
            "--leader-elect-renew-deadline=3s",
            "--leader-elect-retry-period=1s",
        ];
        let (library, path) = (library()?, step.clone());
        let environment = [
            ("LD_PRELOAD", &*library.to_string_lossy()),
            ("CLOCK_STEP", &*path.to_string_lossy()),
        ];
        let process = Process::start_with(&site.kubeconfig, &flags, &environment)?;
        Ok(Self { process, step })
    }

    async fn leads(&self) -> bool {
        let leads = metric(self.process.metrics, "leader_election_master_status", "").await;
        leads.unwrap_or_default() == 1.0
    }
}

#[tokio::test]
async fn steps_of_the_clock_change_nothing() -> Result<()> {
    let site = Site::new("clock").await?;
    let mut leader = Replica::start(&site, "leader")?;
    until("it leads", 30, async || Ok(leader.leads().await)).await?;
    let mut follower = Replica::start(&site, "follower")?;
    let leases: Api<Lease> = Api::namespaced(site.client.clone(), site.namespace);
    let begin = Instant::now();
    for (number, days) in [1, -2, 400, 0].into_iter().enumerate() {
        fs::write(&leader.step, (days * DAY).to_string())?;
        fs::write(&follower.step, (-days * DAY).to_string())?;
        let (since, expected) = (Instant::now(), Timestamp::now().as_second() + days * DAY);
        let (ready, conflict) = (format!("a-{number}"), format!("conflict-{number}"));
        site.create(&ready, 1).await?;
        site.create(&conflict, 1).await?;
        // Longer than a lease lasts.
        sleep(Duration::from_secs(7)).await;
        for replica in [&mut leader, &mut follower] {
            let ended = replica.process.child.try_wait()?;
            ensure!(ended.is_none(), "{days} days: {ended:?}");
        }
        ensure!(
            leader.leads().await && !follower.leads().await,
            "{days} days"
        );
        // The replica has this clock.
        let lease = leases.get("faults.example.com").await?.spec;
        let renewed = lease.and_then(|lease| Some(lease.renew_time?.0.as_second()));
        let found = renewed.unwrap_or_default();
        ensure!(
            (expected..expected + 30).contains(&found),
            "{found} and not {expected}"
        );
        ensure!(is_ready(&site.widgets().get(&ready).await?), "{days} days");
        // The delays of retries: 5 ms, doubled each time.
        let path = format!("/{conflict}/status");
        let tries = site.gate.count(since, |ask| ask.path.ends_with(&path));
        ensure!((6..=13).contains(&tries), "{days} days: {tries} tries");
    }
    let happened = "leadership kept, delays of retries unchanged";
    row(
        "steps of the clock: days, a year, back",
        happened,
        begin.elapsed(),
    );
    Ok(())
}
