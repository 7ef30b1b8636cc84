//! The API server, and the operator in its cgroup.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use operator_runtime::envtest::{ControlPlane, free_port};
use process::Process;
use serde_json::{Value, json};

use crate::limit::Limit;

/// The Lease of the example.
const LEASE: &str = "webhooks.example.com";

/// How long the operator may take to start.
const START: Duration = Duration::from_secs(60);

pub struct Site {
    control_plane: ControlPlane,
    operator: PathBuf,
    directory: tempfile::TempDir,
}

impl Site {
    pub fn new(control_plane: ControlPlane, operator: PathBuf) -> Result<Self> {
        let site = Self {
            control_plane,
            operator,
            directory: tempfile::tempdir()?,
        };
        let output = Command::new(&site.operator).arg("--crd").output();
        let output = output.with_context(|| format!("cannot run `{}`", site.operator.display()))?;
        site.kubectl(
            &["apply", "--server-side", "-f", "-"],
            &String::from_utf8(output.stdout)?,
        )?;
        let crd = "crd/caches.cache.example.com";
        site.kubectl(&["wait", "--for=condition=established", crd], "")?;
        Ok(site)
    }

    /// Runs kubectl with this input, and returns its output.
    fn kubectl(&self, arguments: &[&str], input: &str) -> Result<String> {
        let mut kubectl = self.control_plane.kubectl();
        let kubectl = kubectl.args(arguments).stdin(Stdio::piped());
        let mut child = kubectl
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stdin = child.stdin.take().context("its input")?;
        stdin.write_all(input.as_bytes())?;
        drop(stdin);
        let output = child.wait_with_output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "kubectl: {}", errors.trim());
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Applies a change of an object of the older version: it is converted, defaulted and validated.
    pub fn apply(&self, number: usize) -> Result<()> {
        let object = json!({
            "apiVersion": "cache.example.com/v1alpha1",
            "kind": "Cache",
            "metadata": {"name": "siege"},
            "spec": {"size": number % 100 + 1},
        });
        self.kubectl(&["apply", "-f", "-"], &object.to_string())?;
        Ok(())
    }

    /// The replica that leads, and since when.
    pub fn holder(&self) -> Result<(String, u64)> {
        let lease = self.kubectl(&["get", "lease", LEASE, "-n", "default", "-o", "json"], "")?;
        let lease: Value = serde_json::from_str(&lease)?;
        let spec = &lease["spec"];
        let holder = spec["holderIdentity"].as_str().unwrap_or_default();
        Ok((
            holder.to_owned(),
            spec["leaseTransitions"].as_u64().unwrap_or_default(),
        ))
    }
}

/// The ports of an operator.
#[derive(Clone)]
pub struct Target {
    pub webhooks: SocketAddr,
    pub probes: SocketAddr,
    pub metrics: SocketAddr,
}

impl Target {
    /// Asks as the kubelet does: on a new connection, with its timeout of a second.
    pub fn probe(&self) -> Result<()> {
        self.get("/healthz")
    }

    fn get(&self, path: &str) -> Result<()> {
        let limit = Duration::from_secs(1);
        let mut stream = TcpStream::connect_timeout(&self.probes, limit)?;
        stream.set_read_timeout(Some(limit))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(answer.starts_with("HTTP/1.1 200"), "it answers {answer}");
        Ok(())
    }
}

pub struct Operator {
    pub process: Process,
    pub target: Target,
}

impl Operator {
    /// Starts it in the cgroup, and waits until it is ready and leads.
    pub fn start(site: &Site, limit: &Limit, http2: bool) -> Result<Self> {
        let port = || -> Result<SocketAddr> { Ok(([127, 0, 0, 1], free_port()?).into()) };
        let target = Target {
            webhooks: port()?,
            probes: port()?,
            metrics: port()?,
        };
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(limit.processes())
            .arg(&site.operator)
            .arg("--webhook-host=127.0.0.1")
            .arg(format!("--webhook-port={}", target.webhooks.port()))
            .arg(format!("--health-probe-bind-address={}", target.probes))
            .arg(format!("--metrics-bind-address={}", target.metrics))
            .args([
                "--leader-elect",
                "--leader-elect-resource-namespace=default",
            ])
            .env("KUBECONFIG", site.control_plane.kubeconfig());
        if http2 {
            command.arg("--enable-http2");
        }
        let log = site.directory.path().join("operator.log");
        let mut process = Process::start(command, log)?;
        let begin = Instant::now();
        loop {
            process.check()?;
            let leads = site.holder().is_ok_and(|holder| !holder.0.is_empty());
            if leads && target.get("/readyz").is_ok() && site.apply(0).is_ok() {
                return Ok(Self { process, target });
            }
            if begin.elapsed() > START {
                bail!("the operator is not ready within {START:?}");
            }
            sleep(Duration::from_millis(100));
        }
    }
}
