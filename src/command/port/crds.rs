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
    error::Failure,
    kubebuilder::Entry,
    project::Import,
    tree,
};

impl Port<'_> {
    /// Adds the versions of the CRDs that have entries.
    pub fn import(&mut self, crds: &BTreeMap<String, Value>) {
        let go = self.go;
        let mut left_out = BTreeSet::new();
        for (name, value) in crds {
            if let Err(why) = self.import_one(name, value) {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let spec = &value["spec"];
                let kind = (text(&spec["group"]), text(&spec["names"]["kind"]));
                let entries = go.project.resources.iter();
                let entries = entries.filter(|it| (it.api_group(), it.kind.clone()) == kind);
                let code: Vec<_> = entries.flat_map(|it| self.code_of(it)).collect();
                self.leave_out(&format!("the CRD `{name}`"), &why, &code);
                left_out.insert(kind);
            }
        }
        for entry in go.project.resources.iter().filter(|it| it.is_api()) {
            let kind = (entry.api_group(), entry.kind.clone());
            if self.key_of(entry).is_none() && !left_out.contains(&kind) {
                self.without_crd(entry);
            }
        }
    }

    /// Adds the versions of a CRD.
    ///
    /// Errors: the reason that it is left out.
    fn import_one(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let crd = crd_types::read(value).map_err(|error| error.to_string())?;
        let entries = self.go.project.resources.iter();
        let is_of_crd =
            |it: &&Entry| it.is_api() && it.api_group() == crd.group && it.kind == crd.names.kind;
        let entries: Vec<_> = entries.filter(is_of_crd).collect();
        let Some(first) = entries.first() else {
            let domain = format!(".{}", self.project.domain);
            let group = crd.group.strip_suffix(&domain);
            let group = group.or(crd.group.split('.').next()).unwrap_or_default();
            let script = self.create_from(group, &crd.names.kind);
            self.commands.push(NextStep::new(
                format!("add {}, if the project should define it:", crd.names.kind),
                script.code("--controller=false"),
            ));
            return Err("no entry of the Go project is of this kind".to_owned());
        };
        let has_entry =
            |version: &crd_types::Version| entries.iter().any(|it| it.version == version.name);
        let is_wanted =
            |version: &crd_types::Version| has_entry(version) || import_api::is_used(version);
        let import = import_api::of_crd(name, value, &crd, is_wanted);
        let import = Import {
            group: first.group.parse().ok(),
            controller: Some(false),
            ..import.map_err(|failure| failure.what)?
        };
        let imported = self.project.import(&import);
        let imported = imported.map_err(|error| Failure::from(error).what)?;
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
        Ok(())
    }

    /// Reports an API whose version no CRD has.
    fn without_crd(&mut self, entry: &Entry) {
        let code = self.code_of(entry);
        let why = format!("no CRD in `{CRDS}` has this version");
        self.leave_out(&format!("`{}`", entry.title()), &why, &code);
        self.commands.push(NextStep::new(
            format!(
                "add `{}`, when `make manifests` in the Go project has written its CRD:",
                entry.title()
            ),
            self.create_from(&entry.group, &entry.kind),
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
