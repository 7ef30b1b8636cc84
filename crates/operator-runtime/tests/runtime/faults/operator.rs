//! An operator in this process, or as a process of its own, with `main`'s flags.

use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Parser;
use kube::Client;
use operator_runtime::{Controller, Controllers, Flags, Manager, envtest::free_port};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task,
};

use crate::faults::{OPTIONS, site::Site, until};
use crate::widget::Widget;

#[derive(Parser)]
pub struct Args {
    #[command(flatten)]
    pub manager: Flags,
}

/// An operator in this process; it ends when dropped.
pub struct Operator {
    pub metrics: u16,
    pub health: u16,
    task: task::JoinHandle<Result<(), operator_runtime::Error>>,
}

impl Operator {
    /// Runs one controller in the namespace of the site, behind its gate.
    pub async fn run(site: &Site, controller: Controller<Widget, Client>) -> Result<Self> {
        let mut controllers = Controllers::default();
        controllers.add(controller);
        let place = format!("--watch-namespace={}", site.namespace);
        Self::start(&site.kubeconfig, &[&place], controllers, |manager| {
            manager.client()
        })
        .await
    }

    pub async fn start<C: Send + Sync + 'static>(
        kubeconfig: &Path,
        flags: &[&str],
        controllers: Controllers<C>,
        context: impl FnOnce(&Manager) -> C,
    ) -> Result<Self> {
        let (metrics, health) = (free_port()?, free_port()?);
        let manager = manager(kubeconfig, metrics, health, flags).await?;
        let context = context(&manager);
        let manager = manager.controllers(controllers, context);
        Ok(Self {
            metrics,
            health,
            task: tokio::spawn(manager.run()),
        })
    }

    /// Whether it still runs.
    pub fn runs(&self) -> bool {
        !self.task.is_finished()
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The variable with the fault for [`signals::operator`](crate::faults::signals).
pub const FAULT: &str = "TEST_OPERATOR_FAULT";

/// A manager with the flags of a pod.
pub async fn manager(
    kubeconfig: &Path,
    metrics: u16,
    health: u16,
    flags: &[&str],
) -> Result<Manager> {
    let flags = flags.iter().map(ToString::to_string);
    let flags = [common(kubeconfig, metrics, health), flags.collect()].concat();
    let args = Args::try_parse_from(["operator".to_owned()].into_iter().chain(flags))?;
    Ok(Manager::new(&OPTIONS, args.manager).await?)
}

fn common(kubeconfig: &Path, metrics: u16, health: u16) -> Vec<String> {
    vec![
        format!("--metrics-bind-address=127.0.0.1:{metrics}"),
        "--metrics-secure=false".to_owned(),
        format!("--health-probe-bind-address=127.0.0.1:{health}"),
        "--log-format=json".to_owned(),
        format!("--kubeconfig={}", kubeconfig.display()),
    ]
}

/// An operator as a process: this binary again, as [`signals::operator`](crate::faults::signals).
pub struct Process {
    pub child: Child,
    pub metrics: u16,
    pub health: u16,
    log: Option<JoinHandle<String>>,
}

impl Process {
    pub fn start(kubeconfig: &Path, flags: &[&str]) -> Result<Self> {
        Self::start_with(kubeconfig, flags, &[])
    }

    pub fn start_with(
        kubeconfig: &Path,
        flags: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Self> {
        let (metrics, health) = (free_port()?, free_port()?);
        let flags = flags.iter().map(ToString::to_string);
        let flags = [common(kubeconfig, metrics, health), flags.collect()].concat();
        let mut process = Self::spawn(&flags, environment)?;
        (process.metrics, process.health) = (metrics, health);
        Ok(process)
    }

    /// Starts it with exactly these flags.
    pub fn spawn(flags: &[String], environment: &[(&str, &str)]) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--exact", "faults::signals::operator", "--nocapture"])
            .env("TEST_OPERATOR_FLAGS", flags.join(" "))
            .env_remove("RUST_LOG")
            .env_remove("RUST_BACKTRACE")
            .env_remove("KUBECONFIG")
            .envs(environment.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stderr = child.stderr.take().context("no stderr")?;
        let log = thread::spawn(move || {
            let mut log = String::new();
            _ = stderr.read_to_string(&mut log);
            log
        });
        Ok(Self {
            child,
            metrics: 0,
            health: 0,
            log: Some(log),
        })
    }

    pub fn signal(&self, name: &str) -> Result<()> {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status()?;
        ensure!(status.success(), "cannot send {name}");
        Ok(())
    }

    /// Waits for the end; returns the exit status and the log.
    pub async fn end(mut self, seconds: u64) -> Result<(ExitStatus, String)> {
        let child = std::sync::Mutex::new(&mut self.child);
        until("the process ends", seconds, async || {
            Ok(child.lock().unwrap().try_wait()?.is_some())
        })
        .await?;
        let status = self.child.wait()?;
        let log = self.log.take().context("no log")?;
        Ok((status, log.join().map_err(|_| anyhow!("no log"))?))
    }

    /// Resident memory in KiB.
    pub fn memory(&self) -> Result<u64> {
        let path = PathBuf::from(format!("/proc/{}/status", self.child.id()));
        let status = std::fs::read_to_string(path)?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let line = line.context("no VmRSS")?.trim().trim_end_matches(" kB");
        Ok(line.parse()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The response to a GET of a path, head and body.
pub async fn get(port: u16, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// The sum of the samples of a metric whose line contains `labels`.
pub async fn metric(port: u16, name: &str, labels: &str) -> Result<f64> {
    let text = get(port, "/metrics").await?;
    let lines = text.lines().filter(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['{', ' ']))
            && line.contains(labels)
    });
    let values = lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
    Ok(values.sum())
}
