//! `watches.yaml` of a Helm operator.

use std::collections::BTreeMap;

use guarded_yaml as yaml;
use serde::Deserialize;
use serde_yaml::{Mapping, Value};

use super::selector::Selector;

/// An entry: a kind, and the chart of its objects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Watch {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The path of the chart.
    pub chart: String,
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
    /// What makes an operator one of Ansible.
    role: Option<Value>,
    playbook: Option<Value>,
    /// Other fields.
    #[serde(flatten)]
    unknown: Mapping,
}

/// Why a file is not taken.
#[derive(Debug)]
pub enum Fault {
    /// It is no YAML, or a field has the wrong type.
    Yaml(yaml::Error),
    /// It has entries of Ansible.
    Ansible(&'static str),
    /// An entry, counted from 1, lacks a field.
    Missing(usize, &'static str),
    /// Two entries, counted from 1, are of one kind.
    Twice(usize, usize, String),
    /// It has no entry.
    Empty,
}

impl Watch {
    /// `cache.example.com/v1, Kind Memcached`.
    pub fn title(&self) -> String {
        format!("{}/{}, Kind {}", self.group, self.version, self.kind)
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

/// Reads the entries of a file.
pub fn read(text: &str) -> Result<Vec<Watch>, Fault> {
    let watches: Option<Vec<Watch>> = yaml::read(text).map_err(Fault::Yaml)?;
    let watches = watches.filter(|all| !all.is_empty()).ok_or(Fault::Empty)?;
    for (at, watch) in watches.iter().enumerate() {
        for (field, value) in [("role", &watch.role), ("playbook", &watch.playbook)] {
            if value.is_some() {
                return Err(Fault::Ansible(field));
            }
        }
        for (field, text) in [
            ("version", &watch.version),
            ("kind", &watch.kind),
            ("chart", &watch.chart),
        ] {
            if text.is_empty() {
                return Err(Fault::Missing(at + 1, field));
            }
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
            ("- {version: v1, kind: C}", "Missing(1, \"chart\")"),
            ("- {version: v1, chart: C}", "Missing(1, \"kind\")"),
            ("- {kind: C, role: r}", "Ansible(\"role\")"),
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
