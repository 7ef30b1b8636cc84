//! `make demo`: from an empty directory to an operator that runs against a real kube-apiserver.
//!
//! Every step is a command that a user would type; this program shows them and cleans up.

use std::env;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use control_plane::{ControlPlane, Options};
use indicatif::{ProgressBar, ProgressStyle};
use tempfile::TempDir;

#[allow(dead_code, reason = "the demo needs only a part of what tests need")]
#[path = "../templates/project/crates/manager/src/envtest/control_plane/mod.rs"]
mod control_plane;

/// Lines of a failed command's output that are shown.
const TAIL: usize = 30;

const INIT: &str = "init memcached-operator --domain example.com";
const CREATE_API: &str = "create api --group cache --version v1alpha1 --kind Memcached";
const SAMPLE: &str = "config/samples/cache_v1alpha1_memcached.yaml";

fn main() -> ExitCode {
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<()> {
    let started = Instant::now();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut workspace = Workspace::new()?;
    let project = workspace.path().join("memcached-operator");

    let mut cargo = Command::new(env!("CARGO"));
    cargo.arg("build").current_dir(repository);
    run("Building", "operator-forge: cargo build", &mut cargo)?;

    let tool = |line: &str, directory: &Path| -> Result<String> {
        let mut tool = Command::new(tool()?);
        tool.args(line.split(' ')).current_dir(directory);
        run("Scaffolding", &format!("operator-forge {line}"), &mut tool)
    };
    tool(INIT, workspace.path())?;
    tool(CREATE_API, &project)?;

    let script = "tests/control-plane/build.sh";
    let title = format!("{script} (minutes, the first time)");
    let mut build = Command::new(repository.join(script));
    let binaries = run("Building", &title, &mut build)?;
    let binaries = PathBuf::from(binaries.trim());

    let step = Step::new("Starting", "etcd and kube-apiserver");
    let options = Options {
        binaries: Some(binaries.clone()),
        ..Options::default()
    };
    let cluster = ControlPlane::start_with(&options)?;
    step.done();

    let target = target_directory()?;
    let in_project = |program: &Path| {
        let mut command = Command::new(program);
        command
            .current_dir(&project)
            .env("KUBECONFIG", cluster.kubeconfig());
        command.env("CARGO_TARGET_DIR", &target);
        command
    };
    let make = |verb: &'static str, goal: &str| {
        let mut make = in_project("make".as_ref());
        make.arg(goal)
            .arg(format!("KUBECTL={}", binaries.join("kubectl").display()));
        run(verb, &format!("make {goal}"), &mut make)
    };
    let kubectl = |verb: &'static str, line: &str| {
        let mut kubectl = cluster.kubectl();
        kubectl.args(line.split(' ')).current_dir(&project);
        run(verb, &format!("kubectl {line}"), &mut kubectl)
    };
    make("Generating", "manifests")?;
    make("Installing", "install")?;

    let mut cargo = in_project(env!("CARGO").as_ref());
    cargo.arg("build");
    run("Building", "memcached-operator: cargo build", &mut cargo)?;
    let step = Step::new("Running", "memcached-operator");
    let mut operator = in_project(&target.join("debug/memcached-operator"));
    workspace.run_operator(operator.arg("--health-probe-bind-address=0"))?;
    step.done();

    kubectl("Applying", &format!("apply --server-side -f {SAMPLE}"))?;
    kubectl(
        "Waiting",
        &format!("wait --for=condition=Ready --timeout=60s -f {SAMPLE}"),
    )
    .with_context(|| format!("the operator's log ends with\n{}\n", workspace.log_tail()))?;
    let table = kubectl("Showing", "get memcacheds")?;
    println!("{table}");
    drop(workspace);
    drop(cluster);
    let seconds = started.elapsed().as_secs();
    eprintln!("    Finished in {seconds} s; everything is stopped and removed");
    Ok(())
}

/// The binary that `cargo build` has just made, beside `examples/` with this program.
fn tool() -> Result<PathBuf> {
    let demo = env::current_exe()?;
    let profile = demo
        .ancestors()
        .nth(2)
        .context("this program is in no target directory")?;
    Ok(profile.join("operator-forge"))
}

/// Shared by every project that this repository builds, because a cold build takes minutes.
fn target_directory() -> Result<PathBuf> {
    let cache = match env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        Some(cache) => PathBuf::from(cache),
        None => env::home_dir().context("HOME is not set")?.join(".cache"),
    };
    Ok(cache.join("operator-forge/target"))
}

/// Runs one step to its end and returns what it printed; on failure the error holds the end of
/// its output.
fn run(verb: &'static str, title: &str, command: &mut Command) -> Result<String> {
    let step = Step::new(verb, title);
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        step.failed();
        let stderr = String::from_utf8_lossy(&output.stderr);
        eprintln!("{}", tail(&format!("{stdout}{stderr}")));
        bail!("`{title}` failed ({})", output.status);
    }
    step.done();
    Ok(stdout)
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

/// One line of progress: a spinner on a terminal, plain text elsewhere.
struct Step {
    bar: ProgressBar,
    started: Instant,
}

impl Step {
    fn new(verb: &'static str, title: &str) -> Self {
        let bar = ProgressBar::new_spinner()
            .with_prefix(verb)
            .with_message(title.to_owned());
        bar.set_style(Self::style(
            "{prefix:>12.cyan.bold} {msg} {spinner} {elapsed}",
        ));
        bar.enable_steady_tick(Duration::from_millis(100));
        if !std::io::stderr().is_terminal() {
            eprintln!("{verb:>12} {title}");
        }
        Self {
            bar,
            started: Instant::now(),
        }
    }

    fn done(self) {
        self.bar
            .set_style(Self::style("{prefix:>12.green.bold} {msg} {elapsed:.dim}"));
        self.bar.finish();
        if !std::io::stderr().is_terminal() {
            eprintln!("{:>12} {:.1} s", "", self.started.elapsed().as_secs_f64());
        }
    }

    fn failed(self) {
        self.bar
            .set_style(Self::style("{prefix:>12.red.bold} {msg} {elapsed:.dim}"));
        self.bar.abandon();
    }

    fn style(template: &str) -> ProgressStyle {
        ProgressStyle::with_template(template).expect("the template is ours")
    }
}

/// Stops the operator and removes the directory when its standard input closes, as it does when
/// this program is interrupted.
const JANITOR: &str = r#"
while read -r pid; do operator=$pid; done
[ -z "$operator" ] || kill "$operator"
rm -rf "$1"
"#;

/// A temporary directory for the project, and the operator that runs from it.
struct Workspace {
    directory: TempDir,
    janitor: Child,
    operator: Option<Child>,
}

impl Workspace {
    fn new() -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("operator-forge-demo-")
            .tempdir()?;
        let janitor = Command::new("sh")
            .args(["-c", JANITOR, "sh"])
            .arg(directory.path())
            .stdin(Stdio::piped())
            // Ctrl-C must not reach the one who cleans up after it.
            .process_group(0)
            .spawn()
            .context("cannot run sh")?;
        Ok(Self {
            directory,
            janitor,
            operator: None,
        })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn run_operator(&mut self, command: &mut Command) -> Result<()> {
        let log = File::create(self.path().join("operator.log"))?;
        let operator = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn();
        let operator = operator.with_context(|| format!("cannot run {command:?}"))?;
        let janitor = self
            .janitor
            .stdin
            .as_mut()
            .context("the janitor listens until we drop")?;
        writeln!(janitor, "{}", operator.id())?;
        self.operator = Some(operator);
        Ok(())
    }

    fn log_tail(&self) -> String {
        tail(&fs::read_to_string(self.path().join("operator.log")).unwrap_or_default())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        drop(self.janitor.stdin.take());
        // Errors mean that they are gone already.
        _ = self.janitor.wait();
        _ = self.operator.as_mut().map(Child::wait);
    }
}
