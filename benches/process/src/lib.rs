//! A process that is measured from outside, as Linux counts it.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

/// How long a process may take to stop.
const STOP: Duration = Duration::from_secs(35);

/// Linux counts CPU time in hundredths of a second, whatever its own clock does.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process that runs, and is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    log: PathBuf,
    /// When it was started.
    pub started: Instant,
}

impl Process {
    /// Starts it; what it says goes to the file `log`.
    pub fn start(mut command: Command, log: PathBuf) -> Result<Self> {
        command
            // What it talks to is on this machine, whatever proxy the environment names.
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?);
        let started = Instant::now();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start `{}`", command.get_program().display()))?;
        Ok(Self {
            child,
            log,
            started,
        })
    }

    /// Fails with the end of the log if the process has ended, which it should not.
    pub fn check(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            let log = fs::read_to_string(&self.log)?;
            let lines: Vec<_> = log.lines().collect();
            let tail = lines[lines.len().saturating_sub(15)..].join("\n");
            bail!("it ended, {status}:\n{tail}");
        }
        Ok(())
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

    /// The metrics that it serves at this port of loopback.
    pub fn metrics(&self, port: u16) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        // Of HTTP 1.0, so that the answer is not chunked.
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, metrics) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
        ensure!(head.contains(" 200 "), "no metrics: {head}");
        Ok(metrics.to_owned())
    }

    /// Leaves those metrics beside its log.
    pub fn save_metrics(&self, port: u16) -> Result<()> {
        let metrics = self.metrics(port)?;
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
