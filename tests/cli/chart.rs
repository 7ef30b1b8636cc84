//! The Helm chart of a project: what Helm makes of it is what `make deploy` applies, object by object.
//!
//! The recorded projects get the plugin, and the generator of operator-runtime runs in this process, so nothing is compiled.

mod cluster;
mod uses;
mod values;

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    kustomize::{Objects, built, edit, kubectl, name, parsed, silent_make},
    manifests,
    session::{self, repository, scratch, tree},
};

/// The recorded projects whose charts are tested, and their names.
const PROJECTS: [(&str, &str); 5] = [
    ("one-api", "memcached-operator"),
    ("webhooks", "project-webhooks"),
    ("cert-manager", "project-cert-manager"),
    ("namespaced", "tenant-operator"),
    ("many", "project-many"),
];

/// The other recorded projects, whose charts are installed by `make charts`, and not compared: two have a name that other objects have.
const OTHERS: [(&str, &str); 6] = [
    ("fields", "cronjob"),
    ("imported", "imported-operator"),
    ("minimal", "minimal"),
    ("nasty-names", "core"),
    ("ported", "media-operator"),
    ("taken-over", "caches"),
];

/// A project with a chart.
struct Chart {
    directory: TempDir,
    /// The name of the project, of its chart, and of the release.
    name: String,
}

impl Chart {
    /// The recorded project with the plugin, after `make chart`.
    fn new(project: &str, commands: &[&str]) -> Self {
        let chart = Self {
            directory: scratch(),
            name: project_name(project).to_owned(),
        };
        let sessions = session::projects();
        let (_, steps) = sessions.iter().find(|(name, _)| name == project).unwrap();
        let steps = steps.iter().map(|step| &*step.command);
        for command in steps
            .chain(["operator-forge edit --plugins helm"])
            .chain(commands.iter().copied())
        {
            let step = session::shell(chart.path(), command);
            assert!(matches!(step.code, 0 | 1 | 3), "{command}: {}", step.output);
        }
        let recorded = repository().join("snapshots/manifests").join(project);
        for (path, bytes) in tree(&recorded) {
            let file = chart.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        chart.make(false).unwrap();
        chart
    }

    /// The chart of a recorded project, which no test changes.
    fn of(project: &str) -> &'static Self {
        static CHARTS: [OnceLock<Chart>; PROJECTS.len()] =
            [const { OnceLock::new() }; PROJECTS.len()];
        let at = PROJECTS
            .iter()
            .position(|(name, _)| *name == project)
            .unwrap();
        CHARTS[at].get_or_init(|| Self::new(project, &[]))
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn chart(&self) -> PathBuf {
        self.path().join("dist/chart")
    }

    fn namespace(&self) -> String {
        format!("{}-system", self.name)
    }

    /// A make target of the project, where `cargo` only keeps what it gets.
    fn make_command(&self, arguments: &[&str]) -> Command {
        let bin = self.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let cargo = bin.join("cargo");
        let script = "#!/bin/sh\ncase \"$*\" in *--chart*) cat >bin/objects.yaml; echo \"$*\" >bin/arguments;; esac\n";
        fs::write(&cargo, script).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bin.display(), env::var("PATH").unwrap());
        let mut make = helm_settings(silent_make(), self.path());
        make.args(arguments);
        make.arg(format!("KUBECTL={}", kubectl().display()));
        make.env("PATH", path).current_dir(self.path());
        make
    }

    /// `make chart`, and then the generator.
    fn make(&self, check: bool) -> Result<bool, String> {
        succeed(&mut self.make_command(&[if check { "check-chart" } else { "chart" }]));
        let read = |name: &str| fs::read_to_string(self.path().join("bin").join(name)).unwrap();
        let wanted = if check { " --check" } else { "" };
        let wanted = format!("run --bin manifests -- --chart dist/chart{wanted}\n");
        assert_eq!(read("arguments"), wanted);
        manifests::write_chart(&read("objects.yaml"), &self.chart(), check)
    }

    fn helm(&self, arguments: &[&str]) -> Command {
        let mut command = helm(self.path());
        command.args(arguments).current_dir(self.path());
        command
    }

    /// What Helm prints for a release with these values, each `KEY=JSON`.
    fn template(&self, values: &[String]) -> Output {
        let namespace = self.namespace();
        let mut command = self.helm(&[
            "template",
            &self.name,
            "dist/chart",
            "--namespace",
            &namespace,
        ]);
        for value in values {
            command.args(["--set-json", value]);
        }
        command.output().unwrap()
    }

    /// The objects of a release with these values.
    #[track_caller]
    fn rendered(&self, values: &[String]) -> Objects {
        let output = self.template(values);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{values:?}: {errors}");
        parsed(&String::from_utf8(output.stdout).unwrap())
    }

    /// Compares the objects that Helm renders by default with those of `make deploy`.
    fn assert_same(&self) {
        let wanted = deployed(built(self.path()), &self.namespace());
        let found = released(self.rendered(&[]));
        let keys = |objects: &Objects| objects.0.iter().map(key).collect::<Vec<_>>();
        assert_eq!(keys(&found), keys(&wanted), "{}", self.name);
        for (found, wanted) in found.0.iter().zip(&wanted.0) {
            assert_eq!(found, wanted, "{}: {}", self.name, key(found));
        }
    }
}

fn project_name(project: &str) -> &str {
    let mut all = PROJECTS.iter().chain(&OTHERS);
    let found = all.find(|(recorded, _)| *recorded == project);
    found.unwrap().1
}

fn helm(home: &Path) -> Command {
    static HELM: OnceLock<PathBuf> = OnceLock::new();
    let helm = HELM.get_or_init(|| {
        let mut script = Command::new("sh");
        script.arg(repository().join("tests/helm/build.sh"));
        succeed(script.stderr(Stdio::inherit())).trim().into()
    });
    helm_settings(Command::new(helm), home)
}

/// Keeps Helm away from the user's settings and clusters.
fn helm_settings(mut command: Command, home: &Path) -> Command {
    for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        command.env(variable, home.join("bin/helm"));
    }
    command.env("KUBECONFIG", "/dev/null");
    command
}

#[track_caller]
fn succeed(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{errors}");
    text
}

fn key(object: &Value) -> String {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("-");
    format!("{} {namespace}/{}", object["kind"], name(object))
}

fn sorted(mut objects: Objects) -> Objects {
    objects.0.sort_by_key(key);
    objects
}

/// What `make deploy` applies, without what a chart does not contain: the namespace, and who manages an object.
fn deployed(mut objects: Objects, namespace: &str) -> Objects {
    objects
        .0
        .retain(|object| object["kind"] != "Namespace" || name(object) != namespace);
    for object in &mut objects.0 {
        let labels = object["metadata"]["labels"].as_object_mut().unwrap();
        assert_eq!(
            labels.remove("app.kubernetes.io/managed-by"),
            Some(json!("kustomize"))
        );
    }
    sorted(objects)
}

/// What Helm renders, without its tests and who manages an object.
fn released(mut objects: Objects) -> Objects {
    objects
        .0
        .retain(|object| object["metadata"]["annotations"]["helm.sh/hook"].is_null());
    for object in &mut objects.0 {
        let metadata = object["metadata"].as_object_mut().unwrap();
        let labels = metadata["labels"].as_object_mut().unwrap();
        assert_eq!(
            labels.remove("app.kubernetes.io/managed-by"),
            Some(json!("Helm"))
        );
        assert!(labels.remove("helm.sh/chart").is_some());
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove("helm.sh/resource-policy");
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
    sorted(objects)
}

#[test]
fn a_release_is_what_make_deploy_applies() {
    for (project, _) in PROJECTS {
        Chart::of(project).assert_same();
    }
}

#[test]
fn helm_lint_finds_nothing() {
    for (project, _) in PROJECTS {
        let chart = Chart::of(project);
        succeed(&mut chart.helm(&["lint", "--strict", "dist/chart"]));
        assert_eq!(
            chart.make(true),
            Ok(true),
            "{project}: the chart is current"
        );
    }
}

/// Two releases of one chart share only what has one name in a cluster, the CRDs.
#[test]
fn every_name_follows_from_the_release() {
    for (project, project_name) in PROJECTS {
        let chart = Chart::of(project);
        let mut command =
            chart.helm(&["template", "red", "dist/chart", "--namespace", "elsewhere"]);
        let text = succeed(&mut command);
        for object in parsed(&text).0 {
            if object["kind"] != "CustomResourceDefinition" {
                let start = format!("red-{project_name}-");
                assert!(name(&object).starts_with(&start), "{}", key(&object));
            }
            let namespace = &object["metadata"]["namespace"];
            assert!(
                namespace.is_null() || namespace == "elsewhere",
                "{}",
                key(&object)
            );
        }
        assert!(!text.contains(&chart.namespace()), "{project}");
        let of_chart = |line: &&str| line.starts_with("# Source") || line.contains("helm.sh/chart");
        let own = text.lines().filter(|line| !of_chart(line));
        let own = own.map(|line| line.replace(&format!("red-{project_name}"), ""));
        let old = own.filter(|line| line.contains(&format!("{project_name}-")));
        assert_eq!(old.collect::<Vec<_>>(), [""; 0], "{project}");
    }
}

/// What somebody adds to `config/` is in the chart, and what they edit in the chart stays.
#[test]
fn additions_reach_the_chart_and_edits_stay() {
    let chart = Chart::new("one-api", &[]);
    let config = chart.path();
    let manager = "config/manager/manager.yaml";
    edit(
        config,
        manager,
        "- --leader-elect\n",
        "- --leader-elect\n            - --sync-period=1h\n",
    );
    edit(
        config,
        manager,
        "          ports:\n",
        "            - name: TEMPLATE\n              value: '{{ .Values.none }}'\n          ports:\n",
    );
    let odd = include_str!("chart/odd.yaml");
    fs::write(config.join("config/manager/odd.yaml"), odd).unwrap();
    let list = "config/manager/kustomization.yaml";
    edit(
        config,
        list,
        "  - manager.yaml\n",
        "  - manager.yaml\n  - odd.yaml\n",
    );
    let crd = "config/crd/bases/cache.example.com_memcacheds.yaml";
    edit(
        config,
        crd,
        "The desired state",
        "With {{ braces }}, the desired state",
    );
    edit(
        config,
        "config/default/kustomization.yaml",
        "# - ../network-policy",
        "- ../network-policy",
    );

    let templates = chart.chart().join("templates");
    fs::write(templates.join("mine.yaml"), "# mine\n").unwrap();
    fs::write(templates.join("gone.yaml"), "# generated once\nkind: [\n").unwrap();
    let account = templates.join("serviceaccount.yaml");
    let text = fs::read_to_string(&account).unwrap();
    fs::write(&account, text.split_once('\n').unwrap().1).unwrap();

    assert_eq!(chart.make(true), Ok(false), "the chart is out of date");
    assert!(
        templates.join("gone.yaml").exists(),
        "a check writes nothing"
    );
    assert_eq!(chart.make(false), Ok(true));
    assert_eq!(chart.make(true), Ok(true));
    chart.assert_same();
    let policies = chart.rendered(&["networkPolicy.enabled=false".to_owned()]);
    assert!(policies.of("NetworkPolicy").is_empty());

    assert!(!templates.join("gone.yaml").exists());
    assert_eq!(
        fs::read_to_string(templates.join("mine.yaml")).unwrap(),
        "# mine\n"
    );
    assert!(
        fs::read_to_string(&account).unwrap().starts_with("{{- if"),
        "without header, it is the user's"
    );

    let values = chart.chart().join("values.yaml");
    let edited = fs::read_to_string(&values)
        .unwrap()
        .replace("replicas:\n", "replicas: 3\n");
    fs::write(&values, format!("{edited}# mine\n")).unwrap();
    for command in ["operator-forge sync", "operator-forge check"] {
        let step = session::shell(chart.path(), command);
        assert_eq!(step.code, 0, "{command}: {}", step.output);
    }
    let kept = fs::read_to_string(&values).unwrap();
    assert!(
        kept.contains("replicas: 3\n") && kept.ends_with("# mine\n"),
        "{kept}"
    );
}

/// What belongs to the user's own webhooks, certificates and roles does not go with a value about the manager's.
#[test]
fn values_leave_other_objects_alone() {
    let chart = Chart::new("cert-manager", &[]);
    let own = include_str!("chart/own.yaml");
    fs::write(chart.path().join("config/manager/own.yaml"), own).unwrap();
    let list = "config/manager/kustomization.yaml";
    edit(
        chart.path(),
        list,
        "  - manager.yaml\n",
        "  - manager.yaml\n  - own.yaml\n",
    );
    let binding = include_str!("chart/prometheus.yaml");
    fs::write(chart.path().join("config/prometheus/binding.yaml"), binding).unwrap();
    let list = "config/prometheus/kustomization.yaml";
    edit(
        chart.path(),
        list,
        "  - monitor.yaml\n",
        "  - monitor.yaml\n  - binding.yaml\n",
    );
    chart.make(false).unwrap();
    chart.assert_same();

    let values = [
        "crds.enabled=false",
        "metrics.enabled=false",
        "webhooks.enabled=false",
        "serviceAccount.create=false",
        "serviceAccount.name=\"mine\"",
        "webhooks.certificate.existingSecret=\"tls\"",
        "webhooks.certificate.issuerRef={\"name\": \"other\"}",
    ];
    let objects = chart.rendered(&values.map(str::to_owned));
    let parsed = parsed(own);
    for object in &parsed.0 {
        let end = format!("-{}", name(object));
        objects.one(object["kind"].as_str().unwrap(), &end);
    }
    // It signs the certificate of the metrics, too.
    objects.one("Issuer", "selfsigned-issuer");
    assert_eq!(objects.of("Issuer").len(), 1);

    let on = "metrics.serviceMonitor.enabled=true".to_owned();
    let objects = chart.rendered(&[on]);
    let binding = objects.one("RoleBinding", "scraped");
    let names = ["/roleRef/name", "/subjects/0/name", "/subjects/0/namespace"];
    let names = names.map(|pointer| binding.pointer(pointer).unwrap().as_str().unwrap());
    let namespace = "project-cert-manager-system";
    assert_eq!(
        names,
        [
            "project-cert-manager-metrics-reader",
            "project-cert-manager-controller-manager",
            namespace
        ]
    );
    assert_eq!(binding["subjects"][1]["name"], "prometheus");
    assert_eq!(binding["subjects"][1]["namespace"], "monitoring");
}

/// Nothing is removed because kustomize failed.
#[test]
fn nothing_is_generated_from_nothing() {
    let chart = Chart::of("one-api").chart();
    let refused = |text: &str| manifests::write_chart(text, &chart, false).unwrap_err();
    assert!(refused("").contains("no objects"));
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: a\n";
    assert!(refused(account).contains("no Deployment"));
    let objects = fs::read_to_string(Chart::of("one-api").path().join("bin/objects.yaml")).unwrap();
    let unknown = objects.replace("# optional: prometheus", "# optional: other");
    assert!(refused(&unknown).contains("no value of the chart turns on `other`"));
    let (before, _) = objects.split_once("# optional: prometheus\n").unwrap();
    assert!(refused(&format!("{before}# optional: prometheus\n")).contains("no objects"));
    // Its CRD and it cannot be in one release.
    let own =
        "---\napiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {name: mine}\n";
    let error = refused(&format!("{before}{own}"));
    assert!(
        error.contains("`Memcached` `mine` is an object of a kind that the chart defines"),
        "{error}"
    );
    let nowhere = scratch();
    let error = manifests::write_chart(&objects, nowhere.path(), false).unwrap_err();
    assert!(error.contains("_helpers.tpl"), "{error}");
}
