//! The APIs of a Go project: the versions of its CRDs that have entries.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Port,
    checklist::{Item, Title},
};
use crate::{
    advice::{Flag, NextStep, Script},
    command::import_api,
    engine::derived::CRDS,
    error::Result,
    kubebuilder::Entry,
    project::Import,
    tree,
};

impl Port<'_> {
    /// Adds the versions of the CRDs that have entries.
    pub fn import(&mut self, crds: &BTreeMap<String, Value>) -> Result<()> {
        for (name, value) in crds {
            let crd = match crd_types::read(value) {
                Ok(crd) => crd,
                Err(error) => {
                    self.leave_out(format!("the CRD `{name}`"), &error.to_string());
                    continue;
                }
            };
            let entries = self.go.project.resources.iter();
            let is_of_crd = |it: &&Entry| {
                it.is_api() && it.api_group() == crd.group && it.kind == crd.names.kind
            };
            let versions: BTreeSet<_> = entries
                .filter(is_of_crd)
                .map(|it| it.version.as_str())
                .collect();
            if versions.is_empty() {
                self.without_entry(name, &crd);
                continue;
            }
            let has_entry = |version: &crd_types::Version| versions.contains(version.name.as_str());
            let is_wanted =
                |version: &crd_types::Version| has_entry(version) || import_api::is_used(version);
            let import = import_api::of_crd(name, value, &crd, is_wanted).map(|import| Import {
                controller: Some(false),
                ..import
            });
            let imported = import.and_then(|import| Ok(self.project.import(&import)?));
            let imported = match imported {
                Ok(imported) => imported,
                Err(failure) => {
                    self.leave_out(format!("the CRD `{name}`"), &failure.what);
                    continue;
                }
            };
            self.project = imported.project;
            let losses = import_api::losses(&self.project, imported.created.iter());
            for loss in &losses {
                self.checklist.add(Title::NotAdded, Item::of(loss.clone()));
            }
            self.remarks.extend(losses);
            let alone = crd.versions.iter();
            let alone = alone.filter(|it| is_wanted(it) && !has_entry(it));
            self.remarks.extend(alone.map(|version| {
                format!(
                    "`{name}` has {}, which has no entry in the Go project; it was added",
                    version.name
                )
            }));
        }
        let go = self.go;
        for entry in go.project.resources.iter().filter(|it| it.is_api()) {
            if self.key_of(entry).is_none() {
                self.without_crd(entry);
            }
        }
        Ok(())
    }

    /// Reports an API whose version no CRD has, or whose CRD was left out.
    fn without_crd(&mut self, entry: &Entry) {
        let sentence = format!("`{}` is left out: no CRD that was added has this version", entry.title());
        self.remarks.push(sentence.clone());
        let code = self.code_of(entry);
        self.checklist.add(Title::NotAdded, Item {
            what: sentence,
            notes: code.iter().map(|path| format!("then port `{path}`")).collect(),
            ..Item::default()
        });
        self.commands.push(NextStep::new(
            format!("add `{}`, when `make manifests` in the Go project has written its CRD:", entry.title()),
            self.create_from(&entry.api_group(), &entry.kind),
        ));
    }

    /// Reports a CRD without an entry.
    fn without_entry(&mut self, name: &str, crd: &crd_types::Crd) {
        let why = "no entry of the Go project is of this kind".to_owned();
        self.leave_out(format!("the CRD `{name}`"), &why);
        let script = self.create_from(&crd.group, &crd.names.kind);
        self.commands.push(NextStep::new(
            format!("add {}, if the project should define it:", crd.names.kind),
            script.code("--controller=false"),
        ));
    }

    /// The command that adds a kind from its CRD.
    fn create_from(&self, group: &str, kind: &str) -> Script {
        let at = tree::full(&self.go.directory).join(CRDS);
        let flag = |name: &str, value: &str| Flag::new(name, Some(value.to_owned()));
        Script::forge("create api --from-crd")
            .path(at.to_string_lossy())
            .flags(&[flag("--group", group), flag("--kind", kind)])
    }
}
