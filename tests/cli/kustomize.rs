//! What `kubectl kustomize` makes of `config/`: whatever the objects are called in the cluster, every name that one of them
//! has for another is right.
//!
//! Reads the recorded projects and manifests, so nothing is compiled.

use crate::session;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize as _;
use serde_json::{Value, json};
use session::{recorded, repository, tree};
use tempfile::TempDir;

/// The project `name` as its user has it after `make manifests`.
fn project(name: &str) -> TempDir {
    let directory = TempDir::new().unwrap();
    let manifests = repository().join("snapshots/manifests").join(name);
    for files in [recorded(name), tree(&manifests)] {
        for (path, bytes) in files {
            if path.starts_with("config/") || path == "Makefile" {
                let file = directory.path().join(path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, bytes).unwrap();
            }
        }
    }
    directory
}

pub fn edit(directory: &Path, path: &str, from: &str, to: &str) {
    let file = directory.join(path);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{path} has no `{from}`");
    fs::write(file, text.replace(from, to)).unwrap();
}

pub fn kubectl() -> PathBuf {
    let assets = env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    assets.unwrap_or_default().join("kubectl")
}

/// A make that prints nothing of its own, also if a make runs the tests.
pub fn silent_make() -> Command {
    let mut make = Command::new("make");
    make.arg("--silent");
    for variable in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
        make.env_remove(variable);
    }
    make
}

/// The objects of `config/default`.
pub fn built(directory: &Path) -> Objects {
    built_from(directory, "config/default")
}

/// The objects of a kustomization.
fn built_from(directory: &Path, kustomization: &str) -> Objects {
    printed(
        Command::new(kubectl())
            .args(["kustomize", kustomization])
            .current_dir(directory),
    )
}

/// The objects that a command prints.
fn printed(command: &mut Command) -> Objects {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}: run `make test`"));
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    parsed(&text)
}

/// The objects of a YAML stream.
pub fn parsed(text: &str) -> Objects {
    let documents = serde_yaml::Deserializer::from_str(text);
    let objects = documents.map(|document| Value::deserialize(document).unwrap());
    Objects(objects.filter(|object| !object.is_null()).collect())
}

pub struct Objects(pub Vec<Value>);

impl Objects {
    /// The objects of a kind.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.0
            .iter()
            .filter(|object| object["kind"] == kind)
            .collect()
    }

    /// The one object of a kind whose name ends so.
    #[track_caller]
    pub fn one(&self, kind: &str, end: &str) -> &Value {
        let is = |object: &&&Value| name(object).ends_with(end);
        let all = self.of(kind);
        let found: Vec<_> = all.iter().filter(is).collect();
        let [object] = found[..] else {
            panic!("{} of {kind} {end}", found.len());
        };
        object
    }

    /// The container of the manager.
    pub fn container(&self) -> &Value {
        &self.one("Deployment", "controller-manager")["spec"]["template"]["spec"]["containers"][0]
    }

    pub fn environment(&self, variable: &str) -> Option<&str> {
        let variables = self.container()["env"].as_array()?.iter();
        let mut found = variables.filter(|env| env["name"] == variable);
        let found = found.next()?;
        let Some(path) = found["valueFrom"]["fieldRef"]["fieldPath"].as_str() else {
            return found["value"].as_str();
        };
        let key = path
            .strip_prefix("metadata.annotations['")?
            .strip_suffix("']")?;
        let template = &self.one("Deployment", "controller-manager")["spec"]["template"];
        template["metadata"]["annotations"][key].as_str()
    }

    /// Every place where the API server learns which Service to ask, and the name of the object that says so.
    pub fn clients(&self) -> Vec<(String, &Value)> {
        let mut clients = Vec::new();
        for kind in [
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ] {
            for configuration in self.of(kind) {
                for webhook in configuration["webhooks"].as_array().unwrap() {
                    clients.push((webhook["name"].to_string(), &webhook["clientConfig"]));
                }
            }
        }
        for crd in self.of("CustomResourceDefinition") {
            let conversion = &crd["spec"]["conversion"];
            if conversion["strategy"] == "Webhook" {
                clients.push((name(crd).to_owned(), &conversion["webhook"]["clientConfig"]));
            }
        }
        clients
    }

    /// What holds wherever the certificate comes from.
    fn check(&self, prefix: &str, namespace: &str, clients: usize) {
        let service = self.one("Service", "webhook-service");
        assert_eq!(name(service), format!("{prefix}webhook-service"));
        assert_eq!(service["metadata"]["namespace"], namespace);
        let found = self.clients();
        assert_eq!(found.len(), clients, "{found:?}");
        for (who, client) in found {
            let asked = &client["service"];
            assert_eq!(asked["name"], service["metadata"]["name"], "{who}");
            assert_eq!(asked["namespace"], namespace, "{who}");
            assert!(asked["path"].as_str().unwrap().starts_with('/'), "{who}");
            assert!(
                client["caBundle"].is_null(),
                "{who}: applying it would take the CA away"
            );
        }
        let target = &service["spec"]["ports"][0]["targetPort"];
        let ports = self.container()["ports"].as_array().unwrap();
        let port = ports.iter().find(|port| port["name"] == *target);
        assert_eq!(port.unwrap()["containerPort"], 9443);
        let deployment = &self.one("Deployment", "controller-manager")["spec"];
        let budget = &self.one("PodDisruptionBudget", "controller-manager")["spec"];
        let spread = &deployment["template"]["spec"]["topologySpreadConstraints"][0];
        let labels = &deployment["template"]["metadata"]["labels"];
        for selector in [
            &service["spec"]["selector"],
            &budget["selector"]["matchLabels"],
            &spread["labelSelector"]["matchLabels"],
        ] {
            for (key, value) in selector.as_object().unwrap() {
                assert_eq!(labels[key], *value, "{selector} selects the Pods");
            }
        }
        assert_eq!(deployment["replicas"], 2);
        // Where somebody scales down to one replica, a drain does not wait for it.
        assert_eq!(budget["maxUnavailable"], 1);
        assert!(budget["minAvailable"].is_null());
    }

    /// Every `resourceNames` of a role is the name of something, in the resource that it is of.
    fn check_resource_names(&self, end: &str, kinds: &[(&str, &str)]) {
        let roles = ["Role", "ClusterRole"].map(|kind| self.one(kind, end));
        let rules = roles
            .iter()
            .flat_map(|role| role["rules"].as_array().unwrap());
        let mut seen = Vec::new();
        for rule in rules {
            let resource = rule["resources"][0].as_str().unwrap();
            // An event has a random name, and the manager only writes it.
            if resource == "events" {
                continue;
            }
            let kind = kinds
                .iter()
                .find(|(of, _)| *of == resource)
                .expect(resource)
                .1;
            for wanted in rule["resourceNames"]
                .as_array()
                .expect("never all objects of a type")
            {
                let there = self
                    .of(kind)
                    .into_iter()
                    .any(|object| object["metadata"]["name"] == *wanted);
                assert!(there, "no {kind} {wanted}");
                seen.push(kind);
            }
        }
        for (_, kind) in kinds {
            assert!(seen.contains(kind), "no rule about {kind}");
        }
    }
}

pub fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

const SELF_MANAGED: &str = "webhooks";

fn check_self_managed(objects: &Objects, prefix: &str, namespace: &str) {
    // Defaulting and validation of Memcached v1alpha1 and of Pods, validation of v2; and one CRD.
    objects.check(prefix, namespace, 6);
    for (variable, kind) in [
        ("WEBHOOK_SECRET", "Secret"),
        ("WEBHOOK_SERVICE", "Service"),
        (
            "WEBHOOK_MUTATING_CONFIGURATION",
            "MutatingWebhookConfiguration",
        ),
        (
            "WEBHOOK_VALIDATING_CONFIGURATION",
            "ValidatingWebhookConfiguration",
        ),
    ] {
        let value = objects.environment(variable).expect(variable);
        let there = objects
            .of(kind)
            .into_iter()
            .any(|object| name(object) == value);
        assert!(
            there && value.starts_with(prefix),
            "{variable}: no {kind} {value}"
        );
    }
    objects.check_resource_names(
        "webhook-certificate-role",
        &[
            ("secrets", "Secret"),
            (
                "mutatingwebhookconfigurations",
                "MutatingWebhookConfiguration",
            ),
            (
                "validatingwebhookconfigurations",
                "ValidatingWebhookConfiguration",
            ),
            ("customresourcedefinitions", "CustomResourceDefinition"),
        ],
    );
    let secret = objects.one("Secret", "webhook-server-cert");
    assert!(
        secret["data"].is_null(),
        "applying it would take the certificate away"
    );
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        let binding = objects.one(kind, "webhook-certificate-rolebinding");
        let role = kind.strip_suffix("Binding").unwrap();
        let role = objects.one(role, "webhook-certificate-role");
        assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
        let account = objects.one("ServiceAccount", "controller-manager");
        assert_eq!(binding["subjects"][0]["name"], account["metadata"]["name"]);
        assert_eq!(binding["subjects"][0]["namespace"], namespace);
    }
}

#[test]
fn self_managed_certificates() {
    let directory = project(SELF_MANAGED);
    let prefix = "project-webhooks-";
    check_self_managed(&built(directory.path()), prefix, "project-webhooks-system");

    // Whoever edits these two lines changes everything that follows from them.
    let file = "config/default/kustomization.yaml";
    edit(
        directory.path(),
        file,
        "namespace: project-webhooks-system",
        "namespace: elsewhere",
    );
    edit(
        directory.path(),
        file,
        "namePrefix: project-webhooks-",
        "namePrefix: other-",
    );
    check_self_managed(&built(directory.path()), "other-", "elsewhere");

    // And so does a kustomization on top of it.
    let overlay = directory.path().join("config/overlay");
    fs::create_dir(&overlay).unwrap();
    let lines = "resources: [../default]\nnamespace: overlaid\nnamePrefix: over-\n";
    fs::write(overlay.join("kustomization.yaml"), lines).unwrap();
    let objects = built_from(directory.path(), "config/overlay");
    check_self_managed(&objects, "over-other-", "overlaid");
}

/// Webhooks for core types never wait for the operator in its own namespace, wherever that is.
#[test]
fn the_own_namespace_is_exempt() {
    let directory = project(SELF_MANAGED);
    let file = "config/default/kustomization.yaml";
    for namespace in ["project-webhooks-system", "platform"] {
        let from = "namespace: project-webhooks-system";
        edit(
            directory.path(),
            file,
            from,
            &format!("namespace: {namespace}"),
        );
        let objects = built(directory.path());
        let mut selectors = 0;
        for kind in [
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ] {
            for webhook in objects.of(kind)[0]["webhooks"].as_array().unwrap() {
                let expressions = &webhook["namespaceSelector"]["matchExpressions"];
                for expression in expressions.as_array().into_iter().flatten() {
                    assert_eq!(expression["values"], json!(["kube-system", namespace]));
                    selectors += 1;
                }
            }
        }
        assert!(selectors > 1);
    }
}

/// kustomize changes the variables of the certificate, and no value of the user's that reads like a name of ours.
#[test]
fn other_variables_keep_their_values() {
    let directory = project(SELF_MANAGED);
    let names = [
        "metrics",
        "webhook-service",
        "webhook-server-cert",
        "controller-manager",
        "system",
    ];
    let lines: String = names
        .iter()
        .enumerate()
        .map(|(index, name)| format!("            - name: X{index}\n              value: {name}\n"))
        .collect();
    let (file, first) = ("config/manager/manager.yaml", "          env:\n");
    edit(directory.path(), file, first, &format!("{first}{lines}"));
    let objects = built(directory.path());
    for (index, name) in names.into_iter().enumerate() {
        assert_eq!(objects.environment(&format!("X{index}")), Some(name));
    }
    check_self_managed(&objects, "project-webhooks-", "project-webhooks-system");
}

#[test]
fn certificates_of_cert_manager() {
    let directory = project("cert-manager");
    let (prefix, namespace) = ("project-cert-manager-", "project-cert-manager-system");
    let objects = built(directory.path());
    objects.check(prefix, namespace, 2);
    let certificate = objects.one("Certificate", "webhook-server-cert");
    let service = format!("{prefix}webhook-service.{namespace}.svc");
    assert_eq!(
        certificate["spec"]["dnsNames"],
        json!([service, format!("{service}.cluster.local"), "metrics"])
    );
    let ca = objects.one("Certificate", "webhook-ca-cert");
    for (certificate, issuer) in [
        (certificate, "webhook-ca-issuer"),
        (ca, "selfsigned-issuer"),
    ] {
        let issuer = objects.one("Issuer", issuer);
        assert_eq!(
            certificate["spec"]["issuerRef"]["name"],
            issuer["metadata"]["name"]
        );
    }
    let issuer = objects.one("Issuer", "webhook-ca-issuer");
    assert_eq!(issuer["spec"]["ca"]["secretName"], ca["spec"]["secretName"]);
    // Two operators in one namespace have Secrets of their own.
    for certificate in [certificate, ca] {
        assert_eq!(certificate["spec"]["secretName"], name(certificate));
        assert!(name(certificate).starts_with(prefix));
    }
    let pod = &objects.one("Deployment", "controller-manager")["spec"]["template"]["spec"];
    assert_eq!(
        pod["volumes"][0]["secret"]["secretName"],
        certificate["spec"]["secretName"]
    );
    let mount = objects.container()["volumeMounts"][0]["mountPath"]
        .as_str()
        .unwrap();
    let flag = format!("--webhook-cert-path={mount}");
    assert!(
        objects.container()["args"]
            .as_array()
            .unwrap()
            .contains(&flag.into())
    );
    assert_eq!(objects.environment("WEBHOOK_SECRET"), None);

    let from = format!("{namespace}/{}", name(certificate));
    let mut told = 0;
    for object in &objects.0 {
        let annotation = &object["metadata"]["annotations"]["cert-manager.io/inject-ca-from"];
        let asks = ["ValidatingWebhookConfiguration", "CustomResourceDefinition"];
        let asked = asks.iter().any(|kind| object["kind"] == *kind);
        assert_eq!(
            annotation.as_str(),
            asked.then_some(&*from),
            "{}",
            name(object)
        );
        told += usize::from(asked);
    }
    assert_eq!(told, 2);
}

/// The API server has to reach the port of the Pod; the Service's is none that a policy knows.
#[test]
fn the_network_policy_lets_the_api_server_in() {
    let directory = project(SELF_MANAGED);
    let file = "config/default/kustomization.yaml";
    edit(
        directory.path(),
        file,
        "# - ../network-policy",
        "- ../network-policy",
    );
    let objects = built(directory.path());
    let policy = &objects.one("NetworkPolicy", "allow-webhook-traffic")["spec"];
    let ingress = &policy["ingress"][0];
    assert!(
        ingress["from"].is_null(),
        "nobody knows where the API server is"
    );
    assert_eq!(ingress["ports"][0]["port"], 9443);
    let labels =
        &objects.one("Deployment", "controller-manager")["spec"]["template"]["metadata"]["labels"];
    let selected = policy["podSelector"]["matchLabels"].as_object().unwrap();
    assert!(selected.iter().all(|(key, value)| labels[key] == *value));
}

/// Prometheus asks the Service of the metrics alone: that of the webhooks has none, and is no place for its token.
#[test]
fn prometheus_finds_the_metrics() {
    let directory = project(SELF_MANAGED);
    edit(
        directory.path(),
        "config/default/kustomization.yaml",
        "# - ../prometheus",
        "- ../prometheus",
    );
    let objects = built(directory.path());
    let monitor = &objects.one("ServiceMonitor", "metrics-monitor")["spec"];
    let wanted = monitor["selector"]["matchLabels"].as_object().unwrap();
    let mut services = objects.of("Service");
    services.retain(|service| {
        let labels = &service["metadata"]["labels"];
        wanted.iter().all(|(key, value)| labels[key] == *value)
    });
    assert_eq!(services.len(), 1);
    let port = &services[0]["spec"]["ports"][0];
    assert_eq!(port["name"], monitor["endpoints"][0]["port"]);
    assert_eq!(port["targetPort"], "metrics");
    let secret = objects.one("Secret", "webhook-server-cert");
    let ca = json!({ "secret": { "name": name(secret), "key": "ca.crt" } });
    let tls = json!({ "serverName": "metrics", "ca": ca });
    assert_eq!(monitor["endpoints"][0]["tlsConfig"], tls);
}

/// Before the first `make manifests`, every manifest is one, and kustomize says what to run.
#[test]
fn a_new_project_says_what_to_run_first() {
    let directory = TempDir::new().unwrap();
    for (path, bytes) in recorded("webhooks") {
        if path.starts_with("config/") {
            let text = String::from_utf8(bytes).unwrap();
            // These two kinds of files are lists of kustomize's.
            let is_manifest = !["replacements.yaml", "kustomizeconfig.yaml"]
                .iter()
                .any(|end| path.ends_with(end));
            for object in parsed(&text).0.iter().filter(|_| is_manifest) {
                let of = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
                assert!(!of("apiVersion").is_empty(), "{path}");
                assert!(!of("kind").is_empty(), "{path}");
            }
            let file = directory.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
    }
    for part in ["config/crd", "config/default"] {
        let mut kustomize = Command::new(kubectl());
        kustomize
            .args(["kustomize", part])
            .current_dir(directory.path());
        let output = kustomize.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{part}");
        assert!(error.contains("run `make manifests` first"), "{error}");
    }
}

/// The manager may use its own Lease and no other one. kustomize's prefix leaves that name alone.
#[test]
fn the_role_is_for_the_lease_of_the_manager() {
    let recorded = recorded("webhooks");
    let library = String::from_utf8_lossy(&recorded["src/lib.rs"]).into_owned();
    let (_, name) = library.split_once("    name: \"").unwrap();
    let (name, _) = name.split_once('"').unwrap();
    let objects = built(project(SELF_MANAGED).path());
    let rules = objects.one("Role", "leader-election-role")["rules"].as_array();
    let [create, own] = &rules.unwrap()[..] else {
        panic!("{rules:?}")
    };
    assert_eq!(create["verbs"], json!(["create"]));
    assert_eq!(own["resourceNames"], json!([name]));
    assert_eq!(own["verbs"], json!(["get", "update", "watch"]));
}

/// `make install` after `make deploy` leaves the conversion where it was.
#[test]
fn crds_are_installed_as_they_are_deployed() {
    for (name, crds) in [("webhooks", 1), ("one-api", 1)] {
        let directory = project(name);
        let deployed = built(directory.path());
        let mut make = silent_make();
        make.args(["--eval", "show: ; @$(crds)", "show"]);
        make.arg(format!("KUBECTL={}", kubectl().display()));
        let installed = printed(make.current_dir(directory.path()));
        assert_eq!(installed.0.len(), crds, "{name}: nothing but CRDs");
        for (installed, deployed) in installed
            .0
            .iter()
            .zip(deployed.of("CustomResourceDefinition"))
        {
            assert_eq!(installed["spec"], deployed["spec"], "{name}");
        }
    }
}
