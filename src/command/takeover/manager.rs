//! The container of the former operator: its environment, of which the manifest of the manager here gets a part, and its arguments.

use std::collections::{BTreeMap, BTreeSet};

use guarded_yaml as yaml;
use serde_yaml::Value;

/// The variable with the watched namespaces.
pub const NAMESPACES: &str = "WATCH_NAMESPACE";

/// The container beside that of the operator, in projects of some years ago.
const PROXY: &str = "kube-rbac-proxy";

/// The variable that the environment in the manifest here ends with, before those that follow from the project.
const LAST: &str = "            - name: RUST_LIB_BACKTRACE\n              value: \"0\"\n";

/// The container of the former operator, from its Deployment and the patches of it.
#[derive(Debug, Default)]
pub struct Container {
    /// The entries of its environment, by name.
    pub variables: BTreeMap<String, Value>,
    /// Whether it also gets all variables of a ConfigMap or a Secret.
    pub has_sources: bool,
    arguments: Vec<String>,
}

/// The namespaces that an operator watches.
#[derive(Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// Its own.
    Own,
    /// These.
    These(Vec<String>),
    /// Not known before it runs: OLM says it, for example.
    Unknown,
}

impl Container {
    /// The container in the manifests with these texts.
    pub fn read(texts: impl IntoIterator<Item = String>) -> Self {
        let mut container = Self::default();
        for text in texts {
            let documents: Vec<Value> = yaml::documents(&text).unwrap_or_default();
            for document in documents {
                container.add(&document);
            }
        }
        container
    }

    fn add(&mut self, document: &Value) {
        let pod = || document.get("spec")?.get("template")?.get("spec");
        let list = |value: &Value, key: &str| {
            let list = value.get(key).and_then(Value::as_sequence);
            list.cloned().unwrap_or_default()
        };
        let Some(pod) = pod() else { return };
        for container in list(pod, "containers") {
            if container.get("name").and_then(Value::as_str) == Some(PROXY) {
                continue;
            }
            for entry in list(&container, "env") {
                if let Some(name) = entry.get("name").and_then(Value::as_str) {
                    self.variables
                        .entry(name.to_owned())
                        .or_insert(entry.clone());
                }
            }
            self.has_sources |= !list(&container, "envFrom").is_empty();
            for argument in list(&container, "args") {
                let argument = argument.as_str().map(str::to_owned);
                let is_new = |it: &String| !self.arguments.contains(it);
                self.arguments.extend(argument.filter(is_new));
            }
        }
    }

    /// The variables that tasks of Ansible may read: all but those that this operator has in another way.
    pub fn for_tasks(&self) -> BTreeSet<String> {
        let ours = [
            NAMESPACES,
            "ANSIBLE_GATHERING",
            "OPERATOR_NAME",
            "POD_NAME",
            "POD_NAMESPACE",
        ];
        let names = self.variables.keys();
        names
            .filter(|it| !ours.contains(&it.as_str()))
            .cloned()
            .collect()
    }

    /// The entries of these variables, and of those that their values name, by name.
    pub fn entries(&self, names: &BTreeSet<String>) -> BTreeMap<String, Value> {
        let mut entries = BTreeMap::new();
        let mut wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        while let Some(name) = wanted.pop() {
            let Some((name, entry)) = self.variables.get_key_value(name) else {
                continue;
            };
            if entries.insert(name.clone(), entry.clone()).is_none() {
                // Kubernetes replaces `$(NAME)`.
                let value = entry.get("value").and_then(Value::as_str);
                let parts = value.unwrap_or_default().split("$(").skip(1);
                wanted.extend(parts.filter_map(|part| Some(part.split_once(')')?.0)));
            }
        }
        entries
    }

    /// The namespaces that it watches; `None` for all.
    pub fn namespaces(&self) -> Option<Namespaces> {
        let entry = self.variables.get(NAMESPACES)?;
        let value = entry.get("value").and_then(Value::as_str);
        let field = || entry.get("valueFrom")?.get("fieldRef")?.get("fieldPath");
        match (value, field().and_then(Value::as_str)) {
            (Some(value), _) if value.contains('$') => Some(Namespaces::Unknown),
            (Some(value), _) => {
                let names = value.split(',').map(|name| name.trim().to_owned());
                let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
                (!names.is_empty()).then_some(Namespaces::These(names))
            }
            (None, Some("metadata.namespace")) => Some(Namespaces::Own),
            (None, Some(_)) => Some(Namespaces::Unknown),
            (None, None) if entry.get("valueFrom").is_some() => Some(Namespaces::Unknown),
            (None, None) => None,
        }
    }

    /// A sentence for each argument that means something here, or that has no counterpart.
    pub fn arguments(&self, is_ansible: bool) -> Vec<String> {
        let sentence = |argument: &String| {
            let of_ansible = || of_ansible(argument).filter(|_| is_ansible);
            let meaning = of_ansible().or_else(|| meaning(argument))?;
            Some(format!("the argument `{argument}`: {meaning}"))
        };
        self.arguments.iter().filter_map(sentence).collect()
    }
}

/// What an argument of an Ansible operator means here, if a Helm operator does not have it or means something else.
fn of_ansible(argument: &str) -> Option<String> {
    let bare = argument.trim_start_matches('-');
    let (flag, _) = bare.split_once('=').unwrap_or((bare, ""));
    Some(match flag {
        "reconcile-period" | "ansible-verbosity" | "ansible-log-events" | "ansible-roles-path" | "ansible-collections-path"
        | "inject-owner-ref" => "the operator has this flag: add it to `args` in `config/manager/manager.yaml`".to_owned(),
        "ansible-args" => "`AnsibleOptions::environment` in `src/context.rs` sets what Ansible takes from its environment".to_owned(),
        "proxy-port" => "the proxy has a free port of its own".to_owned(),
        "watches-file" => "the controllers have what `watches.yaml` says".to_owned(),
        _ => return None,
    })
}

/// What an argument of operator-sdk means here; `None` if it is the default of this operator.
fn meaning(argument: &str) -> Option<String> {
    let bare = argument.trim_start_matches('-');
    let (flag, value) = bare.split_once('=').unwrap_or((bare, ""));
    let same = || {
        "the manager has this flag: set it in `args` in `config/manager/manager.yaml`".to_owned()
    };
    Some(match (flag, value) {
        ("leader-elect" | "enable-leader-election", "" | "true")
        | ("metrics-secure", "" | "true")
        | ("metrics-bind-address" | "metrics-addr", ":8443" | "0.0.0.0:8443")
        // The proxy in front of it served 8443.
        | ("metrics-bind-address" | "metrics-addr", ":8080" | "127.0.0.1:8080")
        | ("health-probe-bind-address", ":8081")
        | ("metrics-require-rbac" | "enable-http2", _) => return None,
        ("leader-elect" | "enable-leader-election", _) => {
            "without leader election, remove `--leader-elect` from `config/manager/manager.yaml`".to_owned()
        }
        ("metrics-addr", _) => "the manager has `--metrics-bind-address`".to_owned(),
        ("metrics-secure" | "metrics-bind-address" | "health-probe-bind-address" | "max-concurrent-reconciles", _) => same(),
        ("leader-election-id", id) => format!(
            "this operator has a Lease of its own; with `--leader-elect-resource-name={id}`, and the same name in \
             `config/rbac/leader_election_role.yaml`, it never works while the former one leads"
        ),
        ("leader-election-namespace", namespace) => {
            format!("the manager has `--leader-elect-resource-namespace={namespace}`")
        }
        ("reconcile-period", _) => {
            "drift needs no period; the annotation `helm.sdk.operatorframework.io/reconcile-period` of an object sets one"
                .to_owned()
        }
        ("suppress-override-values", _) => "events here have no values".to_owned(),
        ("watches-file", _) => "the charts are compiled into this operator".to_owned(),
        (flag, _) if flag.starts_with("zap-") => {
            "logs: the variable `RUST_LOG` has the level, and the flag `--log-format` the format".to_owned()
        }
        _ => "it has no counterpart".to_owned(),
    })
}

/// The manifest of the manager with these entries of its environment, in the place of those with the same names. `None` if it has no
/// place for them.
pub fn with_entries(manifest: &str, entries: &BTreeMap<String, Value>) -> Option<String> {
    let mut text = manifest.to_owned();
    let mut added = String::new();
    for (name, entry) in entries {
        let lines: String = lines(entry).iter().map(indented).collect();
        let start = format!("            - name: {name}\n");
        match text.find(&start) {
            Some(at) => {
                let is_inner = |line: &&str| line.starts_with("              ");
                let rest = text[at + start.len()..].split_inclusive('\n');
                let length: usize = rest.take_while(is_inner).map(str::len).sum();
                text.replace_range(at..at + start.len() + length, &lines);
            }
            None => added += &lines,
        }
    }
    if !added.is_empty() {
        let at = text.find(LAST)? + LAST.len();
        text.insert_str(
            at,
            &format!("            # As the operator before this one had them.\n{added}"),
        );
    }
    Some(text)
}

/// An entry of a list, as lines of YAML.
pub fn lines(entry: &Value) -> Vec<String> {
    let text = yaml::lines(entry);
    let lines = text.trim_end().lines().enumerate();
    let lines = lines.map(|(at, line)| match at {
        0 => format!("- {line}"),
        _ => format!("  {line}"),
    });
    lines.collect()
}

fn indented(line: &String) -> String {
    format!("            {line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(fields: &str) -> Container {
        let text = format!(
            "kind: Deployment\nspec: {{template: {{spec: {{containers: [{{name: {PROXY}, args: [--x]}}, {{name: manager, {fields}}}]}}}}}}\n"
        );
        Container::read([text, "a: [".to_owned(), "- b\n".to_owned()])
    }

    #[test]
    fn the_watched_namespaces_are_those_of_the_variable() {
        let these = |names: &[&str]| {
            Some(Namespaces::These(
                names.iter().map(|&it| it.to_owned()).collect(),
            ))
        };
        for (entry, expected) in [
            ("value: 'a, b,'", these(&["a", "b"])),
            ("value: ''", None),
            ("value: $(OTHER)", Some(Namespaces::Unknown)),
            (
                "valueFrom: {fieldRef: {fieldPath: metadata.namespace}}",
                Some(Namespaces::Own),
            ),
            (
                "valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['olm.targetNamespaces']\"}}",
                Some(Namespaces::Unknown),
            ),
            (
                "valueFrom: {configMapKeyRef: {name: a, key: b}}",
                Some(Namespaces::Unknown),
            ),
        ] {
            let found = container(&format!("env: [{{name: {NAMESPACES}, {entry}}}]"));
            assert_eq!(found.namespaces(), expected, "{entry}");
        }
        assert_eq!(container("env: []").namespaces(), None);
    }

    #[test]
    fn entries_bring_those_that_they_name() {
        let found = container("env: [{name: A, value: '$(B)/$(C)'}, {name: B, value: '$(A)'}]");
        let entries = found.entries(&["A".to_owned(), "D".to_owned()].into());
        let names: Vec<_> = entries.keys().map(String::as_str).collect();
        assert_eq!(names, ["A", "B"]);
    }

    #[test]
    fn arguments_have_a_meaning_here() {
        let found = container(
            "args: [--leader-elect, --leader-election-id=a, --health-probe-bind-address=:8081, --metrics-bind-address=:9090, \
             --zap-log-level=debug, --odd, --odd]",
        );
        let all = found.arguments(false);
        let [id, metrics, logs, odd] = &all[..] else {
            panic!("{all:?}");
        };
        assert!(id.contains("`--leader-elect-resource-name=a`"), "{id}");
        assert!(metrics.contains("the manager has this flag"), "{metrics}");
        assert!(logs.contains("`RUST_LOG`"), "{logs}");
        assert!(odd.contains("no counterpart"), "{odd}");
    }

    #[test]
    fn entries_are_added_or_replaced() {
        let found = container(
            "env: [{name: A, value: 'yes'}, {name: B, valueFrom: {secretKeyRef: {name: a, key: b}}}]",
        );
        let entries = found.entries(&["A".to_owned(), "B".to_owned()].into());
        let before = format!(
            "{LAST}            - name: B\n              valueFrom:\n                a: b\n          ports: []\n"
        );
        let after = with_entries(&before, &entries).unwrap();
        let expected = format!(
            "{LAST}            # As the operator before this one had them.\n            - name: A\n              value: \"yes\"\n            \
             - name: B\n              valueFrom:\n                secretKeyRef:\n                  name: a\n                  key: b\n          \
             ports: []\n"
        );
        assert_eq!(after, expected);
        assert_eq!(with_entries("", &entries), None);
    }
}
