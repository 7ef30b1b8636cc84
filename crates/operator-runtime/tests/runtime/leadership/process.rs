//! An operator as a process of its own, which is started again when it ends, as a container by its kubelet.

use std::{
    env,
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use tokio::time::sleep;

/// The time in which a process has to end when it is asked to.
const LONGEST: Duration = Duration::from_secs(40);

/// A process of this binary. It ends when dropped.
#[derive(Debug)]
pub struct Process {
    command: Command,
    log: PathBuf,
    child: Option<Child>,
    started: Instant,
}

impl Process {
    /// Starts the test `operator` with these flags, as a Pod of this name.
    pub fn start(
        operator: &str,
        flags: &str,
        pod: &str,
        environment: &[(&str, &str)],
        log: PathBuf,
    ) -> Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command
            .args(["--exact", operator, "--nocapture"])
            .env("TEST_OPERATOR_FLAGS", flags)
            .env("POD_NAME", pod)
            .env_remove("RUST_LOG")
            .envs(environment.iter().copied())
            .stdout(Stdio::null());
        let mut process = Self {
            command,
            log,
            child: None,
            started: Instant::now(),
        };
        process.spawn()?;
        Ok(process)
    }

    fn spawn(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        self.child = Some(self.command.stderr(log).spawn()?);
        self.started = Instant::now();
        Ok(())
    }

    /// Starts it again if it has ended, and returns how it ended.
    pub fn supervise(&mut self) -> Result<Option<ExitStatus>> {
        let child = self.child.as_mut();
        let status = child.map(Child::try_wait).transpose()?.flatten();
        if status.is_some() {
            self.spawn()?;
        }
        Ok(status)
    }

    /// How long it has been running.
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

    /// Ends it as a rollout does, for ever.
    pub async fn stop(&mut self) -> Result<ExitStatus> {
        self.signal("TERM")?;
        let mut child = self.child.take().context("no process")?;
        let begin = Instant::now();
        while begin.elapsed() < LONGEST {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            sleep(Duration::from_millis(20)).await;
        }
        self.child = Some(child);
        bail!("it does not end within {LONGEST:?}\n{}", self.log())
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended already.
            _ = child.kill();
            _ = child.wait();
        }
    }
}
