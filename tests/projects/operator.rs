//! A generated operator as a process of its own, against a real API server, as the ServiceAccount that `make deploy`
//! makes and with nothing but the permissions that `make manifests` wrote.

use crate::project;
use crate::session;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use operator_runtime::envtest::ControlPlane;
use project::{cache, cargo, control_plane, place, place_of_projects, succeed};
use session::{shell, tree};
use tempfile::TempDir;

const NAMESPACE: &str = "watched-operator-system";
const OBJECTS: usize = 100;

/// A process that is killed if the test ends before it does.
struct Operator {
    child: Child,
    log: PathBuf,
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Operator {
    fn start(binary: &Path, kubeconfig: &Path, directory: &Path) -> Self {
        let log = directory.join("operator.log");
        let child = Command::new(binary)
            .args([
                "--health-probe-bind-address=127.0.0.1:0",
                "--log-format=json",
                "--leader-elect",
                &format!("--leader-elect-resource-namespace={NAMESPACE}"),
            ])
            .env("KUBECONFIG", kubeconfig)
            .env("RUST_BACKTRACE", "0")
            .env_remove("WATCH_NAMESPACE")
            .stdin(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self { child, log }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

/// Builds a project whose reconcile panics for objects called `panics`, as a user's code might.
/// No other test has a project of this name: Cargo would take its artifacts for this one's.
fn build(directory: &Path) -> PathBuf {
    let scratch = TempDir::new().unwrap();
    for command in [
        "operator-forge init -q watched-operator --domain example.com --vcs none",
        "operator-forge -C watched-operator create api -q --group cache --version v1alpha1 --kind Memcached",
    ] {
        assert_eq!(shell(scratch.path(), command).code, 0, "{command}");
    }
    let mut files = tree(&scratch.path().join("watched-operator"));
    let controller = files.get_mut("src/controllers/cache/memcached.rs").unwrap();
    let text = String::from_utf8(controller.clone()).unwrap();
    let anchor = "    let wanted = wanted_status(";
    assert!(
        text.contains(anchor),
        "the template's reconcile has changed: {text}"
    );
    let panic = "    assert!(!kube::ResourceExt::name_any(&*memcached).starts_with(\"panics\"), \"a user's bug\");\n";
    *controller = text
        .replacen(anchor, &format!("{panic}{anchor}"), 1)
        .into_bytes();
    place(&files, directory);
    succeed(
        "make manifests",
        &mut cargo(directory, "run --locked --quiet --bin manifests"),
    );
    succeed(
        "build",
        &mut cargo(directory, "build --locked --bin watched-operator"),
    );
    cache().join("target/debug/watched-operator")
}

struct Cluster<'a> {
    control_plane: &'a ControlPlane,
    directory: &'a Path,
}

impl Cluster<'_> {
    #[track_caller]
    fn kubectl(&self, arguments: &str) -> String {
        let mut kubectl = self.control_plane.kubectl();
        kubectl
            .args(arguments.split(' '))
            .current_dir(self.directory);
        succeed(&format!("kubectl {arguments}"), &mut kubectl)
    }

    #[track_caller]
    fn apply(&self, text: &str) {
        let file = self.directory.join("input.yaml");
        fs::write(&file, text).unwrap();
        self.kubectl(&format!(
            "apply --server-side --validate=strict --force-conflicts -f {}",
            file.display()
        ));
    }

    /// How many Memcacheds are reconciled: the condition of a new controller is `Unknown`.
    fn reconciled(&self) -> usize {
        let path = "jsonpath={range .items[*]}{.status.conditions[?(@.type==\"Ready\")].status}{\"\\n\"}{end}";
        let mut kubectl = self.control_plane.kubectl();
        kubectl.args(["get", "memcacheds", "--all-namespaces", "-o", path]);
        let output = kubectl.output().unwrap();
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| *line == "Unknown")
            .count()
    }
}

#[track_caller]
fn eventually(what: &str, operator: &Operator, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(90),
            "never: {what}\n{}",
            operator.log()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    eprintln!("{what}: {:.1} s", start.elapsed().as_secs_f32());
}

fn memcached(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {{name: {name}, namespace: default}}\nspec: {spec}\n---\n"
    )
}

#[test]
fn runs_as_its_own_service_account() {
    let control_plane = control_plane();
    let (directory, _lock) = place_of_projects();
    let binary = build(&directory);
    let scratch = TempDir::new().unwrap();
    let cluster = Cluster {
        control_plane: &control_plane,
        directory: &directory,
    };

    // What `make deploy` applies; there is no kubelet, so the Deployment's Pod never runs.
    fs::write(
        scratch.path().join("all.yaml"),
        cluster.kubectl("kustomize config/default"),
    )
    .unwrap();
    cluster.kubectl(&format!(
        "apply --server-side -f {}",
        scratch.path().join("all.yaml").display()
    ));
    cluster.kubectl("wait --for=condition=Established --timeout=30s -f config/crd/bases");

    // A field that changed its type: what is stored no longer decodes. The CRD has to let it in first.
    let crd = "crd memcacheds.cache.example.com";
    let anything = r#"[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec","value":{"x-kubernetes-preserve-unknown-fields":true}}]"#;
    cluster.kubectl(&format!("patch {crd} --type=json -p {anything}"));
    std::thread::sleep(Duration::from_secs(2));
    cluster.apply(&(memcached("does-not-decode", "text") + &memcached("panics", "{}")));
    cluster.apply(
        &(0..OBJECTS)
            .map(|at| memcached(&format!("object-{at}"), "{}"))
            .collect::<String>(),
    );

    let account = "watched-operator-controller-manager";
    let token = cluster.kubectl(&format!("create token {account} -n {NAMESPACE}"));
    let kubeconfig = control_plane.kubeconfig_for(account, token.trim()).unwrap();
    let mut operator = Operator::start(&binary, &kubeconfig, scratch.path());
    eventually(
        "100 objects are reconciled beside one that panics and one that does not decode",
        &operator,
        || cluster.reconciled() == OBJECTS,
    );
    eventually("both are told in the log", &operator, || {
        let log = operator.log();
        log.contains("does not decode") && log.contains("a user's bug")
    });
    assert!(
        !operator.log().contains("forbidden"),
        "a verb is missing\n{}",
        operator.log()
    );

    let path = "jsonpath={.status.conditions[?(@.type==\"Ready\")].reason}";
    let reason = cluster.kubectl(&format!("get memcached panics -n default -o {path}"));
    assert_eq!(reason, "Panic", "a failure shows in the condition");
    let events = "get events.events.k8s.io -n default --field-selector reason=Undecodable -o name";
    eventually("an event tells what does not decode", &operator, || {
        !cluster.kubectl(events).is_empty()
    });

    // What was broken is repaired, and the controller notices.
    cluster.apply(&memcached("does-not-decode", "{}"));
    eventually("the repaired object is reconciled", &operator, || {
        cluster.reconciled() == OBJECTS + 1
    });

    cluster.kubectl("delete memcached panics -n default --wait=true");
    let start = Instant::now();
    succeed(
        "kill",
        Command::new("kill").args(["-TERM", &operator.child.id().to_string()]),
    );
    let status = operator.child.wait().unwrap();
    eprintln!(
        "stopped after SIGTERM: {:.2} s",
        start.elapsed().as_secs_f32()
    );
    assert!(status.success(), "{status}\n{}", operator.log());
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "the drain has a bound"
    );
    let holder = "get leases -o jsonpath={.items[*].spec.holderIdentity} -n";
    assert_eq!(
        cluster.kubectl(&format!("{holder} {NAMESPACE}")),
        "",
        "the lease is released"
    );

    for (verb, resource, allowed) in [
        ("list", "memcacheds.cache.example.com", "yes"),
        ("delete", "memcacheds.cache.example.com", "no"),
        ("get", "secrets", "no"),
    ] {
        let mut kubectl = control_plane.kubectl();
        kubectl.args(["auth", "can-i", verb, resource, "-n", "default", "--as"]);
        kubectl.arg(format!("system:serviceaccount:{NAMESPACE}:{account}"));
        let output = kubectl.output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout).trim(),
            allowed,
            "{verb} {resource}"
        );
    }
}
