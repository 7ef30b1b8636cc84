//! `create webhook`: defaulting, validation and conversion, each added to an entry that may have the others.

use std::collections::BTreeSet;

use super::entry::{External, Given};
use crate::name::{Domain, Group, Kind, Plural, Version, WebhookPath};
use crate::project::error::{Refused, Result, Use};
use crate::project::rules;
use crate::project::{Admission, Certificates, Key, Project};

/// The flags of `create webhook`.
#[derive(Clone, Debug)]
pub struct CreateWebhook {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`; for conversion that of the hub.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--plural`. A known kind has its plural already.
    pub plural: Option<Plural>,
    /// `--defaulting`.
    pub defaulting: bool,
    /// `--defaulting-path`.
    pub defaulting_path: Option<WebhookPath>,
    /// `--validation`.
    pub validation: bool,
    /// `--validation-path`.
    pub validation_path: Option<WebhookPath>,
    /// `--conversion`.
    pub conversion: bool,
    /// `--spoke`; the default is the only other version that is not converted yet.
    pub spokes: Vec<Version>,
    /// `--external-api-path` and `--external-api-domain`.
    pub external: Option<External>,
    /// `--certificates`.
    pub certificates: Option<Certificates>,
    /// `--force`: create again what exists.
    pub force: bool,
}

/// The entry and the versions that a `create webhook` is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The entry that gets the webhooks.
    pub key: Key,
    /// The versions to convert to it; empty without `--conversion`.
    pub spokes: BTreeSet<Version>,
}

impl Project {
    /// Adds webhooks for an API of the project, a type of Kubernetes or one of another project. Refuses what exists already,
    /// unless forced, and whatever breaks a rule. Two creates that are each allowed in either order give the same project.
    pub fn create_webhook(&self, create: &CreateWebhook) -> Result<Self> {
        let Target { key, spokes } = create.target(self)?;
        let mut project = self.clone();
        // The setting is the whole project's: after the first webhook only `edit` changes it.
        match (self.settings.certificates, create.certificates) {
            (Some(now), Some(wanted)) if now != wanted => {
                return Err(Refused::OtherCertificates { now, wanted }.into());
            }
            (now, wanted) => project.settings.certificates = wanted.or(now),
        }
        let given = Given {
            plural: create.plural.as_ref(),
            external: create.external.as_ref(),
        };
        let entry = project.entry_of(&key, given)?;
        let webhooks = entry.webhooks.get_or_insert_default();
        let (defaulting, validation) = (&mut webhooks.defaulting, &mut webhooks.validation);
        for (asked, path, slot, what) in [
            (
                create.defaulting,
                &create.defaulting_path,
                defaulting,
                "defaulting",
            ),
            (
                create.validation,
                &create.validation_path,
                validation,
                "validation",
            ),
        ] {
            if asked && slot.is_some() && !create.force {
                return Err(Refused::WebhookExists(key, what).into());
            }
            if asked {
                let admission = slot.get_or_insert_with(Admission::default);
                admission.path = path.clone().or(admission.path.take());
            }
        }
        webhooks.spokes.extend(spokes);
        rules::check(&project, Some(&key))?;
        Ok(project)
    }
}

impl CreateWebhook {
    /// The entry and the spokes that it is about, in the project that it is applied to.
    ///
    /// Errors: flags that contradict each other, a kind that nobody defines, versions that are converted already.
    pub fn target(&self, project: &Project) -> Result<Target> {
        self.check()?;
        let Some(key) = self.key_in(project) else {
            let key = self.key(&project.domain);
            return Err(rules::unknown_kind(project, &key, Use::Webhook).into());
        };
        let spokes = self.spokes_in(project, &key)?;
        Ok(Target { key, spokes })
    }

    /// Refuses flags that contradict each other.
    fn check(&self) -> Result<(), Refused> {
        if !self.defaulting && !self.validation && !self.conversion {
            return Err(Refused::NoWebhookAsked);
        }
        let path = |path: &Option<WebhookPath>| path.as_ref().map(ToString::to_string);
        let spoke = self.spokes.first().map(ToString::to_string);
        let (defaulting, validation) = (path(&self.defaulting_path), path(&self.validation_path));
        for (flag, value, asked, of) in [
            (
                "--defaulting-path",
                defaulting,
                self.defaulting,
                "--defaulting",
            ),
            (
                "--validation-path",
                validation,
                self.validation,
                "--validation",
            ),
            ("--spoke", spoke, self.conversion, "--conversion"),
        ] {
            if let (Some(value), false) = (value, asked) {
                return Err(Refused::MoreAboutNothing { flag, value, of });
            }
        }
        let mut seen = BTreeSet::new();
        match self.spokes.iter().find(|spoke| !seen.insert(**spoke)) {
            Some(twice) => Err(Refused::SpokeGivenTwice(*twice)),
            None => Ok(()),
        }
    }

    fn key(&self, domain: &Domain) -> Key {
        Key {
            group: self.group.clone(),
            kind: self.kind.clone(),
            domain: domain.clone(),
            version: self.version,
        }
    }

    /// The entry: of the type whose path was given, or of a known one.
    fn key_in(&self, project: &Project) -> Option<Key> {
        if let Some(external) = &self.external {
            return Some(self.key(&external.domain));
        }
        project.meaning_of(&self.key(&project.domain))
    }

    /// The versions to convert.
    fn spokes_in(&self, project: &Project, key: &Key) -> Result<BTreeSet<Version>> {
        if !self.conversion {
            return Ok(BTreeSet::new());
        }
        let versions = project.versions_of(key);
        if !versions.contains(&key.version) {
            let alone = !self.defaulting && !self.validation;
            return Err(rules::not_converted(key, alone).into());
        }
        let hub = project.hub_of(key);
        if let Some(hub) = hub.filter(|hub| *hub != key.version) {
            return Err(rules::two_hubs(key, hub).into());
        }
        let entry = project.resources.get(key);
        let webhooks = entry.and_then(|entry| entry.webhooks.as_ref());
        let done = webhooks.map_or_else(BTreeSet::new, |webhooks| webhooks.spokes.clone());
        let again = self.spokes.iter().find(|spoke| done.contains(spoke));
        if let Some(again) = again.filter(|_| !self.force) {
            return Err(Refused::Converted(key.clone(), Some(*again)).into());
        }
        if !self.spokes.is_empty() {
            return Ok(self.spokes.iter().copied().collect());
        }
        let open = versions.difference(&done).copied();
        let open: Vec<_> = open.filter(|version| *version != key.version).collect();
        match open[..] {
            [only] => Ok([only].into()),
            [] if done.is_empty() => Err(rules::one_version(key).into()),
            [] if self.force => Ok(done),
            [] => Err(Refused::Converted(key.clone(), None).into()),
            [..] => Err(Refused::OpenSpokes(key.kind.clone(), open).into()),
        }
    }
}
