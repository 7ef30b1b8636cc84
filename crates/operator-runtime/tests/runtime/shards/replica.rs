//! One replica of the operator.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use operator_runtime::envtest::{Cluster, free_port};

use crate::{
    faults::clock::Clock,
    leadership::{plan::Timing, process::Process, proxy::Proxy, setup::connect},
};

pub struct Replica {
    /// The user that the API server sees, and the prefix of its identity.
    pub name: String,
    pub proxy: Proxy,
    pub clock: Clock,
    /// The port of its probes.
    pub health: u16,
    process: Process,
}

impl Replica {
    /// Starts a replica as a user of its own, behind a proxy and with a wall clock of its own.
    pub async fn start(
        cluster: &Cluster,
        namespace: &str,
        name: String,
        timing: Timing,
    ) -> Result<Self> {
        let (kubeconfig, proxy) = connect(cluster, namespace, &name).await?;
        let (clock, health) = (Clock::new(&name)?, free_port()?);
        let flags = format!(
            "--kubeconfig={} --watch-namespace={namespace} --health-probe-bind-address=127.0.0.1:{health} \
             --log-format=text --leader-elect --leader-elect-resource-namespace={namespace} --shards=auto {}",
            kubeconfig.display(),
            timing.flags(),
        );
        let [library, step] = clock.environment();
        let log = ("RUST_LOG", "info,operator_runtime::shards=debug");
        let environment = [library, step, log];
        let log = kubeconfig.with_extension("log");
        let process = Process::start("shards::operator", &flags, &name, &environment, log)?;
        Ok(Self {
            name,
            proxy,
            clock,
            health,
            process,
        })
    }

    /// Restarts the process if it has ended.
    pub fn supervise(&mut self) -> Result<()> {
        self.process.supervise().map(drop)
    }

    pub fn signal(&self, name: &str) -> Result<()> {
        self.process.signal(name)
    }

    /// Ends the process as a rollout does, for ever; returns how long it took.
    pub async fn stop(&mut self) -> Result<Duration> {
        let begin = Instant::now();
        let status = self.process.stop().await?;
        ensure!(status.success(), "{status}\n{}", self.log());
        Ok(begin.elapsed())
    }

    pub fn log(&self) -> String {
        self.process.log()
    }
}
