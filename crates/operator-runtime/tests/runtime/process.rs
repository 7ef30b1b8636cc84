//! An operator as a process: probes, metrics, signals, and a CRD that is installed late.

use std::{
    env,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, NAMESPACE, free_port},
};

use crate::widget::{Widget, WidgetSpec};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "process.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

/// Takes 600 ms for a widget named `slow`, and forever for one named `stuck`.
async fn reconcile(widget: Arc<Widget>, _: Arc<()>) -> kube::Result<Action> {
    let name = widget.name_any();
    eprintln!("began {name}");
    match name.as_str() {
        "slow" => tokio::time::sleep(Duration::from_millis(600)).await,
        "stuck" => std::future::pending().await,
        _ => {}
    }
    eprintln!("ended {name}");
    Ok(Action::requeue(Duration::from_secs(3600)))
}

/// The operator. The tests run this binary again, with its flags in the environment.
#[test]
fn operator() {
    let Ok(flags) = env::var("TEST_OPERATOR_FLAGS") else {
        return;
    };
    let args = Args::parse_from(["operator"].into_iter().chain(flags.split(' ')));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut controllers = Controllers::default();
        controllers.add(Controller::new("widgets", reconcile));
        let manager = Manager::new(&OPTIONS, args.manager).await.unwrap();
        manager.controllers(controllers, ()).run().await.unwrap();
    });
}

struct Process {
    child: Child,
    health: u16,
    metrics: u16,
}

impl Process {
    fn start(kubeconfig: &Path) -> Result<Self> {
        let (health, metrics) = (free_port()?, free_port()?);
        let flags = format!(
            "--health-probe-bind-address=:{health} --metrics-bind-address=127.0.0.1:{metrics} \
             --metrics-secure=false --log-format=json --kubeconfig={}",
            kubeconfig.display()
        );
        let child = Command::new(env::current_exe()?)
            .args(["--exact", "process::operator", "--nocapture"])
            .env("TEST_OPERATOR_FLAGS", flags)
            .env_remove("RUST_LOG")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self {
            child,
            health,
            metrics,
        })
    }

    fn signal(&self, name: &str) -> Result<()> {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status()?;
        ensure!(status.success(), "cannot send {name}");
        Ok(())
    }

    /// Waits for the end; returns the time that it took, the exit status, and the log.
    fn end(mut self) -> Result<(Duration, ExitStatus, String)> {
        let begin = Instant::now();
        let status = self.child.wait()?;
        let took = begin.elapsed();
        let mut log = String::new();
        let stderr = self.child.stderr.as_mut().context("no stderr")?;
        stderr.read_to_string(&mut log)?;
        Ok((took, status, log))
    }

    /// Waits until a GET of the path has this status line and text.
    fn wait_for(&self, port: u16, path: &str, status: &str, text: &str) -> Result<()> {
        let begin = Instant::now();
        loop {
            let answer = get(port, path).unwrap_or_default();
            if answer.starts_with(status) && answer.contains(text) {
                return Ok(());
            }
            if begin.elapsed() > Duration::from_secs(20) {
                bail!("{path}: expected `{status}` with `{text}`, found:\n{answer}");
            }
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn get(port: u16, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

async fn apply(client: &Client, name: &str) -> Result<()> {
    let api: Api<Widget> = Api::namespaced(client.clone(), NAMESPACE);
    let widget = Widget::new(name, WidgetSpec::default());
    api.patch(name, &PatchParams::apply("test"), &Patch::Apply(&widget))
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_process_waits_for_its_crd_and_stops_on_a_signal() -> Result<()> {
    let cluster = Cluster::start()?;
    let kubeconfig = cluster.control_plane().kubeconfig();
    let client = cluster.client()?;

    let process = Process::start(&kubeconfig)?;
    process.wait_for(process.health, "/healthz", "HTTP/1.1 200", "ok")?;
    let waiting = "[-]widgets.test.example.com failed: waiting for widgets in test.example.com/v1";
    process.wait_for(process.health, "/readyz", "HTTP/1.1 503", waiting)?;
    cluster.install(crate::widget::crds()).await?;
    process.wait_for(
        process.health,
        "/readyz/widgets.test.example.com",
        "HTTP/1.1 200",
        "ok",
    )?;
    apply(&client, "plain").await?;
    let line =
        r#"controller_runtime_reconcile_total{controller="widgets",result="requeue_after"} 1"#;
    process.wait_for(process.metrics, "/metrics", "HTTP/1.1 200", line)?;
    process.signal("TERM")?;
    let (took, status, log) = process.end()?;
    ensure!(status.success(), "{status}: {log}");
    ensure!(took < Duration::from_secs(1), "an idle stop took {took:?}");
    for line in log.lines().filter(|line| line.starts_with('{')) {
        serde_json::from_str::<serde_json::Value>(line)?;
    }
    ensure!(
        log.contains("waiting for widgets in test.example.com/v1"),
        "{log}"
    );

    // A running reconcile may finish.
    let process = Process::start(&kubeconfig)?;
    let line = r#"active_workers{controller="widgets"} 1"#;
    apply(&client, "slow").await?;
    process.wait_for(process.metrics, "/metrics", "HTTP/1.1 200", line)?;
    process.signal("INT")?;
    let (_, status, log) = process.end()?;
    ensure!(
        status.success() && log.contains("ended slow"),
        "{status}: {log}"
    );

    // The second signal ends a reconcile that does not finish.
    api_delete(&client, "slow").await?;
    apply(&client, "stuck").await?;
    let process = Process::start(&kubeconfig)?;
    process.wait_for(process.metrics, "/metrics", "HTTP/1.1 200", line)?;
    process.signal("TERM")?;
    sleep(Duration::from_millis(300));
    process.signal("TERM")?;
    let (took, status, log) = process.end()?;
    ensure!(status.code() == Some(1), "{status}: {log}");
    ensure!(
        took < Duration::from_secs(1),
        "a second signal took {took:?}"
    );
    Ok(())
}

async fn api_delete(client: &Client, name: &str) -> Result<()> {
    let api: Api<Widget> = Api::namespaced(client.clone(), NAMESPACE);
    api.delete(name, &Default::default()).await?;
    Ok(())
}
