//! A release in a real API server: install, upgrade, rollback, uninstall.

use std::{env, fs, io::Write as _, process::Stdio, rc::Rc};

use operator_runtime::envtest::ControlPlane;
use serde_json::{Value, json};

use super::{Chart, OTHERS, PROJECTS, succeed};
use crate::kustomize::edit;

struct Release {
    chart: Chart,
    cluster: Rc<ControlPlane>,
}

impl Release {
    fn new() -> Self {
        let cluster = ControlPlane::start().unwrap();
        Self::of("webhooks", &Rc::new(cluster))
    }

    fn of(project: &str, cluster: &Rc<ControlPlane>) -> Self {
        Self {
            chart: Chart::new(project, &[]),
            cluster: cluster.clone(),
        }
    }

    fn kubectl(&self, arguments: &[&str], input: &str) -> String {
        let mut kubectl = self.cluster.kubectl();
        kubectl.args(arguments).stdin(Stdio::piped());
        kubectl.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = kubectl.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The bytes of each revision that Helm keeps.
    fn sizes(&self) -> Vec<usize> {
        let namespace = self.chart.namespace();
        let arguments = [
            "get",
            "secrets",
            "--selector",
            "owner=helm",
            "--output",
            "json",
        ];
        let text = self.kubectl(&[&arguments[..], &["--namespace", &namespace]].concat(), "");
        let secrets: Value = serde_json::from_str(&text).unwrap();
        let secrets = secrets["items"].as_array().unwrap().iter();
        // The API server encodes it once more.
        let size = |secret: &Value| secret["data"]["release"].as_str().unwrap().len() / 4 * 3;
        secrets.map(size).collect()
    }

    /// Runs a make target of the project.
    fn make(&self, target: &str, flags: &str) -> String {
        // The targets that write the chart are tested on their own.
        let mut make = self.chart.make_command(&[target]);
        make.arg(format!(
            "HELM={}",
            self.chart.helm(&[]).get_program().display()
        ));
        make.arg(format!("HELM_FLAGS={flags}"));
        succeed(make.env("KUBECONFIG", self.cluster.kubeconfig()))
    }

    /// An object of the release's namespace, or null.
    fn get(&self, object: &str) -> Value {
        let mut kubectl = self.cluster.kubectl();
        let namespace = self.chart.namespace();
        kubectl.args([
            "get",
            object,
            "--namespace",
            &namespace,
            "--ignore-not-found",
            "--output",
            "json",
        ]);
        let text = succeed(&mut kubectl);
        match text.is_empty() {
            true => Value::Null,
            false => serde_json::from_str(&text).unwrap(),
        }
    }

    fn manager(&self) -> Value {
        self.get("deployment/project-webhooks-controller-manager")
    }

    fn crd(&self) -> Value {
        self.get("crd/memcacheds.cache.example.com")
    }
}

/// A CRD of cert-manager, whose objects a chart may have.
fn of_cert_manager(kind: &str) -> String {
    let lower = kind.to_lowercase();
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{lower}s.cert-manager.io") },
        "spec": {
            "group": "cert-manager.io",
            "names": { "kind": kind, "plural": format!("{lower}s") },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema },
            }],
        },
    })
    .to_string()
}

/// `CHARTS=all` installs the charts of all recorded projects, which takes minutes.
#[test]
fn every_chart_installs_upgrades_and_rolls_back() {
    const MOST: usize = 1 << 20;
    let cluster = Rc::new(ControlPlane::start().unwrap());
    let all = env::var_os("CHARTS").is_some_and(|charts| charts == "all");
    let every = PROJECTS.into_iter().chain(OTHERS);
    for (project, name) in every.filter(|(project, _)| all || *project == "many") {
        let release = Release::of(project, &cluster);
        for kind in ["Certificate", "Issuer"] {
            release.kubectl(&["apply", "--filename", "-"], &of_cert_manager(kind));
        }
        release.make("helm-deploy", "");
        release.make("helm-deploy", "--set replicas=3");
        let replicas = || {
            let manager = release.get(&format!("deployment/{name}-controller-manager"));
            manager["spec"]["replicas"].clone()
        };
        assert_eq!(replicas(), 3, "{project}");
        release.make("helm-rollback", "");
        assert_ne!(replicas(), 3, "{project}");
        let sizes = release.sizes();
        assert_eq!(sizes.len(), 3, "{project}");
        assert!(
            sizes.iter().all(|size| *size < MOST),
            "{project}: {sizes:?}"
        );
        release.make("helm-uninstall", "");
        // Two projects may have a CRD of the same name.
        release.kubectl(&["delete", "crds", "--all"], "");
    }
}

/// What `make deploy` applied becomes a release, without a new object.
#[test]
fn a_release_takes_over() {
    let release = Release::new();
    release.make("deploy", "");
    let before = release.manager()["metadata"]["uid"].clone();
    release.make("helm-deploy", "--take-ownership --force-conflicts");
    release.make("helm-deploy", "");
    let metadata = &release.manager()["metadata"];
    assert_eq!(metadata["uid"], before);
    assert_eq!(metadata["labels"]["app.kubernetes.io/managed-by"], "Helm");
}

#[test]
fn install_upgrade_rollback_uninstall() {
    let release = Release::new();
    release.make("helm-deploy", "");
    assert_eq!(release.manager()["spec"]["replicas"], 2);
    assert!(release.make("helm-status", "").contains("STATUS: deployed"));
    let fields = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/description";
    let described = release.crd().pointer(fields).cloned();

    // As the operator does: fills its Secret, and tells the API server whom to trust.
    let secret = "secret/project-webhooks-webhook-server-cert";
    let webhook =
        "validatingwebhookconfiguration/project-webhooks-validating-webhook-configuration";
    let patches = [
        (secret, "merge", r#"{"data": {"tls.crt": "YQ=="}}"#),
        (
            webhook,
            "json",
            r#"[{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "Q0E="}]"#,
        ),
    ];
    for (object, kind, patch) in patches {
        let mut kubectl = release.cluster.kubectl();
        kubectl.args(["patch", object, "--type", kind, "--patch", patch]);
        kubectl.args([
            "--field-manager",
            "manager",
            "--namespace",
            &release.chart.namespace(),
        ]);
        succeed(&mut kubectl);
    }

    // A newer CRD, a value, and an object less.
    let crd = "config/crd/bases/cache.example.com_memcacheds.yaml";
    edit(
        release.chart.path(),
        crd,
        "The desired state",
        "The {{ new }} desired state",
    );
    assert_eq!(release.chart.make(false), Ok(true));
    release.make(
        "helm-deploy",
        "--set replicas=5 --set metrics.enabled=false",
    );
    assert_eq!(release.manager()["spec"]["replicas"], 5);
    assert!(release.get("service/project-webhooks-metrics").is_null());
    let newer = release.crd().pointer(fields).cloned();
    assert!(
        newer
            .as_ref()
            .is_some_and(|text| text.to_string().contains("{{ new }}")),
        "{newer:?}"
    );
    assert_eq!(
        release.get(secret)["data"]["tls.crt"],
        "YQ==",
        "the certificate stays"
    );
    assert_eq!(
        release.get(webhook)["webhooks"][0]["clientConfig"]["caBundle"],
        "Q0E="
    );

    release.make("helm-rollback", "");
    assert_eq!(release.manager()["spec"]["replicas"], 2);
    assert!(!release.get("service/project-webhooks-metrics").is_null());
    assert_eq!(release.crd().pointer(fields).cloned(), described);
    assert_eq!(release.get(secret)["data"]["tls.crt"], "YQ==");
    let history = release.make("helm-history", "");
    assert_eq!(
        history.lines().count(),
        4,
        "three revisions and a title: {history}"
    );

    release.make("helm-uninstall", "");
    assert!(release.manager().is_null());
    assert!(release.get(webhook).is_null());
    assert!(!release.crd().is_null(), "the CRDs and their objects stay");
    // As docs/helm.md says: without the operator, nothing converts.
    let patch = r#"{"spec": {"conversion": {"strategy": "None", "webhook": null}}}"#;
    let mut kubectl = release.cluster.kubectl();
    kubectl.args(["patch", "crd", "memcacheds.cache.example.com"]);
    succeed(kubectl.args(["--type", "merge", "--patch", patch]));
    assert_eq!(release.crd()["spec"]["conversion"]["strategy"], "None");
    // The next installation takes the CRDs over.
    release.make("helm-deploy", "--set crds.keep=false --force-conflicts");
    assert_eq!(release.crd()["spec"]["conversion"]["strategy"], "Webhook");
    release.make("helm-uninstall", "");
    assert!(release.crd()["metadata"]["deletionTimestamp"].is_string() || release.crd().is_null());
    let templates = release.chart.chart().join("templates");
    assert!(fs::exists(templates.join("deployment.yaml")).unwrap());
}
