//! The files of a Go project, and which of them kubebuilder scaffolds.

use std::collections::{BTreeMap, BTreeSet};

use guarded_yaml as yaml;
use serde_yaml::Value;

use crate::{
    code::Code,
    marker::{Admission, Rule},
    project::Entry,
};

/// The files of a Go project, by path.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The Go code that is neither a test, generated nor vendored.
    pub code: BTreeMap<String, Code>,
    /// The tests, apart from those that kubebuilder scaffolds to start the others.
    tests: Vec<String>,
    /// The texts of the other files: manifests, `go.mod`.
    pub texts: BTreeMap<String, String>,
    /// The webhooks of the manifest that controller-gen writes, or a person.
    manifested: Vec<Admission>,
}

/// The manifest of the manager.
pub const MANAGER: &str = "config/manager/manager.yaml";

/// The manifest with the configurations of the webhooks.
const MANIFEST: &str = "config/webhook/manifests.yaml";

/// The files in `config/` that kubebuilder and operator-sdk scaffold, by directory; `*` is any word.
const SCAFFOLDED: [(&str, &[&str]); 11] = [
    ("", &["kustomization"]),
    ("certmanager", &["*"]),
    ("crd", &["kustomization", "kustomizeconfig"]),
    ("crd/patches", &["webhook_in_*", "cainjection_in_*"]),
    (
        "default",
        &[
            "kustomization",
            "cert_metrics_manager_patch",
            "manager_auth_proxy_patch",
            "manager_config_patch",
            "manager_metrics_patch",
            "manager_webhook_patch",
            "metrics_service",
            "webhookcainjection_patch",
        ],
    ),
    (
        "manager",
        &["kustomization", "manager", "controller_manager_config"],
    ),
    (
        "network-policy",
        &[
            "kustomization",
            "allow-metrics-traffic",
            "allow-webhook-traffic",
        ],
    ),
    (
        "prometheus",
        &["kustomization", "monitor", "monitor_tls_patch"],
    ),
    (
        "rbac",
        &[
            "kustomization",
            "auth_proxy_*",
            "leader_election_role",
            "leader_election_role_binding",
            "metrics_auth_role",
            "metrics_auth_role_binding",
            "metrics_reader_role",
            "role",
            "role_binding",
            "service_account",
            "*_admin_role",
            "*_editor_role",
            "*_viewer_role",
        ],
    ),
    ("samples", &["*"]),
    (
        "webhook",
        &["kustomization", "kustomizeconfig", "manifests", "service"],
    ),
];

/// Directories of `config/` whose content is generated, or is that of a tool which operator-forge does not serve.
const ELSEWHERE: [&str; 3] = ["crd/bases/", "manifests/", "scorecard/"];

/// The arguments that kubebuilder gives the manager.
const ARGUMENTS: [&str; 6] = [
    "--leader-elect",
    "--enable-leader-election",
    "--health-probe-bind-address",
    "--metrics-bind-address",
    "--metrics-secure",
    "--secure-metrics",
];

/// The flags that the manager has, or that have no meaning for it: of kubebuilder's `main.go`, in all its releases, and of
/// controller-runtime.
const OF_MANAGER: [&str; 29] = [
    "cert-dir",
    "config",
    "enable-http2",
    "enable-leader-election",
    "enable-webhooks",
    "health-addr",
    "health-probe-addr",
    "health-probe-bind-address",
    "kubeconfig",
    "leader-elect",
    "leader-elect-lease-duration",
    "leader-elect-renew-deadline",
    "leader-elect-resource-namespace",
    "leader-elect-retry-period",
    "leader-election",
    "max-concurrent-reconciles",
    "metrics-addr",
    "metrics-bind-address",
    "metrics-cert-key",
    "metrics-cert-name",
    "metrics-cert-path",
    "metrics-secure",
    "sync-period",
    "watch-namespace",
    "webhook-cert-dir",
    "webhook-cert-key",
    "webhook-cert-name",
    "webhook-cert-path",
    "webhook-port",
];

impl Files {
    /// The files with these texts.
    pub fn read(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut files = Self::default();
        for (path, text) in texts {
            if !path.ends_with(".go") {
                files.texts.insert(path, text);
            } else if is_test(&path) {
                files.tests.push(path);
            } else if is_code(&path) {
                let code = Code::read(&text);
                if !code.is_generated {
                    files.code.insert(path, code);
                }
            }
        }
        if let Some(text) = files.texts.get(MANIFEST) {
            files.manifested = Admission::of_manifest(text);
        }
        files
    }

    /// The files that may be a controller: that of its kind or name, or else every one that reconciles the kind. Of several, none is
    /// known to be a controller with a name.
    pub fn controllers(&self, entry: &Entry, name: Option<&str>) -> Vec<&str> {
        let stem = match name {
            Some(name) => name.replace('-', "_"),
            None => entry.kind.to_lowercase(),
        };
        if let Some(by_name) = self.nearest(&format!("{stem}_controller.go"), entry) {
            return vec![by_name];
        }
        let builds = |code: &Code| name.is_none() && code.built.primary.contains(&entry.kind);
        self.with(builds).collect()
    }

    /// The file with the admission webhooks of an entry.
    pub fn webhook(&self, entry: &Entry) -> Option<&str> {
        self.nearest(&format!("{}_webhook.go", entry.kind.to_lowercase()), entry)
    }

    /// The file with the conversion of an entry's version.
    pub fn conversion(&self, entry: &Entry) -> Option<&str> {
        let is_of_version = |path: &&str| has_directory(path, &entry.version);
        let mut converting = self.with(|code| code.spokes.contains(&entry.kind));
        converting.find(is_of_version).or_else(|| {
            let name = format!("{}_conversion.go", entry.kind.to_lowercase());
            self.nearest(&name, entry).filter(is_of_version)
        })
    }

    /// The file that makes an entry's version the hub of its kind.
    pub fn hub(&self, entry: &Entry) -> Option<&str> {
        let mut hubs = self.with(|code| code.hubs.contains(&entry.kind));
        hubs.find(|path| has_directory(path, &entry.version))
    }

    /// The first file that registers a type.
    pub fn registering(&self, kind: &str) -> Option<&str> {
        self.with(|code| code.registered.contains(kind)).next()
    }

    /// Whether the code registers a type, or has a controller for it.
    pub fn knows(&self, kind: &str) -> bool {
        let is_known = |it: &Code| it.registered.contains(kind) || it.built.primary.contains(kind);
        self.with(is_known).next().is_some()
    }

    /// The manifest of the manager that is an object of a kind.
    pub fn configuring(&self, kind: &str) -> Option<&str> {
        let mut texts = self.texts.iter();
        let found = texts.find(|(path, text)| {
            path.starts_with("config/manager/")
                && text.lines().any(|line| {
                    line.strip_prefix("kind:")
                        .is_some_and(|it| it.trim() == kind)
                })
        });
        found.map(|(path, _)| path.as_str())
    }

    /// The markers for admission webhooks, each with its file; and the webhooks of a manifest, if no marker has their paths.
    pub fn admissions(&self) -> impl Iterator<Item = (&str, &Admission)> {
        let of_code = self.code.iter().flat_map(|(path, code)| {
            let admissions = code.admissions.iter();
            admissions.map(move |it| (path.as_str(), it))
        });
        let is_new = |it: &&Admission| {
            let mut all = self.code.values().flat_map(|code| &code.admissions);
            !all.any(|marker| marker.values("path") == it.values("path"))
        };
        let of_manifest = self.manifested.iter().filter(is_new);
        of_code.chain(of_manifest.map(|it| (MANIFEST, it)))
    }

    /// The files with a property.
    pub fn with(&self, has: impl Fn(&Code) -> bool) -> impl Iterator<Item = &str> {
        let files = self.code.iter().filter(move |(_, code)| has(code));
        files.map(|(path, _)| path.as_str())
    }

    /// The file with this name whose directories are most like the group and the version of an entry.
    fn nearest(&self, name: &str, entry: &Entry) -> Option<&str> {
        let is = |path: &&str| path.rsplit('/').next() == Some(name);
        let score = |path: &&str| {
            let parts = [&entry.version, &entry.group];
            parts.map(|part| has_directory(path, part))
        };
        // Of several with the same score, the first is taken.
        let paths: Vec<_> = self.with(|_| true).filter(is).collect();
        paths.into_iter().rev().max_by_key(score)
    }

    /// The code that kubebuilder does not scaffold and that is not one of the `known` files, by directory.
    pub fn others(&self, known: &BTreeSet<&str>) -> BTreeMap<&str, Vec<&str>> {
        let is_scaffolded = |path: &str, code: &Code| match parts(path).1 {
            "main.go" => is_main(path),
            "groupversion_info.go" | "doc.go" => true,
            // A type is in its CRD; only its methods are code.
            file if file.ends_with("_types.go") => !code.has_methods,
            _ => false,
        };
        let unknown = self
            .code
            .iter()
            .filter(|(path, code)| !known.contains(path.as_str()) && !is_scaffolded(path, code));
        by_directory(unknown.map(|(path, _)| path))
    }

    /// The tests, by directory.
    pub fn tests(&self) -> BTreeMap<&str, Vec<&str>> {
        by_directory(&self.tests)
    }

    /// The markers for RBAC in a file.
    pub fn rules(&self, path: &str) -> &[Rule] {
        self.code.get(path).map_or(&[], |code| &code.rules)
    }

    /// The flags of the program, each with its file.
    pub fn flags(&self) -> Vec<(&str, &str)> {
        let flags = self.code.iter().flat_map(|(path, code)| {
            let flags = code.flags.iter();
            flags.map(move |flag| (flag.as_str(), path.as_str()))
        });
        flags
            .filter(|(flag, _)| !OF_MANAGER.contains(flag))
            .collect()
    }

    /// The files in `config/` that kubebuilder does not scaffold.
    pub fn manifests(&self) -> Vec<&str> {
        let in_config = |path: &&String| {
            let Some(path) = path.strip_prefix("config/") else {
                return false;
            };
            let (directory, file) = parts(path);
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            let row = SCAFFOLDED.iter().find(|(of, _)| *of == directory);
            let names = row.map_or(&[][..], |(_, names)| names);
            !names.iter().any(|name| is_like(stem, name))
                && !ELSEWHERE.iter().any(|start| path.starts_with(start))
        };
        self.texts
            .keys()
            .filter(in_config)
            .map(String::as_str)
            .collect()
    }

    /// The arguments and environment variables of the manager that kubebuilder does not set.
    pub fn settings(&self) -> Vec<String> {
        let mut settings = Vec::new();
        for container in &self.containers() {
            for argument in list(container, "args") {
                let argument = argument.as_str().unwrap_or_default();
                let flag = argument.split('=').next().unwrap_or_default();
                // The library of logs has flags of its own.
                if !ARGUMENTS.contains(&flag) && !flag.starts_with("--zap-") {
                    settings.push(format!("argument `{argument}`"));
                }
            }
            for variable in list(container, "env") {
                let name = variable.get("name").and_then(Value::as_str);
                let name = name.filter(|name| *name != "WATCH_NAMESPACE");
                settings.extend(name.map(|name| format!("environment variable `{name}`")));
            }
        }
        settings
    }

    /// The name of the manager's binary, if its manifest names one.
    pub fn binary(&self) -> Option<String> {
        let command = self.containers().first().map(|it| list(it, "command"))?;
        let path = command.first()?.as_str()?;
        path.rsplit('/').next().map(str::to_owned)
    }

    /// The containers of the manager.
    fn containers(&self) -> Vec<Value> {
        let text = self.texts.get(MANAGER);
        let documents: Vec<Value> = text
            .and_then(|text| yaml::documents(text).ok())
            .unwrap_or_default();
        let pods = documents
            .iter()
            .filter_map(|it| it.get("spec")?.get("template")?.get("spec"));
        pods.flat_map(|pod| list(pod, "containers")).collect()
    }

    /// Whether cert-manager makes the certificate of the webhooks.
    pub fn uses_cert_manager(&self) -> bool {
        let text = self.texts.get("config/default/kustomization.yaml");
        let value: Option<Value> = text.and_then(|text| yaml::read(text).ok());
        let resources = value.as_ref().and_then(|it| it.get("resources"));
        let mut resources = resources.and_then(Value::as_sequence).into_iter().flatten();
        resources.any(|it| it.as_str() == Some("../certmanager"))
    }
}

/// A list in an object of YAML.
fn list(value: &Value, key: &str) -> Vec<Value> {
    let list = value.get(key).and_then(Value::as_sequence);
    list.cloned().unwrap_or_default()
}

/// The directory and the name of a file.
fn parts(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn by_directory<'a>(
    paths: impl IntoIterator<Item = &'a String>,
) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut files: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for path in paths {
        let (directory, file) = parts(path);
        files.entry(directory).or_default().push(file);
    }
    files
}

/// Whether a file of Go is a test, and not of a tool.
fn is_test(path: &str) -> bool {
    let top = path.split_once('/').map_or("", |(top, _)| top);
    let is_scaffolded = path.ends_with("suite_test.go");
    path.ends_with("_test.go") && !is_scaffolded && !["hack", "vendor"].contains(&top)
}

/// Whether a file of Go is neither a test nor of a tool.
fn is_code(path: &str) -> bool {
    let top = path.split_once('/').map_or("", |(top, _)| top);
    !path.ends_with("_test.go") && !["bin", "hack", "test", "vendor"].contains(&top)
}

/// The flag of operator-runtime's manager that does what a flag with another name often does.
pub fn renamed(flag: &str) -> Option<&'static str> {
    Some(match flag {
        "concurrency" | "concurrent-reconciles" | "workers" => "max-concurrent-reconciles",
        "namespace" | "namespaces" | "watch-namespaces" => "watch-namespace",
        "leader-election-id" => "leader-elect-resource-name",
        "leader-election-namespace" => "leader-elect-resource-namespace",
        "resync-period" | "resync-interval" => "sync-period",
        _ => return None,
    })
}

/// Whether a file is the program's, where kubebuilder has it.
pub fn is_main(path: &str) -> bool {
    ["main.go", "cmd/main.go"].contains(&path)
}

/// Whether `word` is like a name with at most one `*`.
fn is_like(word: &str, name: &str) -> bool {
    match name.split_once('*') {
        Some((start, end)) => {
            let inner = word.strip_prefix(start);
            inner.is_some_and(|inner| inner.ends_with(end))
        }
        None => word == name,
    }
}

/// Whether one of the directories of a path is called so.
fn has_directory(path: &str, name: &str) -> bool {
    let mut directories: Vec<_> = path.split('/').collect();
    directories.pop();
    directories.contains(&name)
}
