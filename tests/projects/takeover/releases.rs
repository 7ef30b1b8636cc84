//! A Go operator of operator-sdk, `tests/operator-sdk/caches`, whose place its port takes while its releases run, and which comes back:
//! what is in `PORTING.md` is done as it says, and no Pod changes.

use std::{
    env,
    fs::{self, File},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::cluster::Cluster;
use crate::{
    project::{cache, cargo, place, place_of_projects, succeed},
    session::{repository, shell, tree},
};

const NAMESPACE: &str = "cache-operators";
const DEPLOYMENT: &str = "caches-controller-manager";

/// What the manager of the Go operator has, and what its people set on its machine.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("WATCH_NAMESPACE", "shop"),
    ("RELATED_IMAGE_MEMCACHED", "registry.example.com/memcached"),
    ("EXPORTER_REGISTRY", "registry.example.com"),
    ("EXPORTER_TAG", "v1"),
];

/// The Go operator has never installed the last one: it would put the Secret of the release into the namespace of its object, and this
/// object has none.
const OBJECTS: &str = "\
apiVersion: cache.example.com/v1
kind: Memcached
metadata: { name: pool, namespace: shop, labels: { tier: cache } }
spec: { replicas: 2, exporter: { enabled: true } }
---
apiVersion: cache.example.com/v1
kind: Memcached
metadata: { name: ended, namespace: shop, labels: { tier: cache } }
spec: { replicas: 1 }
---
apiVersion: edge.example.org/v1alpha1
kind: Proxy
metadata: { name: front }
spec: { namespace: shop, upstream: http://pool.shop:11211 }
";

/// One of the two operators, as a process.
struct Operator {
    child: Child,
    directory: TempDir,
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Operator {
    fn start(mut program: Command, kubeconfig: &Path) -> Self {
        let directory = TempDir::new().unwrap();
        let child = program
            .envs(ENVIRONMENT)
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(directory.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        Self { child, directory }
    }

    /// Stops it as a kubelet does when its Pod is deleted.
    #[track_caller]
    fn stop(mut self) {
        let id = self.child.id().to_string();
        succeed("kill", Command::new("kill").args(["-TERM", &id]));
        self.child.wait().unwrap();
        assert!(!self.log().contains("forbidden"), "{}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap()
    }

    /// Waits until `look` gives `expected`.
    #[track_caller]
    fn eventually(&self, expected: &str, look: impl Fn() -> String) {
        let start = Instant::now();
        loop {
            let seen = look();
            if seen == expected {
                return;
            }
            assert!(
                start.elapsed() < Duration::from_secs(90),
                "`{seen}` is not `{expected}`\n{}",
                self.log()
            );
            sleep(Duration::from_millis(300));
        }
    }
}

/// What must not change: the Pods of the releases, and their other objects, by UID.
fn running(cluster: &Cluster) -> String {
    let columns = "custom-columns=KIND:.kind,NAME:.metadata.name,UID:.metadata.uid";
    let what = "pods,replicasets,deployments,services";
    cluster.kubectl(&format!("get {what} -n shop --no-headers -o {columns}"))
}

/// The commands that a line of `PORTING.md` has.
fn commands(list: &str, line: &str) -> Vec<String> {
    let start = format!("- [ ] {line}");
    let found = list.lines().find(|line| line.starts_with(&start));
    let found = found.unwrap_or_else(|| panic!("no `{start}`: {list}"));
    let code = found.split('`').skip(1).step_by(2);
    code.map(str::to_owned).collect()
}

#[test]
#[ignore = "builds operator-sdk's operator and a port: run `make takeover`"]
fn a_port_takes_the_place_of_a_helm_operator_and_gives_it_back() {
    let go = repository().join("tests/operator-sdk/caches");
    let helm_operator = env::var_os("HELM_OPERATOR").expect("HELM_OPERATOR names a program");
    let start_go = |cluster: &Cluster| {
        let mut program = Command::new(&helm_operator);
        program.args(["run", "--metrics-bind-address=0"]);
        program.args(["--health-probe-bind-address=0", "--leader-elect=false"]);
        program.current_dir(&go);
        Operator::start(program, &cluster.kubeconfig())
    };

    // The Go operator, and the objects of its users.
    let cluster = Cluster::start();
    let crds = go.join("config/crd/bases");
    cluster.kubectl(&format!("apply -f {}", crds.display()));
    cluster.kubectl("wait --for=condition=Established --timeout=30s crd --all");
    for namespace in [NAMESPACE, "shop"] {
        cluster.kubectl(&format!("create namespace {namespace}"));
    }
    cluster.kubectl(&format!(
        "create deployment {DEPLOYMENT} -n {NAMESPACE} --image=controller:latest"
    ));
    let operator = start_go(&cluster);
    cluster.apply(OBJECTS);
    let deployed = || {
        let path = "jsonpath={range.items[*]}{.status.conditions[?(@.type==\"Deployed\")].status}";
        cluster.kubectl(&format!("get memcacheds -n shop -o {path}"))
    };
    operator.eventually("TrueTrue", deployed);
    let pods = || {
        let look = "get pods -n shop -l cache=pool --no-headers -o custom-columns=U:.metadata.uid";
        cluster.kubectl(look)
    };
    let count = || pods().lines().count().to_string();
    operator.eventually("2", count);
    let ended_pods =
        "get pods -n shop -l cache=ended --no-headers -o custom-columns=U:.metadata.uid";
    operator.eventually("1", || {
        cluster.kubectl(ended_pods).lines().count().to_string()
    });
    let before = running(&cluster);

    // The port, built, and the switch, as the list says.
    let (directory, _lock) = place_of_projects();
    let made = TempDir::new().unwrap();
    let init = format!(
        "operator-forge init caches --from-operator-sdk {} --vcs none",
        go.display()
    );
    let step = shell(made.path(), &init);
    assert_eq!(step.code, 3, "something is left: {}", step.output);
    place(&tree(&made.path().join("caches")), &directory);
    for (what, arguments) in [
        ("manifests", "run --quiet --bin manifests"),
        ("build", "build --bin caches"),
    ] {
        succeed(what, &mut cargo(&directory, arguments));
    }
    let list = fs::read_to_string(directory.join("PORTING.md")).unwrap();
    operator.stop();
    cluster.run(&commands(&list, "stop the former operator")[0]);
    let deploy = commands(&list, "`make deploy IMG=…`")[0].replace('…', "caches:port");
    succeed(&deploy, cluster.shell(&deploy).current_dir(&directory));
    let account = cluster.kubectl(&format!("create token {DEPLOYMENT} -n {NAMESPACE}"));
    let kubeconfig = cluster.kubeconfig_for("port", account.trim());
    let mut program = Command::new(cache().join("target/debug/caches"));
    program.args(["--leader-elect", "--metrics-bind-address=0"]);
    program.arg("--health-probe-bind-address=127.0.0.1:0");
    program.arg(format!("--leader-elect-resource-namespace={NAMESPACE}"));
    let operator = Operator::start(program, &kubeconfig);
    let revisions = || {
        let path = "jsonpath={range.items[*]}{.status.revision}{.status.conditions[?(@.type==\"Released\")].status}";
        let wait = commands(&list, "wait until every object has a revision");
        let of = |command: &String| {
            let command = format!("{command} -o '{path}'");
            succeed(&command, &mut cluster.shell(&command))
        };
        wait.iter().map(of).collect::<String>()
    };
    operator.eventually("1True2True2True", revisions);
    assert_eq!(running(&cluster), before, "{}", operator.log());

    // What users do now is done by the port.
    let old = pods();
    cluster.kubectl("patch memcached pool -n shop --type=merge -p {\"spec\":{\"replicas\":3}}");
    operator.eventually("3", count);
    let new = pods();
    assert!(old.lines().all(|uid| new.contains(uid)), "{old} {new}");
    cluster.kubectl("delete memcached ended -n shop --wait=true --timeout=60s");
    operator.eventually("", || cluster.kubectl(ended_pods));
    let secrets = "get secrets -n shop -l owner=helm,name=ended -o name";
    operator.eventually("", || cluster.kubectl(secrets));

    cluster.kubectl("delete proxyset front --wait=true --timeout=60s");
    let config = "get configmaps -n shop -o name --field-selector metadata.name=front-proxy";
    operator.eventually("", || cluster.kubectl(config));

    // And back.
    let before = running(&cluster);
    let back = commands(&list, "to go back");
    cluster.run(&back[0]);
    operator.stop();
    cluster.kubectl(&format!("apply -f {}", crds.display()));
    let mut patches = back.iter().filter(|it| it.contains("memcacheds"));
    let patch = patches.next().unwrap().replace("NAMESPACE", "shop");
    cluster.run(&patch.replace("NAME", "pool"));
    assert_eq!(running(&cluster), before);
    let old = pods();
    let operator = start_go(&cluster);
    cluster.kubectl("patch memcached pool -n shop --type=merge -p {\"spec\":{\"replicas\":4}}");
    operator.eventually("4", count);
    let new = pods();
    assert!(old.lines().all(|uid| new.contains(uid)), "{old} {new}");
    cluster.kubectl("delete memcached pool -n shop --wait=true --timeout=60s");
    operator.eventually("", pods);
    operator.stop();
}
