//! The operators as processes.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result};
use process::Process;

/// One of those that are compared.
#[derive(Debug)]
pub struct Operator {
    /// What the table calls it; its binary is `operator-NAME`.
    pub name: &'static str,
    flags: fn(concurrency: usize, metrics: u16) -> Vec<String>,
    /// Whether it serves metrics.
    metrics: bool,
}

/// In the order of the table. The first is what the others are measured against, and the last what ours is.
pub const OPERATORS: [Operator; 4] = [
    Operator {
        name: "floor",
        flags: |concurrency, _| vec![format!("--max-concurrent-reconciles={concurrency}")],
        metrics: false,
    },
    Operator {
        name: "kube",
        flags: |concurrency, _| vec![format!("--max-concurrent-reconciles={concurrency}")],
        metrics: false,
    },
    Operator {
        name: "manager",
        flags: |concurrency, metrics| {
            vec![
                format!("--max-concurrent-reconciles={concurrency}"),
                format!("--metrics-bind-address=127.0.0.1:{metrics}"),
                "--metrics-secure=false".into(),
                "--health-probe-bind-address=127.0.0.1:0".into(),
            ]
        },
        metrics: true,
    },
    Operator {
        name: "controller-runtime",
        flags: |concurrency, metrics| {
            vec![
                format!("--max-concurrent-reconciles={concurrency}"),
                format!("--metrics-bind-address=127.0.0.1:{metrics}"),
                "--metrics-secure=false".into(),
                "--health-probe-bind-address=127.0.0.1:0".into(),
            ]
        },
        metrics: true,
    },
];

/// An operator that runs.
pub struct Running {
    pub process: Process,
    metrics: Option<u16>,
}

impl Operator {
    pub fn binary(&self, directory: &Path) -> PathBuf {
        directory.join(format!("operator-{}", self.name))
    }

    pub fn start(
        &self,
        directory: &Path,
        kubeconfig: &Path,
        concurrency: usize,
        more: &[&str],
    ) -> Result<Running> {
        let metrics = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(self.binary(directory));
        command
            .args((self.flags)(concurrency, metrics))
            .args(more)
            .env("KUBECONFIG", kubeconfig);
        let log = directory.join(format!("operator-{}.log", self.name));
        let process = Process::start(command, log)?;
        let metrics = self.metrics.then_some(metrics);
        Ok(Running { process, metrics })
    }
}

impl Running {
    /// Returns when the process has ended, which it should not; with the end of its log.
    pub async fn ended(&mut self) -> Result<()> {
        loop {
            self.process.check()?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// How many reconciles have ended, as it counts them.
    pub fn reconciles(&self) -> Result<u64> {
        let metrics = self.process.metrics(self.metrics.context("no metrics")?)?;
        let lines = metrics
            .lines()
            .filter(|line| line.starts_with("controller_runtime_reconcile_total{"));
        let counts = lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        Ok(counts.sum::<f64>() as u64)
    }

    /// Leaves its metrics beside its log, if it serves any.
    pub fn save_metrics(&self) -> Result<()> {
        self.metrics
            .map_or(Ok(()), |port| self.process.save_metrics(port))
    }
}
