//! The two operators: how each is built, deployed and run, and what `PORTING.md` says about the switch.

use std::{
    cell::OnceCell,
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    audit::{LEASE, Who},
    cluster::{Cluster, NAMESPACE, PREFIX},
    objects::FINALIZER,
};
use crate::{
    project::{cache, cargo, place, succeed},
    session::{repository, shell, tree},
};

/// The command that prints what a project deploys.
const MANIFESTS: &str = "kubectl kustomize config/default";

/// An operator, built.
pub struct Operator {
    pub who: Who,
    /// The project.
    directory: PathBuf,
    binary: PathBuf,
    /// The flag for the namespace of the Lease, which a Pod would know.
    namespace: &'static str,
    /// The arguments of its Deployment, as it was deployed last.
    pub arguments: Vec<String>,
    kubeconfig: OnceCell<PathBuf>,
}

impl Operator {
    fn new(who: Who, directory: PathBuf, binary: PathBuf, namespace: &'static str) -> Self {
        Self {
            who,
            directory,
            binary,
            namespace,
            arguments: Vec::new(),
            kubeconfig: OnceCell::new(),
        }
    }

    pub fn in_go() -> Self {
        let directory = repository().join("tests/takeover/go");
        let binary = cache().join("takeover/manager");
        let mut go = Command::new("go");
        go.args(["build", "-trimpath", "-o"])
            .arg(&binary)
            .arg("./cmd")
            .current_dir(&directory)
            .env("CGO_ENABLED", "0");
        succeed("go build", &mut go);
        Self::new(Who::Go, directory, binary, "--leader-election-namespace")
    }

    /// Ports the operator in Go by the command, puts the code that is left to a person into the port, and builds it.
    pub fn ported(go: &Self, directory: &Path) -> Self {
        let made = TempDir::new().unwrap();
        let go = go.directory.display();
        let step = shell(
            made.path(),
            &format!("operator-forge init rota --from-kubebuilder {go} --vcs none"),
        );
        assert_eq!(step.code, 3, "the code is left to port: {}", step.output);
        let project = made.path().join("rota");
        let mut files = tree(&project);
        for (path, text) in tree(&repository().join("tests/takeover/port")) {
            let replaced = files.insert(path.clone(), text);
            assert!(replaced.is_some(), "the port has no `{path}`");
        }
        place(&files, directory);
        succeed(
            "the port: manifests",
            &mut cargo(directory, "run --locked --quiet --bin manifests"),
        );
        succeed(
            "the port: clippy",
            &mut cargo(directory, "clippy --locked --all-targets -- -D warnings"),
        );
        succeed(
            "the port: build",
            &mut cargo(directory, "build --locked --bin rota-operator"),
        );
        let check = format!("operator-forge check --crds {go}/config/crd/bases");
        let step = shell(directory, &check);
        assert_eq!(step.code, 0, "{check}: {}", step.output);
        let binary = cache().join("target/debug/rota-operator");
        let namespace = "--leader-elect-resource-namespace";
        Self::new(Who::Port, directory.to_owned(), binary, namespace)
    }

    /// Deploys it by the command that `PORTING.md` has for it, in the directory of its project. No Pod runs: the operator is a
    /// process of this test.
    #[track_caller]
    pub fn deploy(&mut self, cluster: &Cluster, command: &str) {
        let command = command.replace('…', &format!("rota-operator:{}", self.who));
        let mut shell = cluster.shell(&command);
        shell.current_dir(&self.directory);
        succeed(&format!("{}: {command}", self.who), &mut shell);
        cluster
            .kubectl("wait --for=condition=Established --timeout=30s crd/rotas.oncall.example.com");
        self.arguments = self.deployed(cluster);
    }

    /// The arguments of its container in the cluster, but for ports, of which two processes on one machine cannot have the same.
    fn deployed(&self, cluster: &Cluster) -> Vec<String> {
        let deployment = cluster.kubectl(&format!(
            "get deployment {PREFIX}controller-manager -n {NAMESPACE} -o json"
        ));
        let deployment: Value = serde_json::from_str(&deployment).unwrap();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let image = container["image"].as_str().unwrap();
        assert_eq!(image, format!("rota-operator:{}", self.who));
        let arguments = container["args"].as_array().unwrap().iter();
        let arguments = arguments.map(|it| it.as_str().unwrap().to_owned());
        let own = [
            "--health-probe-bind-address=127.0.0.1:0".to_owned(),
            "--metrics-bind-address=0".to_owned(),
            format!("{}={NAMESPACE}", self.namespace),
        ];
        arguments
            .filter(|it| !it.contains("-bind-address"))
            .chain(own)
            .collect()
    }

    /// What it deploys: `service/oncall-metrics`.
    pub fn objects(&self, cluster: &Cluster) -> BTreeSet<String> {
        let command = format!("{MANIFESTS} | kubectl create --dry-run=client -o name -f -");
        let mut shell = cluster.shell(&command);
        let names = succeed(&command, shell.current_dir(&self.directory));
        names.lines().map(str::to_owned).collect()
    }
}

/// An operator that runs; it is killed if the test ends before it does.
pub struct Running {
    pub who: Who,
    child: Child,
    directory: TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    pub fn start(operator: &Operator, cluster: &Cluster) -> Self {
        let directory = TempDir::new().unwrap();
        let log_in = || cluster.log_in(operator.who);
        let kubeconfig = operator.kubeconfig.get_or_init(log_in);
        let child = Command::new(&operator.binary)
            .args(&operator.arguments)
            .env("KUBECONFIG", kubeconfig)
            .env_remove("WATCH_NAMESPACE")
            .stdin(Stdio::null())
            .stderr(File::create(directory.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        Self {
            who: operator.who,
            child,
            directory,
        }
    }

    /// Stops it as a kubelet does when its Pod is deleted.
    #[track_caller]
    pub fn stop(mut self) {
        let id = self.child.id().to_string();
        succeed("kill", Command::new("kill").args(["-TERM", &id]));
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{}: {status}\n{}", self.who, self.log());
        assert!(!self.log().contains("forbidden"), "{}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap()
    }

    #[track_caller]
    pub fn eventually(&self, what: &str, mut holds: impl FnMut() -> bool) {
        self.eventually_none(|| (!holds()).then(|| format!("not: {what}")));
    }

    /// Waits until nothing is wrong any more.
    #[track_caller]
    pub fn eventually_none(&self, wrong: impl FnMut() -> Option<String>) {
        let start = Instant::now();
        let mut wrong = wrong;
        while let Some(what) = wrong() {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{}: {what}\n{}",
                self.who,
                self.log()
            );
            sleep(Duration::from_millis(300));
        }
    }
}

/// The commands of the switch, from `PORTING.md`.
pub struct Switch {
    pub stop: String,
    pub start: String,
    pub stop_again: String,
    pub start_again: String,
}

impl Switch {
    /// Reads the list of the port. What it says about the names has to be true.
    pub fn read(directory: &Path) -> Self {
        let list = fs::read_to_string(directory.join("PORTING.md")).unwrap();
        let (_, section) = list.split_once("\n## The switch\n").unwrap();
        let section = section.split("\n## ").next().unwrap();
        let step = |start: &str| -> Vec<String> {
            let start = format!("- [ ] {start}");
            let mut lines = section.lines().filter(|line| line.starts_with(&start));
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("no `{start}`: {section}"));
            let code = line.split('`').skip(1).step_by(2);
            code.map(str::to_owned).collect()
        };
        assert_eq!(step("compare the names"), [NAMESPACE, PREFIX, LEASE]);
        assert_eq!(step("objects have the finalizer")[0], FINALIZER);
        assert_eq!(
            step("look for objects that only the Go operator has"),
            [MANIFESTS]
        );
        let [stop, start] = ["stop the Go", "start this"].map(|start| step(start).swap_remove(0));
        let [stop_again, start_again] = step("to go back").try_into().unwrap();
        Self {
            stop,
            start,
            stop_again,
            start_again,
        }
    }
}
