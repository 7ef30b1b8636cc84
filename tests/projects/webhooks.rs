//! A generated operator with webhooks, from the YAML that `make deploy` applies to objects that it defaulted, refused and
//! converted: on a cluster without cert-manager, as the ServiceAccount of its Pod, with the environment of its Deployment
//! and with no other command.

use crate::project;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use operator_runtime::envtest::{ControlPlane, free_port};
use project::{Tree, cache, cargo, control_plane, place, place_of_projects, succeed};
use serde::Deserialize as _;
use serde_json::Value;
use tempfile::TempDir;

const NAMESPACE: &str = "asked-operator-system";
const ACCOUNT: &str = "asked-operator-controller-manager";

/// What a user writes into the files that the commands made: file, text of the template, text of the user.
const WRITTEN: [(&str, &str, &str); 11] = [
    (
        "src/api/cache/v1alpha1/memcached.rs",
        "pub struct MemcachedSpec {}",
        "pub struct MemcachedSpec {\n    pub size: Option<u32>,\n    pub image: Option<String>,\n}",
    ),
    (
        "src/api/cache/v1/memcached.rs",
        "pub struct MemcachedSpec {}",
        "pub struct MemcachedSpec {\n    pub replicas: Option<u32>,\n    pub image: Option<String>,\n    pub priority: Option<String>,\n}",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/convert.rs",
        "let v1alpha1::MemcachedSpec {} = spoke.spec",
        "let v1alpha1::MemcachedSpec { size, image } = spoke.spec",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/convert.rs",
        "v1::MemcachedSpec {},\n            status: spoke",
        "v1::MemcachedSpec { replicas: size, image, priority: None },\n            status: spoke",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/convert.rs",
        "let v1::MemcachedSpec {} = hub.spec",
        "let v1::MemcachedSpec { replicas, image, priority: _ } = hub.spec",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/convert.rs",
        "v1alpha1::MemcachedSpec {},\n            status: hub",
        "v1alpha1::MemcachedSpec { size: replicas, image },\n            status: hub",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/default.rs",
        "    Ok(())\n",
        "    _memcached.spec.size.get_or_insert(3);\n    Ok(())\n",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/validate.rs",
        "Webhook::validating(validate)",
        "use operator_runtime::webhook::Operation::{Create, Delete, Update};\n    Webhook::validating(validate).operations(&[Create, Update, Delete])",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/validate.rs",
        "    let mut errors =",
        "    if !_request.dry_run { _request.warn(\"size will be called replicas\"); }\n    let mut errors =",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/validate.rs",
        "Change::Delete(_) => {}",
        "Change::Delete(old) if old.spec.size > Some(9) => errors.forbidden(\"spec.size\", \"too large to lose\"),\n        Change::Delete(_) => {}",
    ),
    (
        "src/webhooks/cache/v1alpha1/memcached/validate.rs",
        "    // For example",
        "    if _memcached.spec.size == Some(0) { _errors.invalid(\"spec.size\", 0, \"must be positive\"); }\n    if _memcached.spec.image.is_none() { _errors.required(\"spec.image\", \"there is no default\"); }\n    // For example",
    ),
];

fn written() -> Tree {
    let of = "--group cache --kind Memcached --version";
    let commands = [
        "init -q asked-operator --domain example.com --vcs none".to_owned(),
        format!("-C asked-operator create api -q {of} v1alpha1"),
        format!("-C asked-operator create webhook -q {of} v1alpha1 --defaulting --validation"),
        format!("-C asked-operator create api -q {of} v1 --controller=false"),
        format!("-C asked-operator create webhook -q {of} v1 --conversion"),
    ];
    project::written("asked-operator", &commands, &WRITTEN)
}

/// No other test has a project of this name: Cargo would take its artifacts for this one's.
pub fn build(directory: &Path) -> PathBuf {
    place(&written(), directory);
    for command in ["run --quiet --bin manifests", "build --bin asked-operator"] {
        let command = command.replacen(' ', " --locked ", 1);
        succeed(&command, &mut cargo(directory, &command));
    }
    cache().join("target/debug/asked-operator")
}

struct Cluster<'a> {
    control_plane: &'a ControlPlane,
    directory: &'a Path,
}

impl Cluster<'_> {
    fn run(&self, arguments: &str, input: &str) -> Output {
        let file = self.directory.join("input.yaml");
        fs::write(&file, input).unwrap();
        let mut kubectl = self.control_plane.kubectl();
        kubectl
            .args(arguments.split(' '))
            .current_dir(self.directory);
        kubectl.stdin(File::open(&file).unwrap()).output().unwrap()
    }

    /// What kubectl prints, warnings included.
    #[track_caller]
    fn kubectl(&self, arguments: &str, input: &str) -> String {
        let output = self.run(arguments, input);
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {arguments}: {text}");
        eprintln!("$ kubectl {arguments}\n{text}");
        text.into_owned()
    }

    /// What kubectl prints when the API server refuses.
    #[track_caller]
    fn refused(&self, arguments: &str, input: &str) -> String {
        let output = self.run(arguments, input);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success(),
            "kubectl {arguments} was accepted: {text}"
        );
        eprintln!("$ kubectl {arguments}\n{text}");
        text
    }
}

/// `kubectl kustomize config/default`, for a machine that has no network of Pods: the Service leads to this machine, and the
/// operator listens on `port`.
fn manifests(cluster: &Cluster<'_>, port: u16) -> Vec<Value> {
    let mut kubectl = cluster.control_plane.kubectl();
    kubectl
        .args(["kustomize", "config/default"])
        .current_dir(cluster.directory);
    let text = succeed("kustomize", &mut kubectl);
    let documents = serde_yaml::Deserializer::from_str(&text);
    let mut objects: Vec<Value> = documents
        .map(|document| Value::deserialize(document).unwrap())
        .collect();
    for object in &mut objects {
        let is_service = object["metadata"]["name"] == "asked-operator-webhook-service";
        if is_service {
            object["spec"] =
                serde_json::json!({"type": "ExternalName", "externalName": "localhost"});
        }
        if object["kind"] == "CustomResourceDefinition" {
            let conversion = &mut object["spec"]["conversion"]["webhook"];
            conversion["clientConfig"]["service"]["port"] = port.into();
        }
        let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
        for webhook in webhooks.into_iter().flatten() {
            webhook["clientConfig"]["service"]["port"] = port.into();
        }
    }
    objects
}

/// The operator as the kubelet would run it. It is killed if the test ends before it does.
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
    fn start(binary: &Path, kubeconfig: &Path, log: PathBuf, template: &Value, port: u16) -> Self {
        let mut command = Command::new(binary);
        command.args([
            "--health-probe-bind-address=0",
            "--metrics-bind-address=0",
            "--leader-elect",
        ]);
        command.arg(format!("--leader-elect-resource-namespace={NAMESPACE}"));
        command.arg(format!("--webhook-port={port}"));
        command
            .env("KUBECONFIG", kubeconfig)
            .env("RUST_BACKTRACE", "0");
        let container = &template["spec"]["containers"][0];
        for variable in container["env"].as_array().unwrap() {
            let path = &variable["valueFrom"]["fieldRef"]["fieldPath"];
            let value = match path.as_str() {
                None => &variable["value"],
                Some("metadata.namespace") => &Value::from(NAMESPACE),
                Some(path) => {
                    let key = path.strip_prefix("metadata.annotations['").unwrap();
                    &template["metadata"]["annotations"][key.trim_end_matches("']")]
                }
            };
            command.env(variable["name"].as_str().unwrap(), value.as_str().unwrap());
        }
        let child = command
            .stdin(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn();
        Self {
            child: child.unwrap(),
            log,
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

fn memcached(name: &str, version: &str, spec: &str) -> String {
    format!(
        "apiVersion: cache.example.com/{version}\nkind: Memcached\nmetadata: {{name: {name}, namespace: default}}\nspec: {spec}\n"
    )
}

#[test]
fn asks_without_cert_manager() {
    let control_plane = control_plane();
    let (directory, _lock) = place_of_projects();
    let binary = build(&directory);
    let scratch = TempDir::new().unwrap();
    let cluster = Cluster {
        control_plane: &control_plane,
        directory: &directory,
    };
    let port = free_port().unwrap();
    let objects = manifests(&cluster, port);
    let deployment = objects
        .iter()
        .find(|object| object["kind"] == "Deployment")
        .unwrap();
    let everything =
        serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let deploy = || cluster.kubectl("apply --server-side --force-conflicts -f -", &everything);
    deploy();
    let token = cluster.run(&format!("create token {ACCOUNT} -n {NAMESPACE}"), "");
    let token = String::from_utf8(token.stdout).unwrap();
    let kubeconfig = control_plane.kubeconfig_for(ACCOUNT, token.trim()).unwrap();
    let log = scratch.path().join("operator.log");
    let operator = Operator::start(
        &binary,
        &kubeconfig,
        log,
        &deployment["spec"]["template"],
        port,
    );

    // Without size: it is filled in. With nobody to ask, the API server would refuse the object.
    let first = memcached("first", "v1alpha1", "{image: memcached}");
    let apply = "apply --server-side -f -";
    let started = Instant::now();
    while !cluster.run(apply, &first).status.success() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{}",
            operator.log()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    eprintln!(
        "the first object, {:.1} s after the start",
        started.elapsed().as_secs_f32()
    );

    let field = |version: &str, name: &str, field: &str| {
        let path = format!("memcacheds.{version}.cache.example.com {name} -n default");
        cluster.kubectl(&format!("get {path} -o jsonpath={{.spec.{field}}}"), "")
    };
    assert_eq!(field("v1alpha1", "first", "size"), "3");
    assert_eq!(field("v1", "first", "replicas"), "3");
    assert_eq!(field("v1", "first", "image"), "memcached");

    let said = cluster.kubectl(
        apply,
        &memcached(
            "large",
            "v1",
            "{replicas: 10, image: memcached, priority: high}",
        ),
    );
    assert!(
        said.contains("Warning: size will be called replicas"),
        "{said}"
    );
    assert_eq!(field("v1alpha1", "large", "size"), "10");
    // Neither the operator's status nor a write in the other version erases what only the hub has.
    let reported = "get memcached large -n default -o jsonpath={.status.conditions[0].reason}";
    while cluster.kubectl(reported, "").is_empty() {
        assert!(started.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(field("v1", "large", "priority"), "high");
    cluster.kubectl(
        "annotate memcacheds.v1alpha1.cache.example.com large -n default a=b",
        "",
    );
    assert_eq!(field("v1", "large", "priority"), "high");
    let said = cluster.refused(apply, &memcached("wrong", "v1alpha1", "{size: 0}"));
    assert!(
        said.contains("spec.size: Invalid value: 0: must be positive"),
        "{said}"
    );
    assert!(
        said.contains("spec.image: Required value: there is no default"),
        "{said}"
    );
    let said = cluster.refused("delete memcached large -n default", "");
    assert!(said.contains("too large to lose"), "{said}");
    cluster.kubectl("delete memcached first -n default", "");

    // Deploying again takes neither the certificate nor the CA away.
    deploy();
    cluster.kubectl(apply, &memcached("second", "v1", "{image: memcached}"));
    assert_eq!(field("v1", "second", "replicas"), "3");
    assert!(
        !operator.log().contains("forbidden"),
        "a verb is missing\n{}",
        operator.log()
    );

    for (verb, resource, allowed) in [
        (
            "update",
            "secrets/asked-operator-webhook-server-cert",
            "yes",
        ),
        ("get", "secrets", "no"),
        ("create", "secrets", "no"),
        (
            "patch",
            "mutatingwebhookconfigurations/asked-operator-mutating-webhook-configuration",
            "yes",
        ),
        ("patch", "mutatingwebhookconfigurations", "no"),
        ("patch", "crds/memcacheds.cache.example.com", "yes"),
        ("delete", "crds/memcacheds.cache.example.com", "no"),
    ] {
        let account = format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}");
        let asked = format!("auth can-i {verb} {resource} -n {NAMESPACE} --as {account}");
        let answer = String::from_utf8(cluster.run(&asked, "").stdout).unwrap();
        assert_eq!(answer.trim(), allowed, "{verb} {resource}");
    }
}
