//! Probes of containers, and their hooks: HTTP, TCP, or a command.

use std::{net::Ipv4Addr, time::Duration};

use k8s_openapi::{
    api::core::v1::{Container, LifecycleHandler, Probe},
    apimachinery::pkg::util::intstr::IntOrString,
};
use tokio::{
    net::TcpStream,
    process::Command,
    time::{sleep, timeout},
};

/// The target of a container's probes.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) container: &'a Container,
    pub(crate) address: Ipv4Addr,
    /// The process of the container.
    pub(crate) process: u32,
}

/// How often a probe runs.
pub(crate) fn period(probe: &Probe) -> Duration {
    seconds(probe.period_seconds, 10)
}

/// How long a probe waits after the start.
pub(crate) fn initial_delay(probe: &Probe) -> Duration {
    seconds(probe.initial_delay_seconds, 0)
}

fn seconds(value: Option<i32>, default: i32) -> Duration {
    Duration::from_secs(value.unwrap_or(default).max(0).unsigned_abs().into())
}

impl Target<'_> {
    /// Runs a probe once.
    pub(crate) async fn passes(self, probe: &Probe) -> bool {
        let run = self.run(probe);
        timeout(seconds(probe.timeout_seconds, 1), run)
            .await
            .unwrap_or(false)
    }

    /// Runs a hook of the container. If it fails, that changes nothing.
    pub(crate) async fn hook(self, hook: &LifecycleHandler) {
        if let Some(pause) = &hook.sleep {
            let seconds = pause.seconds.max(0).unsigned_abs();
            return sleep(Duration::from_secs(seconds)).await;
        }
        let probe = Probe {
            exec: hook.exec.clone(),
            http_get: hook.http_get.clone(),
            tcp_socket: hook.tcp_socket.clone(),
            ..Probe::default()
        };
        self.run(&probe).await;
    }

    async fn run(self, probe: &Probe) -> bool {
        if let Some(get) = &probe.http_get {
            let scheme = get.scheme.as_deref().unwrap_or("http").to_lowercase();
            let path = get.path.as_deref().unwrap_or("/");
            let Some(port) = self.port(&get.port) else {
                return false;
            };
            let client = reqwest::Client::builder()
                .no_proxy()
                .tls_danger_accept_invalid_certs(true);
            let url = format!("{scheme}://{}:{port}{path}", self.address);
            let Ok(client) = client.build() else {
                return false;
            };
            let answer = client.get(url).send().await;
            return answer.is_ok_and(|answer| (200..400).contains(&answer.status().as_u16()));
        }
        if let Some(tcp) = &probe.tcp_socket {
            let Some(port) = self.port(&tcp.port) else {
                return false;
            };
            return TcpStream::connect((self.address, port)).await.is_ok();
        }
        let command = probe.exec.as_ref().and_then(|exec| exec.command.as_ref());
        let mut exec = Command::new("nsenter");
        exec.args([
            "-t",
            &self.process.to_string(),
            "-m",
            "-n",
            "-u",
            "-r",
            "-w",
        ]);
        exec.args(command.into_iter().flatten()).kill_on_drop(true);
        exec.output()
            .await
            .is_ok_and(|output| output.status.success())
    }

    fn port(self, port: &IntOrString) -> Option<u16> {
        match port {
            IntOrString::Int(number) => u16::try_from(*number).ok(),
            IntOrString::String(name) => {
                let mut ports = self.container.ports.iter().flatten();
                let found = ports.find(|port| port.name.as_ref() == Some(name))?;
                u16::try_from(found.container_port).ok()
            }
        }
    }
}
