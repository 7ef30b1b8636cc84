//! The conversions of a Go project: of the kinds whose versions its code converts, or whose CRD asks for it.

use kubebuilder_port::Entry;

use super::Port;
use crate::command::checklist::{Item, Title};
use crate::{engine::conversions, error::Result, name::Version, project::Key};

impl<'a> Port<'a> {
    /// Adds the conversions that follow from the types.
    pub fn conversions(&mut self) -> Result<()> {
        let kinds = self.project.kinds();
        let keys = kinds.iter().filter(|it| it.apis.len() > 1);
        let keys: Vec<Key> = keys.map(|it| it.apis[0].key.clone()).collect();
        for key in keys {
            let entry = self
                .entries
                .iter()
                .find(|it| self.is_kind(&key, it))
                .cloned();
            let entry = entry.unwrap_or_default();
            if self.converts(&key) {
                let hub = self.hub(&key);
                self.conversions_of(&entry, &hub)?;
            }
        }
        Ok(())
    }

    /// Whether an entry is of the kind of a key.
    fn is_kind(&self, key: &Key, entry: &Entry) -> bool {
        entry.is_api() && self.key_of(entry).is_some_and(|it| it.is_same_kind(key))
    }

    /// Whether `PROJECT`, the CRD, a patch of it or the code converts a kind.
    fn converts(&self, key: &Key) -> bool {
        let mut entries = self.entries.iter().filter(|it| self.is_kind(key, it));
        let resource = self.project.resource(key);
        let source = resource.and_then(|it| it.source.as_ref());
        let asks = source.is_some_and(|source| {
            let definition = source.definition.as_ref();
            definition.is_some_and(|it| it.crd().conversion == "Webhook")
                || self
                    .crds
                    .converted
                    .iter()
                    .any(|it| it == source.name.as_str())
        });
        asks || entries.any(|it| {
            it.webhooks.conversion
                || self.files.hub(it).is_some()
                || self.files.conversion(it).is_some()
        })
    }

    /// Adds the conversions of a kind.
    fn conversions_of(&mut self, entry: &Entry, hub: &Key) -> Result<()> {
        let files = self.files;
        // Old projects have a webhook file for the conversion alone, and the hub's own file converts nothing.
        let of_hub = entry.with_version(hub.version);
        self.known.extend(files.webhook(entry));
        self.known.extend(files.conversion(&of_hub));
        self.known.extend(files.hub(&of_hub));
        let spokes = self.project.unconverted(hub);
        let stored = self.project.storage_of(hub);
        let (project, steps) = conversions::convert(&self.project, hub, &spokes)?;
        let is_added = steps.is_empty();
        self.project = project;
        self.commands.extend(steps);
        let former = stored.filter(|it| *it != hub.version && is_added && !spokes.is_empty());
        self.remarks.extend(former.map(|stored| {
            format!(
                "{} is the hub of {}, so it becomes the storage version, which is {stored} in the CRD",
                hub.version, hub.kind
            )
        }));
        for version in spokes {
            self.tally.conversions.add(is_added);
            let source = files.conversion(&entry.with_version(version));
            self.known.extend(source);
            self.conversion(hub, &hub.in_version(version), source, is_added)?;
        }
        Ok(())
    }

    /// The hub of the versions of a kind: the one of the entry with spokes, or of the code. Files before kubebuilder 4.4 have no
    /// spokes, and may say `conversion` of every version: then the stored one is the hub.
    fn hub(&self, key: &Key) -> Key {
        let entries = self.entries.iter().filter(|it| self.is_kind(key, it));
        let version = |entry: &Entry| entry.version.parse::<Version>().ok();
        let with_spokes = entries.clone().find(|it| !it.webhooks.spoke.is_empty());
        let found = with_spokes.and_then(version).or_else(|| {
            let kind = Entry {
                kind: key.kind.to_string(),
                ..Entry::default()
            };
            let mut versions = self.project.versions_of(key).into_iter();
            versions.find(|it| self.files.hub(&kind.with_version(it)).is_some())
        });
        let stored = self.project.storage_of(key);
        let converts = |version: Version| {
            let version = version.to_string();
            entries
                .clone()
                .any(|it| it.webhooks.conversion && it.version == version)
        };
        let only = entries
            .clone()
            .find(|it| it.webhooks.conversion)
            .and_then(version);
        let of_project = stored.filter(|it| converts(*it)).or(only).or(stored);
        match found.or(of_project) {
            Some(version) => key.in_version(version),
            None => key.clone(),
        }
    }

    /// Lists the conversion of a version.
    fn conversion(
        &mut self,
        hub: &Key,
        spoke: &Key,
        source: Option<&'a str>,
        is_added: bool,
    ) -> Result<()> {
        let what = format!("the conversion of `{spoke}`");
        if !is_added {
            let from = source.map_or_else(|| what.clone(), |source| format!("`{source}`"));
            let open = Item::of(format!(
                "{from}: the types of the versions differ, so the conversion is added by `operator-forge create webhook \
                 --conversion`, with the fields that are the same, and the others are for you to write"
            ));
            self.checklist.add(Title::Conversions, open);
            let urgent = format!(
                "{} has no conversion between {} and {} yet: without it, an object that is read in the other version lacks what \
                 differs, and the next write erases that. Write it before the first deployment",
                hub.kind, spoke.version, hub.version
            );
            self.remarks.push(urgent.clone());
            self.checklist.add(Title::First, Item::of(urgent));
            return Ok(());
        }
        if let Some(path) = conversions::file(&self.project, hub, spoke.version)? {
            let item = Item::default();
            self.file(Title::Conversions, source, &what, path.as_str(), item);
        }
        Ok(())
    }
}
