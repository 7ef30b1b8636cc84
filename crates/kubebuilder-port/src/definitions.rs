//! The CRDs of a Go project, wherever it keeps them.

use std::collections::{BTreeMap, BTreeSet};

use guarded_yaml as yaml;
use serde_json::Value;

use crate::files::Files;

/// A CRD, and where it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The file.
    pub file: String,
    /// The whole definition.
    pub value: Value,
    /// The API group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The plural.
    pub plural: String,
    /// The versions, each with whether it is the stored one.
    pub versions: Vec<(String, bool)>,
}

/// The CRDs of a Go project.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// Each by its name.
    pub found: BTreeMap<String, Found>,
    /// Files that hold a CRD and cannot be read, with the reasons.
    pub unreadable: BTreeMap<String, String>,
    /// Files with a CRD that another file has differently, which was taken.
    pub differing: Vec<String>,
    /// The names of CRDs to which a patch of kustomize adds a conversion by webhook.
    pub converted: Vec<String>,
}

/// The places of CRDs, as messages name them.
pub const PLACES: &str = "`config/`, `deploy/` and `charts/*/crds/`";

/// How far a file is from where controller-gen writes CRDs; the nearest is right. `None` for a file that holds no CRDs.
fn distance(path: &str) -> Option<usize> {
    let parts: Vec<&str> = path.split('/').collect();
    match *parts {
        ["config", "crd", "bases", _, ..] => Some(0),
        ["config", "samples", ..] => None,
        ["config", ..] => Some(1),
        ["deploy", ..] => Some(2),
        ["charts", _, "crds", ..] => Some(3),
        // Templates are read to tell that a CRD is there.
        ["charts", ..] => Some(4),
        _ => None,
    }
}

/// Whether a manifest at this path tells something about the project: it may hold a CRD, or it is in `config/`.
pub fn is_place(path: &str) -> bool {
    path.starts_with("config/") || distance(path).is_some()
}

impl Files {
    /// The manifests that may hold CRDs, each with its text. The nearest to where controller-gen writes them come first, and are right
    /// if others differ.
    pub fn definitions(&self) -> Vec<(&str, &str)> {
        let listed = listed(self);
        let is_used = |path: &str| {
            let file = path.rsplit('/').next().unwrap_or_default();
            !path.contains("/patches/") || listed.contains(file)
        };
        let texts = self.texts.iter().filter(|(path, _)| is_used(path));
        let texts = texts.filter_map(|(path, text)| Some((distance(path)?, path, text)));
        let mut texts: Vec<_> = texts.collect();
        texts.sort_by_key(|(distance, path, _)| (*distance, *path));
        let texts = texts.into_iter();
        texts
            .map(|(_, path, text)| (path.as_str(), text.as_str()))
            .collect()
    }
}

impl Definitions {
    /// Adds the CRDs of a file, each by its name. The first of a name counts.
    pub fn add(&mut self, file: &str, values: BTreeMap<String, Value>) {
        for (name, value) in values {
            let spec = &value["spec"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (group, names) = (text(&spec["group"]), &spec["names"]);
            if group.is_empty() {
                // A patch of kustomize.
                if spec["conversion"]["strategy"] == "Webhook" {
                    self.converted.push(name);
                }
                continue;
            }
            if let Some(first) = self.found.get(&name) {
                if first.value["spec"] != *spec {
                    self.differing.push(format!(
                        "`{name}` of `{file}` differs from that of `{}`, which is taken",
                        first.file
                    ));
                }
                continue;
            }
            let versions = spec["versions"].as_array().into_iter().flatten();
            let versions = versions.map(|it| (text(&it["name"]), it["storage"] == true));
            let found = Found {
                file: file.to_owned(),
                kind: text(&names["kind"]),
                plural: text(&names["plural"]),
                versions: versions.collect(),
                group,
                value,
            };
            self.found.insert(name, found);
        }
    }
}

/// The names of the files that some kustomization lists: a patch that is commented out changes nothing.
fn listed(files: &Files) -> BTreeSet<String> {
    let texts = files.texts.iter();
    let texts = texts.filter(|(path, _)| path.ends_with("/kustomization.yaml"));
    let values = texts.filter_map(|(_, text)| yaml::read::<serde_yaml::Value>(text).ok());
    let mut names = BTreeSet::new();
    for value in values {
        for key in ["patches", "patchesStrategicMerge"] {
            let patches = value
                .get(key)
                .and_then(|it| it.as_sequence())
                .into_iter()
                .flatten();
            let paths = patches.filter_map(|it| it.as_str().or_else(|| it.get("path")?.as_str()));
            names.extend(
                paths
                    .filter_map(|path| path.rsplit('/').next())
                    .map(str::to_owned),
            );
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        let texts = [
            ("charts/a/crds/boxes.yaml", ""),
            ("charts/a/templates/crd.yaml", ""),
            ("config/crd/bases/boxes.yaml", ""),
            (
                "config/crd/kustomization.yaml",
                "patches: [{path: patches/webhook.yaml}]\n",
            ),
            ("config/crd/patches/unused.yaml", ""),
            ("config/crd/patches/webhook.yaml", ""),
            ("config/samples/crd.yaml", ""),
            ("deploy/boxes.yaml", ""),
            ("docs/boxes.yaml", ""),
        ];
        let files = Files::read(texts.map(|(path, text)| (path.to_owned(), text.to_owned())));
        let paths: Vec<_> = files.definitions().iter().map(|(path, _)| *path).collect();
        assert_eq!(
            paths,
            [
                "config/crd/bases/boxes.yaml",
                "config/crd/kustomization.yaml",
                "config/crd/patches/webhook.yaml",
                "deploy/boxes.yaml",
                "charts/a/crds/boxes.yaml",
                "charts/a/templates/crd.yaml",
            ]
        );
    }
}
