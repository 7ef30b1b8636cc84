//! The files of a Go project, and which of them kubebuilder scaffolds.

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::Value;

use super::{Entry, code};
use crate::yaml;

/// The texts of the files, by path in the project: Go code, and the YAML in `config/`.
#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<String, String>);

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

impl Files {
    /// The file of a controller: that of the kind, or of a controller with a name.
    pub fn controller(&self, entry: &Entry, name: Option<&str>) -> Option<&str> {
        let stem = match name {
            Some(name) => name.replace('-', "_"),
            None => entry.kind.to_lowercase(),
        };
        let by_name = self.nearest(&format!("{stem}_controller.go"), entry);
        by_name.or_else(|| {
            let watches = |text: &str| code::built(text, "For").contains(entry.kind.as_str());
            let mut all = self.code().filter(|(_, text)| watches(text));
            let first = all.next().map(|(path, _)| path);
            // Of several, none is known to be this one.
            first.filter(|_| name.is_none() && all.next().is_none())
        })
    }

    /// The file with the admission webhooks of an entry.
    pub fn webhook(&self, entry: &Entry) -> Option<&str> {
        self.nearest(&format!("{}_webhook.go", entry.kind.to_lowercase()), entry)
    }

    /// The file with the conversion of an entry's version.
    pub fn conversion(&self, entry: &Entry) -> Option<&str> {
        let name = format!("{}_conversion.go", entry.kind.to_lowercase());
        let path = self.nearest(&name, entry)?;
        has_directory(path, &entry.version).then_some(path)
    }

    /// The file with this name whose directories are most like the group and the version of an entry.
    fn nearest(&self, name: &str, entry: &Entry) -> Option<&str> {
        let is = |path: &&str| path.rsplit('/').next() == Some(name);
        let score = |path: &&str| {
            let parts = [&entry.version, &entry.group];
            parts.map(|part| has_directory(path, part))
        };
        // Of several with the same score, the first is taken.
        let paths: Vec<_> = self.code().map(|(path, _)| path).filter(is).collect();
        paths.into_iter().rev().max_by_key(score)
    }

    /// The Go code that is neither a test, generated nor vendored.
    fn code(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_code = |path: &str| {
            let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
            let top = directory.split('/').next().unwrap_or_default();
            file.ends_with(".go")
                && !file.ends_with("_test.go")
                && !["bin", "hack", "test", "vendor"].contains(&top)
        };
        let files = self.0.iter();
        let files = files.filter(move |(path, text)| is_code(path) && !is_generated(text));
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The code that kubebuilder does not scaffold and that is not one of the `known` files, by directory.
    pub fn others(&self, known: &BTreeSet<&str>) -> BTreeMap<&str, Vec<&str>> {
        let mut others: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (path, text) in self.code().filter(|(path, _)| !known.contains(path)) {
            let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
            let is_scaffolded = match file {
                "main.go" => ["", "cmd"].contains(&directory),
                "groupversion_info.go" | "doc.go" => true,
                // A type is in its CRD; only its methods are code.
                _ if file.ends_with("_types.go") => !text.contains("\nfunc ("),
                _ => false,
            };
            if !is_scaffolded {
                others.entry(directory).or_default().push(file);
            }
        }
        others
    }

    /// The markers for RBAC in code that is not one of the `known` files.
    pub fn other_rules(&self, known: &BTreeSet<&str>) -> Vec<(&str, code::Rule)> {
        let files = self.code().filter(|(path, _)| !known.contains(path));
        let rules = files.flat_map(|(path, text)| {
            let rules = code::rules(text).into_iter();
            rules.map(move |rule| (path, rule))
        });
        rules.collect()
    }

    /// The flags of the program, each with its file.
    pub fn flags(&self) -> Vec<(&str, &str)> {
        let files = self.code();
        let flags = files.flat_map(|(path, text)| {
            let flags = code::flags(text).into_iter();
            flags.map(move |flag| (flag, path))
        });
        flags.collect()
    }

    /// The files in `config/` that kubebuilder does not scaffold.
    pub fn manifests(&self) -> Vec<&str> {
        let in_config = |path: &&String| {
            let Some(path) = path.strip_prefix("config/") else {
                return false;
            };
            let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            let row = SCAFFOLDED.iter().find(|(of, _)| *of == directory);
            let names = row.map_or(&[][..], |(_, names)| names);
            !names.iter().any(|name| is_like(stem, name))
                && !ELSEWHERE.iter().any(|start| path.starts_with(start))
        };
        self.0
            .keys()
            .filter(in_config)
            .map(String::as_str)
            .collect()
    }

    /// The arguments and environment variables of the manager that kubebuilder does not set.
    pub fn settings(&self) -> Vec<String> {
        let texts = self.0.get("config/manager/manager.yaml");
        let documents: Vec<Value> = texts
            .and_then(|text| yaml::documents(text).ok())
            .unwrap_or_default();
        let list = |value: &Value, key: &str| -> Vec<Value> {
            let list = value.get(key).and_then(Value::as_sequence);
            list.cloned().unwrap_or_default()
        };
        let pods = documents
            .iter()
            .filter_map(|it| it.get("spec")?.get("template")?.get("spec"));
        let containers: Vec<Value> = pods.flat_map(|pod| list(pod, "containers")).collect();
        let mut settings = Vec::new();
        for container in &containers {
            for argument in list(container, "args") {
                let argument = argument.as_str().unwrap_or_default();
                let flag = argument.split('=').next().unwrap_or_default();
                if !ARGUMENTS.contains(&flag) {
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

    /// Whether cert-manager makes the certificate of the webhooks.
    pub fn uses_cert_manager(&self) -> bool {
        let text = self.0.get("config/default/kustomization.yaml");
        let value: Option<Value> = text.and_then(|text| yaml::read(text).ok());
        let resources = value.as_ref().and_then(|it| it.get("resources"));
        let mut resources = resources.and_then(Value::as_sequence).into_iter().flatten();
        resources.any(|it| it.as_str() == Some("../certmanager"))
    }
}

/// Whether Go code says that a program wrote it.
fn is_generated(text: &str) -> bool {
    let mut lines = text.lines().take(40);
    lines.any(|line| line.starts_with("// Code generated ") && line.ends_with(" DO NOT EDIT."))
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
