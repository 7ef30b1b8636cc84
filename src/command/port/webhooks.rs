//! The webhooks of a Go project.

use super::{
    Port,
    admission::{self, Purpose},
    checklist::{Item, Title},
};
use crate::{
    engine::conversions,
    error::{Failure, Result},
    kubebuilder::Entry,
    project::{Certificates, CreateWebhook, Key},
    template,
};

impl<'a> Port<'a> {
    /// Adds the webhooks for defaulting and validation.
    pub fn webhooks(&mut self) -> Result<()> {
        let (go, files) = (self.go, self.files);
        let certificates = files
            .uses_cert_manager()
            .then_some(Certificates::CertManager);
        for entry in &go.project.resources {
            let webhooks = &entry.webhooks;
            let Some(key) = self.key_of(entry).filter(|_| webhooks.is_asked()) else {
                continue;
            };
            if entry.external {
                continue;
            }
            let path = |path: &Option<String>| {
                let path = path.as_deref().map(str::parse);
                path.transpose().map_err(Failure::from)
            };
            let create = path(&webhooks.defaulting_path).and_then(|defaulting_path| {
                Ok(CreateWebhook {
                    defaulting: webhooks.defaulting,
                    defaulting_path,
                    validation: webhooks.validation,
                    validation_path: path(&webhooks.validation_path)?,
                    conversion: false,
                    certificates,
                    ..CreateWebhook::conversion(&key, Vec::new())
                })
            });
            let created = create.and_then(|create| {
                let target = create.target(&self.project)?;
                let project = self.project.create_webhook(&create)?;
                let paths = template::files_of_webhook(&project, &target)?;
                Ok((project, target.key, paths))
            });
            let what = format!("the webhooks of `{}`", entry.title());
            let (project, key, paths) = match created {
                Ok(created) => created,
                Err(failure) => {
                    let code: Vec<_> = files.webhook(entry).into_iter().collect();
                    self.leave_out(&what, &failure.what, &code);
                    continue;
                }
            };
            self.project = project;
            let source = files.webhook(entry);
            for path in paths.iter().filter(|it| it.as_str().starts_with("src/")) {
                let purpose = Purpose::of(path);
                let item = purpose.map(|purpose| self.admission(entry, &key, purpose, source));
                let item = item.unwrap_or_default();
                self.file(Title::Webhooks, source, &what, path.as_str(), item);
            }
        }
        Ok(())
    }

    /// What the markers in `source` say about a webhook.
    fn admission(&self, entry: &Entry, key: &Key, purpose: Purpose, source: Option<&str>) -> Item {
        let path = match purpose {
            Purpose::Defaulting => entry.webhooks.defaulting_path.as_deref(),
            Purpose::Validating => entry.webhooks.validation_path.as_deref(),
        };
        admission::of_webhook(&self.project, key, purpose, path, self.text(source))
    }

    /// Adds the conversions that follow from the types.
    pub fn conversions(&mut self) -> Result<()> {
        let go = self.go;
        let entries = go.project.resources.iter();
        let mut done: Vec<Key> = Vec::new();
        for entry in entries.filter(|it| it.is_api() && it.webhooks.conversion) {
            let Some(key) = self.key_of(entry) else {
                continue;
            };
            if !done.iter().any(|it| it.is_same_kind(&key)) {
                self.conversions_of(entry, &self.hub(&key))?;
                done.push(key);
            }
        }
        Ok(())
    }

    /// Adds the conversions of the kind of an entry.
    fn conversions_of(&mut self, entry: &Entry, hub: &Key) -> Result<()> {
        let files = self.files;
        // Old projects have a webhook file for the conversion alone, and the hub's own file converts nothing.
        self.known.extend(files.webhook(entry));
        self.known
            .extend(files.conversion(&entry.with_version(hub.version)));
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
            let source = files.conversion(&entry.with_version(version));
            self.known.extend(source);
            self.conversion(hub, &hub.in_version(version), source, is_added)?;
        }
        Ok(())
    }

    /// The hub of the versions of a kind. Files before kubebuilder 4.4 have no spokes, and may say `conversion` of every version:
    /// then the stored one is the hub.
    fn hub(&self, key: &Key) -> Key {
        let entries = self.go.project.resources.iter();
        let hubs = entries.filter(|it| it.webhooks.conversion && it.is_api());
        let hubs = hubs.filter_map(|it| Some((self.key_of(it)?, it)));
        let hubs: Vec<_> = hubs.filter(|(it, _)| it.is_same_kind(key)).collect();
        let stored = self.project.storage_of(key);
        let with_spokes = hubs.iter().find(|(_, it)| !it.webhooks.spoke.is_empty());
        let is_stored = |it: &&(Key, &Entry)| Some(it.0.version) == stored;
        let hub = with_spokes.or_else(|| hubs.iter().find(is_stored));
        hub.map_or_else(|| key.clone(), |(hub, _)| hub.clone())
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
            return Ok(());
        }
        if let Some(path) = conversions::file(&self.project, hub, spoke.version)? {
            let item = Item::default();
            self.file(Title::Conversions, source, &what, path.as_str(), item);
        }
        Ok(())
    }
}
