//! One replica of the operator: a process that is restarted when it ends, as by a kubelet.

use std::{
    env,
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use tokio::time::sleep;

use super::{
    proxy::Proxy,
    reviews::{Asker, Phase},
};

/// The command of a replica.
#[derive(Debug)]
pub struct Replica {
    /// The user that the API server sees, and the prefix of its identity in the Lease.
    pub name: String,
    pub proxy: Proxy,
    pub asker: Asker,
    flags: String,
    kube: bool,
    log: PathBuf,
    child: Option<Child>,
    started: Instant,
    pub exits: Vec<ExitStatus>,
}

impl Replica {
    pub fn new(
        name: String,
        proxy: Proxy,
        asker: Asker,
        flags: String,
        kube: bool,
        log: PathBuf,
    ) -> Result<Self> {
        let mut replica = Self {
            name,
            proxy,
            asker,
            flags,
            kube,
            log,
            child: None,
            started: Instant::now(),
            exits: Vec::new(),
        };
        replica.start()?;
        Ok(replica)
    }

    fn start(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        let operator = match self.kube {
            true => "leadership::operator_of_kube",
            false => "leadership::operator",
        };
        let child = Command::new(env::current_exe()?)
            .args(["--exact", operator, "--nocapture"])
            .env("TEST_OPERATOR_FLAGS", &self.flags)
            .env("POD_NAME", &self.name)
            .env_remove("RUST_LOG")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        self.child = Some(child);
        self.started = Instant::now();
        Ok(())
    }

    /// Restarts the process if it has ended.
    pub fn supervise(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child
            && let Some(status) = child.try_wait()?
        {
            self.exits.push(status);
            if self.asker.phase() != Phase::CutOff {
                self.asker.enter(Phase::Starts);
            }
            self.start()?;
        }
        Ok(())
    }

    /// The age of its process.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn signal(&self, name: &str) -> Result<()> {
        let child = self.child.as_ref().context("no process")?;
        let status = Command::new("kill")
            .args(["-s", name, &child.id().to_string()])
            .status()?;
        ensure!(status.success(), "cannot send {name}");
        Ok(())
    }

    /// Ends the process as a rollout does.
    pub async fn stop(&mut self) -> Result<()> {
        self.signal("TERM")?;
        let mut child = self.child.take().context("no process")?;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(30) {
            if let Some(status) = child.try_wait()? {
                self.exits.push(status);
                return Ok(());
            }
            sleep(Duration::from_millis(20)).await;
        }
        self.child = Some(child);
        anyhow::bail!("{} does not stop", self.name)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended already.
            _ = child.kill();
            _ = child.wait();
        }
    }
}
