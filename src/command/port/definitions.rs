//! The CRDs of a Go project, wherever it keeps them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use guarded_yaml as yaml;
use serde_json::Value;

use crate::{
    advice::Advice,
    definitions::{self, Manifest},
    engine::{crd_files, derived::CRDS},
    error::{Failure, Result},
    kubebuilder::Files,
};

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
        _ if path
            .strip_prefix(CRDS)
            .is_some_and(|rest| rest.starts_with('/')) =>
        {
            Some(0)
        }
        ["config", "samples", ..] => None,
        ["config", ..] => Some(1),
        ["deploy", ..] => Some(2),
        ["charts", _, "crds", ..] => Some(3),
        // Templates are read to tell that a CRD is there.
        ["charts", ..] => Some(4),
        _ => None,
    }
}

/// Whether the search reads a file because of its path.
pub fn is_place(path: &str) -> bool {
    path.starts_with("config/") || distance(path).is_some()
}

impl Definitions {
    /// The CRDs in the directories `named` by the command line, seen from `base`; without any, in the places where such projects
    /// have them.
    ///
    /// Errors: a directory that is named does not exist, or a file in it cannot be read.
    pub fn search(files: &Files, base: &Path, named: &[String]) -> Result<Self> {
        let mut all = Self::default();
        for directory in named {
            let files = crd_files::read(base, directory)?.ok_or_else(|| no_directory(directory))?;
            for file in &files {
                all.add(
                    &file.source,
                    definitions::values(std::slice::from_ref(file))?,
                );
            }
        }
        if !named.is_empty() {
            return Ok(all);
        }
        let listed = listed(files);
        let is_used = |path: &str| {
            let file = path.rsplit('/').next().unwrap_or_default();
            !path.contains("/patches/") || listed.contains(file)
        };
        let texts = files.texts.iter().filter(|(path, _)| is_used(path));
        let texts = texts.filter_map(|(path, text)| Some((distance(path)?, path, text)));
        let mut texts: Vec<_> = texts.collect();
        texts.sort_by_key(|(distance, path, _)| (*distance, *path));
        for (_, path, text) in texts {
            let file = Manifest {
                source: path.clone(),
                bytes: text.clone().into_bytes(),
            };
            match definitions::values(&[file]) {
                Ok(values) => all.add(path, values),
                Err(error) if text.contains("CustomResourceDefinition") => {
                    all.unreadable.insert(path.clone(), error.to_string());
                }
                // Templates and broken files of other kinds.
                Err(_) => {}
            }
        }
        Ok(all)
    }

    /// Adds the CRDs of a file. The first of a name counts.
    fn add(&mut self, file: &str, values: BTreeMap<String, Value>) {
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

fn no_directory(directory: &str) -> Failure {
    Failure::refused(format!("no file or directory `{directory}`"))
        .note("`--crds` names a file or a directory with CRDs of the Go project")
        .advise(Advice::drop("--crds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crd(name: &str, more: &str) -> String {
        let (plural, group) = name.split_once('.').unwrap();
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}}}\n\
             spec: {{group: {group}, names: {{kind: Box, plural: {plural}}}, versions: [{{name: v1, storage: true}}]{more}}}\n"
        )
    }

    #[test]
    fn the_nearest_of_several_places_is_right() {
        let boxes = crd("boxes.example.com", "");
        let other = crd("boxes.example.com", ", scope: Cluster");
        let patch = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boxes.example.com}\n\
                     spec: {conversion: {strategy: Webhook}}\n";
        let texts = [
            ("charts/a/crds/boxes.yaml", boxes.as_str()),
            (
                "charts/a/templates/crd.yaml",
                "{{ broken CustomResourceDefinition",
            ),
            ("config/crd/bases/boxes.yaml", &boxes),
            ("config/crd/patches/webhook.yaml", patch),
            (
                "config/crd/kustomization.yaml",
                "patches: [{path: patches/webhook.yaml}]\n",
            ),
            (
                "config/crd/patches/unused.yaml",
                &patch.replace("boxes", "jars"),
            ),
            ("config/samples/crd.yaml", &crd("samples.example.com", "")),
            (
                "config/extra/a.yaml",
                "{{ a template of a CustomResourceDefinition",
            ),
            ("deploy/boxes.yaml", &other),
            ("deploy/jars.yaml", &crd("jars.example.com", "")),
            ("deploy/template.yaml", "{{ a: b"),
        ];
        let own = texts.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let all = Definitions::search(&Files::read(own), Path::new("."), &[]).unwrap();
        let found: Vec<_> = all
            .found
            .iter()
            .map(|(name, it)| (name.as_str(), it.file.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("boxes.example.com", "config/crd/bases/boxes.yaml"),
                ("jars.example.com", "deploy/jars.yaml"),
            ]
        );
        assert_eq!(
            all.differing,
            [
                "`boxes.example.com` of `deploy/boxes.yaml` differs from that of `config/crd/bases/boxes.yaml`, which is taken"
            ]
        );
        assert_eq!(all.converted, ["boxes.example.com"]);
        let unreadable: Vec<_> = all.unreadable.keys().collect();
        assert_eq!(
            unreadable,
            ["charts/a/templates/crd.yaml", "config/extra/a.yaml"]
        );
    }
}
