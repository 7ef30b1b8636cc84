//! The operators as processes.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

/// How long an operator may take to stop.
const STOP: Duration = Duration::from_secs(35);

/// Linux counts CPU time in hundredths of a second, whatever its own clock does.
const TICKS_PER_SECOND: f64 = 100.0;

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
pub struct Process {
    child: Child,
    log: PathBuf,
    metrics: Option<u16>,
    /// When it was started.
    pub started: Instant,
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
    ) -> Result<Process> {
        let metrics = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = directory.join(format!("operator-{}.log", self.name));
        let binary = self.binary(directory);
        let mut command = Command::new(&binary);
        command
            .args((self.flags)(concurrency, metrics))
            .env("KUBECONFIG", kubeconfig)
            // The API server is on this machine, whatever proxy the environment names.
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?);
        let started = Instant::now();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start `{}`", binary.display()))?;
        let metrics = self.metrics.then_some(metrics);
        Ok(Process {
            child,
            log,
            metrics,
            started,
        })
    }
}

impl Process {
    /// Returns when the process has ended, which it should not; with the end of its log.
    pub async fn ended(&mut self) -> Result<()> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                let log = fs::read_to_string(&self.log)?;
                let lines: Vec<_> = log.lines().collect();
                let tail = lines[lines.len().saturating_sub(15)..].join("\n");
                bail!("it ended, {status}:\n{tail}");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The CPU time that it used so far, in user and kernel mode.
    pub fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The second field is the name in parentheses, which may hold anything.
        let fields = stat.rsplit_once(')').context("no name in stat")?.1;
        let ticks = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(str::parse::<f64>);
        let ticks: f64 = ticks.sum::<Result<_, _>>()?;
        Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
    }

    /// The most memory that it had in use at once, in bytes.
    pub fn peak_memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line
            .and_then(|line| line.trim().strip_suffix(" kB"))
            .context("no VmHWM")?;
        Ok(kib.trim().parse::<u64>()? * 1024)
    }

    /// Leaves its metrics beside its log, if it serves any.
    pub fn save_metrics(&self) -> Result<()> {
        let Some(port) = self.metrics else {
            return Ok(());
        };
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        // Of HTTP 1.0, so that the answer is not chunked.
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, metrics) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
        ensure!(head.contains(" 200 "), "no metrics: {head}");
        Ok(fs::write(self.log.with_extension("metrics"), metrics)?)
    }

    /// Stops it as Kubernetes would.
    pub fn stop(&mut self) -> Result<()> {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", "TERM", &id]).status()?;
        ensure!(status.success(), "cannot send SIGTERM");
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(asked.elapsed() < STOP, "it does not stop");
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, unless something failed.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
