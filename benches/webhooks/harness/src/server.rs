//! The servers as processes.

use std::{fs, net::TcpListener, path::Path, process::Command, thread::sleep, time::Duration};

use anyhow::{Context, Result};
use process::Process;

use crate::{connection, load::Target, review::Question};

/// How long a server may take until it answers.
const START: Duration = Duration::from_secs(20);

/// Nobody is there: neither server needs the API server to answer.
const KUBECONFIG: &str = "\
apiVersion: v1
kind: Config
current-context: none
clusters: [{name: none, cluster: {server: \"http://127.0.0.1:1\"}}]
users: [{name: none, user: {}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
";

/// One of those that are compared.
#[derive(Debug)]
pub struct Server {
    /// What the table calls it; its binary is `webhooks-NAME`.
    pub name: &'static str,
    /// Whether it knows what it is asked, or always answers the same.
    pub answers: bool,
}

/// In the order of the table. The first is what no server can be faster than, and the last what ours is measured against.
pub const SERVERS: [Server; 3] = [
    Server {
        name: "floor",
        answers: false,
    },
    Server {
        name: "manager",
        answers: true,
    },
    Server {
        name: "controller-runtime",
        answers: true,
    },
];

/// A server that runs.
pub struct Running {
    pub process: Process,
    pub target: Target,
    /// The size of the binary, in bytes.
    pub binary: u64,
    metrics: Option<u16>,
}

impl Server {
    /// Starts it, and waits until it answers `question`.
    pub fn start(&self, directory: &Path, question: &Question) -> Result<Running> {
        let [port, metrics] = ports()?;
        let files = directory.join("webhooks-files");
        fs::create_dir_all(&files)?;
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        fs::write(files.join("tls.crt"), made.cert.pem())?;
        fs::write(files.join("tls.key"), made.signing_key.serialize_pem())?;
        fs::write(files.join("kubeconfig"), KUBECONFIG)?;
        let tls = connection::tls(made.cert.der().clone())?;

        let binary = directory.join(format!("webhooks-{}", self.name));
        let mut command = Command::new(&binary);
        command
            .arg(format!("--webhook-port={port}"))
            .arg(format!("--webhook-cert-path={}", files.display()))
            .env("KUBECONFIG", files.join("kubeconfig"));
        if self.answers {
            command
                .arg(format!("--metrics-bind-address=127.0.0.1:{metrics}"))
                .arg("--metrics-secure=false")
                .arg("--health-probe-bind-address=127.0.0.1:0");
        }
        let log = directory.join(format!("webhooks-{}.log", self.name));
        let mut running = Running {
            process: Process::start(command, log)?,
            target: Target { port, tls },
            binary: fs::metadata(binary)?.len(),
            metrics: self.answers.then_some(metrics),
        };
        running.wait(question)?;
        Ok(running)
    }
}

impl Running {
    fn wait(&mut self, question: &Question) -> Result<()> {
        loop {
            self.process.check()?;
            let mut connection = self.target.connect();
            let answer = connection
                .as_mut()
                .map_err(|error| anyhow::anyhow!("{error}"))
                .and_then(|connection| connection.ask(&question.request));
            match answer {
                Ok(answer) => return question.check(answer),
                Err(_) if self.process.started.elapsed() < START => {
                    sleep(Duration::from_millis(20));
                }
                Err(error) => return Err(error).context("it does not answer"),
            }
        }
    }

    /// Stops it, after its metrics were left beside its log, if it serves any.
    pub fn stop(mut self) -> Result<()> {
        if let Some(port) = self.metrics {
            self.process.save_metrics(port)?;
        }
        self.process.stop()
    }
}

/// Ports that are free, and different.
fn ports() -> Result<[u16; 2]> {
    let listeners = [
        TcpListener::bind("127.0.0.1:0")?,
        TcpListener::bind("127.0.0.1:0")?,
    ];
    let [first, second] = &listeners;
    Ok([first.local_addr()?.port(), second.local_addr()?.port()])
}
