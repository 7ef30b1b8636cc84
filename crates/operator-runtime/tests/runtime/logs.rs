//! The logs of a program that has its own.

use std::{
    env, fs,
    io::{BufRead, BufReader, stdout},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use operator_runtime::{Action, Controller, Flags, Manager, ManagerOptions, WatchScope};
use tempfile::TempDir;
use tracing::dispatcher;

use crate::widget::Widget;

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "logs.example.com",
    scope: WatchScope::Cluster,
};

/// No API server listens there, which the watch logs.
const KUBECONFIG: &str = "apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: 'http://127.0.0.1:1'}}]
contexts: [{name: none, context: {cluster: none}}]
current-context: none
";

async fn reconcile(_: Arc<Widget>, _: Arc<()>) -> kube::Result<Action> {
    Ok(Action::await_change())
}

/// The subscriber of the program, with a mark at the start of each line.
fn install() {
    let time = Mark;
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_timer(time)
        .with_writer(stdout)
        .init();
}

struct Mark;

impl tracing_subscriber::fmt::time::FormatTime for Mark {
    fn format_time(&self, w: &mut tracing_subscriber::fmt::format::Writer<'_>) -> std::fmt::Result {
        w.write_str("of the program:")
    }
}

/// The program, which the tests run: this binary again, with a variable that says which.
#[test]
fn program() {
    let (Ok(kind), Ok(kubeconfig)) = (env::var("TEST_LOGS"), env::var("TEST_KUBECONFIG")) else {
        return;
    };
    let flags = ["--health-probe-bind-address=0", "--metrics-bind-address=0"];
    let kubeconfig = format!("--kubeconfig={kubeconfig}");
    let words = ["operator"].into_iter().chain(flags).chain([&*kubeconfig]);
    let flags = Flags::parse_from(words);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let manager = match kind.as_str() {
            "before" => {
                install();
                Manager::new(&OPTIONS, flags).await.unwrap()
            }
            "after" => {
                let manager = Manager::without_logs(&OPTIONS, flags).await.unwrap();
                assert!(!dispatcher::has_been_set(), "a subscriber is installed");
                install();
                manager
            }
            _ => Manager::new(&OPTIONS, flags).await.unwrap(),
        };
        assert!(dispatcher::has_been_set());
        let controller = Controller::new("widgets", reconcile);
        manager.controllers(controller, ()).run().await.unwrap();
    });
}

/// Ends the program when dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Runs the program until a stream has a line of the runtime about the API server.
fn line_of(kind: &str, of_stdout: bool) -> Result<String> {
    let directory = TempDir::new()?;
    let kubeconfig = directory.path().join("kubeconfig");
    fs::write(&kubeconfig, KUBECONFIG)?;
    let mut command = Command::new(env::current_exe()?);
    command
        .args(["--exact", "logs::program", "--nocapture"])
        .env("TEST_LOGS", kind)
        .env("TEST_KUBECONFIG", &kubeconfig)
        .env_remove("RUST_LOG");
    let child = match of_stdout {
        true => command.stdout(Stdio::piped()).stderr(Stdio::null()),
        false => command.stdout(Stdio::null()).stderr(Stdio::piped()),
    };
    let mut program = Program(child.spawn()?);
    let stream: Box<dyn std::io::Read> = match of_stdout {
        true => Box::new(program.0.stdout.take().context("no stdout")?),
        false => Box::new(program.0.stderr.take().context("no stderr")?),
    };
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("operator_runtime") && line.contains("widgets"));
    line.context("the program ended without a line of the runtime")
}

#[test]
fn the_lines_go_to_the_programs_subscriber() -> Result<()> {
    for kind in ["before", "after"] {
        let line = line_of(kind, true)?;
        ensure!(line.starts_with("of the program:"), "{kind}: {line}");
    }
    Ok(())
}

#[test]
fn without_a_subscriber_the_lines_are_the_runtimes() -> Result<()> {
    let line = line_of("none", false)?;
    serde_json::from_str::<serde_json::Value>(&line)?;
    Ok(())
}
