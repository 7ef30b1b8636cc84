//! The operator under test: a process of its own, which runs the test binary.

use std::{
    env,
    fs::{self, File},
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio, exit},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use clap::Parser;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::LabelSelector};
use kube::ResourceExt;
use operator_runtime::{
    Action, Controller, Flags, Manager, ManagerOptions, WatchScope,
    envtest::free_port,
    webhook::{Change, Conversion, Denied, Request, Webhook, Webhooks},
};
use tokio::time::sleep;

use crate::widget::Widget;

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "certificates.example.com",
    scope: WatchScope::Cluster,
};

/// The lifetime of certificates, the time before renewal, and the wait between steps, in milliseconds.
pub type Periods = [u64; 3];

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// Marks the object.
async fn default(object: &mut ConfigMap, _: &Request, _: &()) -> Result<(), Denied> {
    let data = object.data.get_or_insert_default();
    data.insert("defaulted".to_owned(), "yes".to_owned());
    Ok(())
}

async fn validate(change: &Change<ConfigMap>, _: &Request, _: &()) -> Result<(), Denied> {
    match change {
        Change::Create(new) | Change::Update { new, .. }
            if new.data.iter().flatten().any(|(key, _)| key == "bad") =>
        {
            Err(Denied::forbidden("it is bad"))
        }
        _ => Ok(()),
    }
}

fn webhooks() -> Webhooks<()> {
    // The cluster is shared by all tests.
    let namespace = env::var("POD_NAMESPACE").unwrap_or_default();
    let label = ("kubernetes.io/metadata.name".to_owned(), namespace);
    let own = LabelSelector {
        match_labels: Some([label].into()),
        ..LabelSelector::default()
    };
    let mut webhooks = Webhooks::default();
    webhooks.add(Webhook::defaulting(default).namespace_selector(own.clone()));
    webhooks.add(Webhook::validating(validate).namespace_selector(own));
    if env::var_os("TEST_CONVERTS").is_some() {
        webhooks.convert(Conversion::to::<Widget>());
    }
    webhooks
}

async fn reconcile(widget: Arc<Widget>, _: Arc<()>) -> kube::Result<Action> {
    eprintln!("reconciled {}", widget.name_any());
    Ok(Action::await_change())
}

/// Runs the operator if the environment asks for it.
pub fn main() {
    let Ok(flags) = env::var("TEST_OPERATOR_FLAGS") else {
        return;
    };
    let args = Args::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    let periods = env::var("TEST_PERIODS").unwrap_or_default();
    let periods: Vec<_> = periods
        .split(',')
        .filter_map(|text| text.parse().ok())
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = runtime.unwrap().block_on(async {
        let mut manager = Manager::new(&OPTIONS, args.manager).await?;
        if let [lifetime, renew, settle] = periods[..] {
            let [lifetime, renew, settle] = [lifetime, renew, settle].map(Duration::from_millis);
            manager = manager.certificate_periods(lifetime, renew, settle);
        }
        if env::var_os("TEST_WATCHES").is_some() {
            let widgets = Controller::external("widgets", reconcile);
            manager = manager.controllers(widgets, ());
        }
        manager.webhooks(webhooks(), ()).run().await
    });
    if let Err(error) = result {
        eprintln!("{error}");
        exit(1);
    }
}

/// An operator process. Dropping it kills it.
pub struct Operator {
    health: SocketAddr,
    log: PathBuf,
    child: Child,
}

impl Operator {
    /// Starts it with the permissions of a kubeconfig.
    pub fn start(
        kubeconfig: &Path,
        name: &str,
        port: u16,
        flags: &str,
        environment: &[(&str, String)],
    ) -> Result<Self> {
        let health = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let log = kubeconfig.with_file_name(format!("{name}.log"));
        let flags = format!(
            "--kubeconfig={} --health-probe-bind-address={health} --log-format=text \
             --webhook-port={port} {flags}",
            kubeconfig.display(),
        );
        let child = Command::new(env::current_exe()?)
            .args(["--exact", "certificates::operator", "--nocapture"])
            .env("TEST_OPERATOR_FLAGS", flags.trim())
            .env("POD_NAME", name)
            .env_remove("RUST_LOG")
            .envs(environment.iter().map(|(key, value)| (key, value)))
            .stdout(Stdio::null())
            .stderr(File::options().create(true).append(true).open(&log)?)
            .spawn()?;
        Ok(Self { health, log, child })
    }

    /// Waits until it is ready.
    pub async fn ready(&mut self) -> Result<()> {
        let begin = Instant::now();
        while !self.answer("/readyz").starts_with("HTTP/1.0 200") {
            if let Some(status) = self.child.try_wait()? {
                bail!("the operator ended ({status}):\n{}", self.log());
            }
            if begin.elapsed() > Duration::from_secs(30) {
                bail!(
                    "not ready: {}\n{}",
                    self.answer("/readyz?verbose"),
                    self.log()
                );
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// The response of a probe.
    pub fn answer(&self, path: &str) -> String {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(self.health)?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        ask().unwrap_or_default()
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Stops it as a rollout does, and waits for its end.
    pub async fn stop(mut self) -> Result<()> {
        self.signal("TERM")?;
        let begin = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(
                begin.elapsed() < Duration::from_secs(30),
                "does not stop: {}",
                self.log()
            );
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let kill = Command::new("kill")
            .args(["-s", signal, &self.child.id().to_string()])
            .status()?;
        ensure!(kill.success(), "cannot send {signal}");
        Ok(())
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
