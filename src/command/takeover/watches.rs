//! `watches.yaml` of a Helm operator or of an Ansible operator.

use std::collections::BTreeMap;

use guarded_yaml as yaml;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use serde_yaml::{Mapping, Value};

use super::selector::Selector;
use crate::name::kubernetes;

/// An entry: a kind, and the chart, role or playbook of its objects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Watch {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The path of the chart; empty in an Ansible operator.
    pub chart: String,
    /// The role: a path, a name, or that of a role of a collection.
    pub role: Option<String>,
    /// The path of the playbook, which wins over a role.
    pub playbook: Option<String>,
    /// Variables that win over the spec.
    pub vars: Option<Map<String, Json>>,
    /// What runs before an object is deleted.
    pub finalizer: Option<AnsibleFinalizer>,
    /// Whether the operator writes conditions.
    pub manage_status: Option<bool>,
    /// Whether what a run creates is watched where it is in no namespace.
    pub watch_cluster_scoped_resources: Option<bool>,
    /// Whether a change of an annotation causes a run.
    pub watch_annotations_changes: Option<bool>,
    /// Whether the fields of the spec are variables in snake case.
    pub snake_case_parameters: Option<bool>,
    /// Whether templates in an object are text.
    pub mark_unsafe: Option<bool>,
    /// How many records of runs stay on disk.
    pub max_runner_artifacts: Option<Value>,
    /// Kinds that are not watched.
    pub blacklist: Vec<Blocked>,
    /// Texts that win over the values of an object, by path.
    pub override_values: Option<BTreeMap<String, Option<String>>>,
    /// The labels of the objects.
    pub selector: Option<Selector>,
    /// Whether what a release has is watched.
    pub watch_dependent_resources: Option<bool>,
    /// `server`, where `lookup` asks the API server.
    pub dry_run_option: Option<String>,
    /// How often an object is reconciled without a change.
    pub reconcile_period: Option<Value>,
    /// How many objects are reconciled at a time.
    pub max_concurrent_reconciles: Option<Value>,
    /// Other fields.
    #[serde(flatten)]
    unknown: Mapping,
}

/// What runs before an object is deleted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a finalizer with a name")]
pub struct AnsibleFinalizer {
    /// Its name.
    pub name: String,
    /// Another role than that of the entry.
    pub role: Option<String>,
    /// Another playbook.
    pub playbook: Option<String>,
    /// Variables.
    pub vars: Option<Map<String, Json>>,
}

/// A kind of objects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a group, a version and a kind")]
pub struct Blocked {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

/// Why a file is not taken.
#[derive(Debug)]
pub enum Fault {
    /// It is no YAML, or a field has the wrong type.
    Yaml(yaml::Error),
    /// It has charts, and roles or playbooks.
    Mixed,
    /// An entry, counted from 1, lacks a field.
    Missing(usize, &'static str),
    /// Two entries, counted from 1, are of one kind.
    Twice(usize, usize, String),
    /// It has no entry.
    Empty,
}

impl Watch {
    /// `cache.example.com/v1, Kind Memcached`, or `v1, Kind Secret`.
    pub fn title(&self) -> String {
        let (version, kind) = (&self.version, &self.kind);
        match &*self.group {
            "" => format!("{version}, Kind {kind}"),
            group => format!("{group}/{version}, Kind {kind}"),
        }
    }

    /// Whether a role or playbook runs for the objects of a kind of Kubernetes. A chart always has a kind of its own.
    pub fn is_foreign(&self) -> bool {
        let named = (self.version.parse(), self.kind.parse());
        let (Ok(version), Ok(kind)) = named else {
            return false;
        };
        let group = match &*self.group {
            "" => CORE,
            group => group,
        };
        self.is_ansible() && kubernetes::find(group, version, &kind).is_some()
    }

    /// Whether a role or a playbook runs for its objects.
    pub fn is_ansible(&self) -> bool {
        self.role.is_some() || self.playbook.is_some()
    }

    /// The names of the fields that operator-sdk does not know.
    pub fn unknown(&self) -> Vec<String> {
        let name = |key: &Value| match key {
            Value::String(name) => name.clone(),
            other => yaml::scalar(&format!("{other:?}")),
        };
        self.unknown.keys().map(name).collect()
    }
}

/// What `PROJECT` calls the group without a name.
pub const CORE: &str = "core";

/// What an entry has one of.
const RECIPE: &str = "chart`, `role` or `playbook";

/// Reads the entries of a file.
pub fn read(text: &str) -> Result<Vec<Watch>, Fault> {
    let watches: Option<Vec<Watch>> = yaml::read(text).map_err(Fault::Yaml)?;
    let watches = watches.filter(|all| !all.is_empty()).ok_or(Fault::Empty)?;
    for (at, watch) in watches.iter().enumerate() {
        for (field, text) in [
            ("version", &watch.version),
            ("kind", &watch.kind),
            (RECIPE, &watch.chart),
        ] {
            if text.is_empty() && !(field == RECIPE && watch.is_ansible()) {
                return Err(Fault::Missing(at + 1, field));
            }
        }
        if watch.is_ansible() != watches[0].is_ansible()
            || watch.is_ansible() && !watch.chart.is_empty()
        {
            return Err(Fault::Mixed);
        }
        if watch
            .finalizer
            .as_ref()
            .is_some_and(|it| it.name.is_empty())
        {
            return Err(Fault::Missing(at + 1, "finalizer.name"));
        }
        let same = |other: &Watch| other.title() == watch.title();
        if let Some(first) = watches[..at].iter().position(same) {
            return Err(Fault::Twice(first + 1, at + 1, watch.title()));
        }
    }
    Ok(watches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_strictly() {
        let entry = "- {group: a.b, version: v1, kind: C, chart: d";
        let [watch] = &read(&format!("{entry}, odd: 1, overrideValues: }}\n")).unwrap()[..] else {
            panic!("one entry");
        };
        assert_eq!(watch.title(), "a.b/v1, Kind C");
        assert_eq!(watch.unknown(), ["odd"]);
        for (text, expected) in [
            ("", "Empty"),
            ("[]", "Empty"),
            ("a: b", "Yaml("),
            (
                "- {version: v1, kind: C}",
                "Missing(1, \"chart`, `role` or `playbook\")",
            ),
            ("- {version: v1, chart: C}", "Missing(1, \"kind\")"),
            ("- {kind: C, role: r}", "Missing(1, \"version\")"),
            (
                &format!("{entry}}}\n- {{version: v1, kind: E, role: r}}\n"),
                "Mixed",
            ),
            (
                &format!("{entry}}}\n{entry}}}\n"),
                "Twice(1, 2, \"a.b/v1, Kind C\")",
            ),
        ] {
            let fault = format!("{:?}", read(text).unwrap_err());
            assert!(fault.starts_with(expected), "{text}: {fault}");
        }
    }
}
