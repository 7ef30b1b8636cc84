//! `make demo`: from an empty directory to an operator that runs against a real kube-apiserver.
//!
//! Every step is a command that a user would type. This program runs and shows them, and cleans up.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::Instant,
};

use anyhow::{Context, Result};
use control_plane::{ControlPlane, Options};
use janitor::Janitor;
use steps::{Steps, tail};
use tempfile::TempDir;

#[allow(dead_code, reason = "the demo needs only a part of what tests need")]
#[path = "../../../crates/operator-runtime/src/envtest/control_plane/mod.rs"]
mod control_plane;
mod janitor;
mod steps;

const INIT: &str = "init memcached-operator --domain example.com";
const CREATE_API: &str = "create api --group cache --version v1alpha1 --kind Memcached";
const SAMPLE: &str = "config/samples/cache_v1alpha1_memcached.yaml";

fn main() -> ExitCode {
    let started = Instant::now();
    match demo() {
        Ok(table) => {
            println!("{table}");
            let seconds = started.elapsed().as_secs();
            eprintln!("    Finished in {seconds} s; everything is stopped and removed");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The final output of `kubectl get`.
fn demo() -> Result<String> {
    let directory = tempfile::Builder::new()
        .prefix("operator-forge-demo-")
        .tempdir()?;
    let janitor = Arc::new(Janitor::of(directory.path())?);
    let demo = Demo {
        steps: Steps::new(janitor.clone()),
        project: directory.path().join("memcached-operator"),
        target: target_directory()?,
    };
    let table = demo.run(&directory);
    janitor.clean_up();
    table
}

/// The directories of the demo, and its steps.
#[derive(Clone)]
struct Demo {
    steps: Steps,
    project: PathBuf,
    target: PathBuf,
}

/// The prerequisites of the operator. They take minutes the first time, and are built in parallel.
enum Made {
    Binaries(PathBuf),
    Project,
}

impl Demo {
    fn run(&self, directory: &TempDir) -> Result<String> {
        let (made, both) = mpsc::channel();
        let (sender, demo) = (made.clone(), self.clone());
        thread::spawn(move || sender.send(demo.control_plane().map(Made::Binaries)));
        let demo = self.clone();
        thread::spawn(move || made.send(demo.project().map(|()| Made::Project)));
        let mut binaries = PathBuf::new();
        for one in both {
            // If one fails, do not wait for the other: the janitor ends it.
            if let Made::Binaries(found) = one? {
                binaries = found;
            }
        }

        let step = self.steps.start("Starting", "etcd and kube-apiserver");
        let cluster = ControlPlane::start_with(&Options {
            binaries: Some(binaries.clone()),
            ..Options::default()
        })?;
        step.done();
        let make = |verb, goal: &str| {
            let mut make = self.in_project("make".as_ref());
            make.arg(goal)
                .arg(format!("KUBECTL={}", binaries.join("kubectl").display()))
                .env("KUBECONFIG", cluster.kubeconfig());
            self.steps.run(verb, &format!("make {goal}"), &mut make)
        };
        let kubectl = |verb, line: &str| {
            let mut kubectl = cluster.kubectl();
            kubectl.args(line.split(' ')).current_dir(&self.project);
            self.steps
                .run(verb, &format!("kubectl {line}"), &mut kubectl)
        };
        make("Generating", "manifests")?;
        make("Installing", "install")?;

        let step = self.steps.start("Running", "memcached-operator");
        let log = directory.path().join("operator.log");
        let mut operator = self.in_project(&self.target.join("debug/memcached-operator"));
        operator
            .arg("--health-probe-bind-address=0")
            .env("KUBECONFIG", cluster.kubeconfig())
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        self.steps.janitor.spawn(&mut operator)?;
        step.done();

        kubectl("Applying", &format!("apply --server-side -f {SAMPLE}"))?;
        // A new controller reports that it does nothing yet.
        let wait = format!("wait --for=condition=Ready=Unknown --timeout=60s -f {SAMPLE}");
        kubectl("Waiting", &wait).with_context(|| {
            let log = fs::read_to_string(&log).unwrap_or_default();
            format!("the operator's log ends with\n{}\n", tail(&log))
        })?;
        kubectl("Showing", "get memcacheds")
    }

    /// The directory with etcd, kube-apiserver and kubectl.
    fn control_plane(&self) -> Result<PathBuf> {
        let script = "tests/control-plane/build.sh";
        let mut build = Command::new(repository().join(script));
        build.arg("demo");
        let title = format!("etcd, kube-apiserver and kubectl: {script} demo");
        let printed = self.steps.run_verbose("Preparing", &title, &mut build)?;
        Ok(PathBuf::from(printed.trim()))
    }

    /// Builds the tool, scaffolds the project and builds its operator.
    fn project(&self) -> Result<()> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .arg("build")
            .current_dir(repository())
            .env("CARGO_TARGET_DIR", &self.target);
        self.steps
            .run("Building", "operator-forge: cargo build", &mut cargo)?;
        let above = self.project.parent().context("the project has a parent")?;
        for (line, directory) in [(INIT, above), (CREATE_API, &self.project)] {
            let mut tool = Command::new(self.target.join("debug/operator-forge"));
            tool.args(line.split(' ')).current_dir(directory);
            self.steps
                .run("Scaffolding", &format!("operator-forge {line}"), &mut tool)?;
        }
        // With `make manifests`, which runs another binary of the same build.
        let mut cargo = self.in_project(env!("CARGO").as_ref());
        cargo.arg("build");
        self.steps
            .run("Building", "memcached-operator: cargo build", &mut cargo)?;
        Ok(())
    }

    /// Builds the project in the tool's target directory, so that shared dependencies are compiled once.
    fn in_project(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.project)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The target directory, which contains this program as `debug/demo`.
fn target_directory() -> Result<PathBuf> {
    let demo = env::current_exe()?;
    let target = demo.ancestors().nth(2);
    Ok(target
        .context("this program is in no target directory")?
        .to_owned())
}
