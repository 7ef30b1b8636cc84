//! Steps of the wall clock, as NTP or an administrator makes them.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::Mutex,
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

/// A wall clock that a test can set, for one process.
pub struct Clock {
    library: String,
    step: PathBuf,
}

impl Clock {
    /// A clock that goes as the machine's. The file with this name says how far it is from that.
    pub fn new(name: &str) -> Result<Self> {
        static LIBRARY: Mutex<Option<PathBuf>> = Mutex::new(None);
        let mut built = LIBRARY.lock().unwrap();
        let library = match &*built {
            Some(library) => library.clone(),
            None => built.insert(build()?).clone(),
        };
        let step = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("clock-{name}"));
        let clock = Self {
            library: library.to_string_lossy().into_owned(),
            step,
        };
        clock.set(0)?;
        Ok(clock)
    }

    /// The variables of the process.
    pub fn environment(&self) -> [(&str, &str); 2] {
        let step = self.step.to_str().unwrap_or_default();
        [("LD_PRELOAD", &self.library), ("CLOCK_STEP", step)]
    }

    /// Sets it to so many days after the machine's.
    pub fn set(&self, days: i64) -> Result<()> {
        // A process may read the file at any time.
        let next = self.step.with_extension("next");
        fs::write(&next, (days * DAY).to_string())?;
        Ok(fs::rename(next, &self.step)?)
    }
}

/// Builds the library that changes the clock of a process.
fn build() -> Result<PathBuf> {
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
    clock: Clock,
}

impl Replica {
    fn start(site: &Site, name: &str) -> Result<Self> {
        let clock = Clock::new(name)?;
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
        let process = Process::start_with(&site.kubeconfig, &flags, &clock.environment())?;
        Ok(Self { process, clock })
    }

    async fn leads(&self) -> bool {
        let leads = metric(self.process.metrics, "leader_election_master_status", "").await;
        leads.unwrap_or_default() == 1.0
    }

    /// The number of its reconciles that failed.
    async fn failures(&self) -> Result<f64> {
        let name = "controller_runtime_reconcile_errors_total";
        metric(self.process.metrics, name, "").await
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
        leader.clock.set(days)?;
        follower.clock.set(-days)?;
        let expected = Timestamp::now().as_second() + days * DAY;
        let (ready, failing) = (format!("a-{number}"), format!("failing-{number}"));
        let before = leader.failures().await?;
        site.create(&ready, 1).await?;
        site.create(&failing, 1).await?;
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
        let tries = leader.failures().await? - before;
        ensure!((6.0..20.0).contains(&tries), "{days} days: {tries} tries");
        site.delete(&failing).await?;
    }
    let happened = "leadership kept, delays of retries unchanged";
    row(
        "steps of the clock: days, a year, back",
        happened,
        begin.elapsed(),
    );
    Ok(())
}
