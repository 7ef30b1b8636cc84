//! Which entry and which versions a `create webhook` is about.

use std::collections::BTreeSet;

use super::CreateWebhook;
use crate::error::Failure;
use crate::name::{Domain, Version};
use crate::project::rules::{self, Violation, webhooks as rule};
use crate::project::{Key, Project};

/// What a `create webhook` means in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The entry that gets the webhooks.
    pub key: Key,
    /// The versions that it is to convert; empty without `--conversion`.
    pub spokes: BTreeSet<Version>,
}

impl CreateWebhook {
    /// The entry and the spokes that it is about, in the project that it is applied to.
    ///
    /// Errors: flags that contradict one another, a kind that nobody defines, versions that are converted already.
    pub fn target(&self, project: &Project) -> Result<Target, Failure> {
        self.check()?;
        let Some(key) = self.key_in(project) else {
            return Err(rules::unknown_kind(
                project,
                &self.key(&project.domain),
                rules::Use::Webhook,
            )
            .into());
        };
        let spokes = self.spokes_in(project, &key)?;
        Ok(Target { key, spokes })
    }

    /// Flags that contradict each other.
    fn check(&self) -> Result<(), Failure> {
        if !self.defaulting && !self.validation && !self.conversion {
            return Err(Failure::usage("no kind of webhook was asked for")
                .note("defaulting fills in what an object leaves open, validation refuses what is wrong, conversion serves several versions of a kind")
                .note("it is `--defaulting`, `--validation`, `--conversion` or several of them")
                .advise("--defaulting --validation"));
        }
        let orphans = [
            (
                "--defaulting-path",
                self.defaulting_path.as_ref().map(ToString::to_string),
                self.defaulting,
                "--defaulting",
            ),
            (
                "--validation-path",
                self.validation_path.as_ref().map(ToString::to_string),
                self.validation,
                "--validation",
            ),
            (
                "--spoke",
                self.spokes.first().map(ToString::to_string),
                self.conversion,
                "--conversion",
            ),
        ];
        for (flag, value, asked, of) in orphans {
            if let (Some(value), false) = (value, asked) {
                return Err(
                    Failure::usage(format!("`{flag} {value}` is given without `{of}`"))
                        .note("it says more about a webhook that is not asked for")
                        .advise(format!("{of} {flag} {value}")),
                );
            }
        }
        let twice =
            |version: &&Version| self.spokes.iter().filter(|other| other == version).count() > 1;
        if let Some(version) = self.spokes.iter().find(twice) {
            return Err(
                Failure::usage(format!("`--spoke {version}` is given twice"))
                    .note("each version is converted in one way")
                    .advise(format!("--spoke {version}")),
            );
        }
        Ok(())
    }

    fn key(&self, domain: &Domain) -> Key {
        Key {
            group: self.group.clone(),
            kind: self.kind.clone(),
            domain: domain.clone(),
            version: self.version,
        }
    }

    /// The entry: of the type whose path was given, or of one that is known.
    fn key_in(&self, project: &Project) -> Option<Key> {
        if let Some(external) = &self.external {
            return Some(self.key(&external.domain));
        }
        project.meaning_of(&self.key(&project.domain))
    }

    /// The versions to convert.
    fn spokes_in(&self, project: &Project, key: &Key) -> Result<BTreeSet<Version>, Failure> {
        if !self.conversion {
            return Ok(BTreeSet::new());
        }
        let versions = rule::versions_of(project, key);
        if !versions.contains(&key.version) {
            let refused = rule::not_defined_here(key);
            return Err(match self.defaulting || self.validation {
                true => refused.flag("leave out --conversion --spoke").into(),
                false => refused.into(),
            });
        }
        let hub = rule::hub_of(project, key);
        if let Some(hub) = hub.filter(|hub| *hub != key.version) {
            return Err(rule::two_hubs(key, hub, key.version).into());
        }
        let done = project
            .resources
            .get(key)
            .and_then(|entry| entry.webhooks.as_ref());
        let done = done
            .map(|webhooks| webhooks.spokes.clone())
            .unwrap_or_default();
        let mut open: Vec<_> = versions
            .difference(&done)
            .filter(|version| **version != key.version)
            .collect();
        if let Some(again) = self
            .spokes
            .iter()
            .find(|spoke| done.contains(spoke) && !self.force)
        {
            return Err(already_converted(key, &again.to_string()));
        }
        if !self.spokes.is_empty() {
            return Ok(self.spokes.iter().copied().collect());
        }
        match (open.pop(), open.is_empty()) {
            (Some(only), true) => Ok([*only].into()),
            (None, _) if done.is_empty() => Err(rule::one_version(key).into()),
            (None, _) if self.force => Ok(done),
            (None, _) => Err(already_converted(key, "every other version")),
            (Some(last), _) => {
                let flags: Vec<_> = open
                    .into_iter()
                    .chain([last])
                    .map(|version| format!("--spoke {version}"))
                    .collect();
                Err(Failure::usage("`--spoke` is missing")
                    .note(format!(
                        "`{}` has several versions that are not converted yet",
                        key.kind
                    ))
                    .advise(flags.join(" ")))
            }
        }
    }
}

fn already_converted(key: &Key, what: &str) -> Failure {
    Violation::new(Some(key), format!("`{}` converts {what} already", key.kind))
        .note(
            "`--force` writes the files of its conversion again and loses what was changed in them",
        )
        .note("`--spoke` takes another version")
        .flag("--force --dry-run --diff")
        .into()
}
