//! The APIs of a Go project: the versions of its CRDs.

use std::collections::BTreeSet;

use kubebuilder_port::{Entry, Found, PLACES};

use super::Port;
use crate::{
    advice::{Flag, NextStep, Script},
    command::checklist::{Item, Title},
    command::import_api,
    engine::derived::CRDS,
    name::Plural,
    project::Import,
    tree,
};

impl Port<'_> {
    /// Adds the CRDs that have entries.
    pub fn import(&mut self) {
        let crds = self.crds;
        let mut left_out = BTreeSet::new();
        for (name, crd) in &crds.found {
            let is_of_crd = |it: &&Entry| {
                it.is_api() && (&it.kind, it.api_group()) == (&crd.kind, crd.group.clone())
            };
            let entries: Vec<Entry> = self.entries.iter().filter(is_of_crd).cloned().collect();
            let Some(first) = entries.first() else {
                self.without_entry(name, crd);
                continue;
            };
            let added = self.import_one(name, crd, first, &entries);
            self.tally.kinds.add(added.is_ok());
            if let Err(why) = added {
                let code: Vec<_> = entries.iter().flat_map(|it| self.code_of(it)).collect();
                self.leave_out(&format!("the CRD `{name}`"), &why, &code);
                left_out.insert((crd.group.clone(), crd.kind.clone()));
            }
        }
        let mut missing = BTreeSet::new();
        for entry in self.entries.clone() {
            let kind = (entry.api_group(), entry.kind.clone());
            if !entry.is_api() || self.key_of(&entry).is_some() || left_out.contains(&kind) {
                continue;
            }
            let is_first = missing.insert(kind);
            self.without_crd(&entry, is_first);
        }
    }

    /// Adds the versions of a CRD.
    ///
    /// Errors: the reason that it is left out.
    fn import_one(
        &mut self,
        name: &str,
        found: &Found,
        first: &Entry,
        entries: &[Entry],
    ) -> Result<(), String> {
        let crd = crd_types::read(&found.value).map_err(|error| error.to_string())?;
        let has_entry =
            |version: &crd_types::Version| entries.iter().any(|it| it.version == version.name);
        let is_wanted =
            |version: &crd_types::Version| has_entry(version) || import_api::is_used(version);
        let import = import_api::of_crd(name, &found.value, &crd, is_wanted);
        let import = Import {
            group: first.group.parse().ok(),
            controller: Some(false),
            ..import.map_err(|failure| failure.what)?
        };
        let imported = self.project.import(&import);
        let imported = imported.map_err(|failure| failure.what)?;
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

    /// Reports a CRD that neither an entry nor the code knows. Types of other projects are not left out.
    fn without_entry(&mut self, name: &str, crd: &Found) {
        let mut external = self.entries.iter().filter(|it| it.external);
        if external.any(|it| (&it.kind, it.api_group()) == (&crd.kind, crd.group.clone())) {
            return;
        }
        let domain = format!(".{}", self.project.domain);
        let group = crd.group.strip_suffix(&domain);
        let group = group.or(crd.group.split('.').next()).unwrap_or_default();
        let script = self.create_from(&crd.file, group, &crd.kind);
        self.commands.push(NextStep::new(
            format!("add {}, if the project should define it:", crd.kind),
            script.code("--controller=false"),
        ));
        let why = "no entry of the Go project is of this kind, and its code has no such type";
        self.leave_out(&format!("the CRD `{name}` in `{}`", crd.file), why, &[]);
    }

    /// Reports an API without a CRD, which is counted for the first of its versions.
    fn without_crd(&mut self, entry: &Entry, is_first: bool) {
        let files = self.files;
        let title = format!("`{}`", entry.title());
        let code = self.code_of(entry);
        let mut configured = files.with(|it| it.configurations.contains(&entry.kind));
        if let Some(file) = configured.next().or_else(|| files.configuring(&entry.kind)) {
            self.known.extend(code);
            self.checklist.add(
                Title::Flags,
                Item::of(format!(
                    "{title} is a file that the manager reads, and no CRD (`{file}`): make flags of its settings"
                )),
            );
            return;
        }
        if is_first && files.knows(&entry.kind) {
            self.tally.kinds.add(false);
        }
        if !files.knows(&entry.kind) {
            let why = format!("{PLACES} have no CRD of this kind, and the code has no such type");
            return self.leave_out(&title, &why, &code);
        }
        let line = format!("kind: {}", entry.kind);
        let mut unreadable = self.crds.unreadable.keys();
        let template = unreadable.find(|path| {
            let text = files.texts.get(*path);
            text.is_some_and(|text| text.lines().any(|it| it.trim() == line))
        });
        if let Some(template) = template {
            let why = format!(
                "its CRD is in `{template}`, which is a template: render it, and name the result by `--crds`"
            );
            return self.leave_out(&title, &why, &code);
        }
        self.leave_out(
            &title,
            &format!("no CRD in {PLACES} has this version"),
            &code,
        );
        self.commands.push(NextStep::new(
            format!("add {title}, when `make manifests` in the Go project has written its CRD:"),
            self.create_from(CRDS, &entry.group, &entry.kind),
        ));
    }

    /// The command that adds a kind from a file or directory with its CRD.
    fn create_from(&self, file: &str, group: &str, kind: &str) -> Script {
        let flag = |name: &str, value: &str| Flag::new(name, Some(value.to_owned()));
        Script::forge("create api --from-crd")
            .path(self.path_of(file))
            .flags(&[flag("--group", group), flag("--kind", kind)])
    }

    /// The full path of a file or directory with CRDs.
    pub fn path_of(&self, file: &str) -> String {
        let at = match self.has_named_crds {
            true => tree::full(&self.base.join(file)),
            false => tree::full(&self.go.directory).join(file),
        };
        at.to_string_lossy().into_owned()
    }
}

/// The name of the CRD of an entry: `memcacheds.cache.example.com`.
pub fn name_of(entry: &Entry) -> String {
    let plural = match (&entry.plural, entry.kind.parse()) {
        (Some(plural), _) => plural.clone(),
        (None, Ok(kind)) => Plural::of(&kind).to_string(),
        (None, Err(_)) => entry.kind.to_lowercase(),
    };
    format!("{plural}.{}", entry.api_group())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_crds() {
        let check = |kind: &str, plural: Option<&str>, expected: &str| {
            let entry = Entry {
                group: "a".to_owned(),
                domain: "b.c".to_owned(),
                kind: kind.to_owned(),
                plural: plural.map(str::to_owned),
                ..Entry::default()
            };
            assert_eq!(name_of(&entry), expected);
        };
        check("Box", None, "boxes.a.b.c");
        check("Certificate", Some("certs"), "certs.a.b.c");
        check("No-Kind", None, "no-kind.a.b.c");
    }
}
