//! `create api --from-version`: a new version of a kind that starts as a copy of another, with its conversion.

use super::{CreateApi, CreateWebhook, Target};
use crate::advice::Advice;
use crate::error::Failure;
use crate::name::Version;
use crate::project::rules::webhooks as rule;
use crate::project::{Key, Project};

/// What it adds beside the API.
#[derive(Clone, Debug)]
pub struct NewVersion {
    /// The project with both.
    pub project: Project,
    /// The version that is copied.
    pub from: Key,
    /// The version that is made.
    pub to: Key,
    /// The conversions, as a command of their own would make them.
    pub conversion: CreateWebhook,
    /// What that command is about.
    pub target: Target,
}

impl Project {
    /// This project with a version of a kind that it has, and with conversions: to the kind's hub, or from all its
    /// versions to the one that is stored from now on.
    pub fn create_version(&self, create: &CreateApi, from: Version) -> Result<NewVersion, Failure> {
        if !create.resource {
            return Err(Failure::usage(
                "`--from-version` defines a version, but `--resource=false` defines none",
            )
            .advise("leave out --resource=false"));
        }
        let found = self.named(&create.group, from, &create.kind);
        let (from, entry) = found.map_err(|failure| self.other_version(create, failure))?;
        if entry.api.is_none() {
            return Err(
                Failure::refused(format!("`{from}` is not defined by this project"))
                    .note("its types are not here, so they cannot be copied")
                    .advise("leave out --from-version"),
            );
        }
        let project = self.create_api(create)?;
        let to = Key {
            version: create.version,
            ..from.clone()
        };
        let versions = rule::versions_of(&project, &to);
        let (hub, spokes) = match rule::hub_of(self, &to) {
            Some(hub) => (hub, vec![to.version]),
            None => {
                let hub = Version::storage(versions.iter().copied()).unwrap_or(to.version);
                let others = versions.into_iter().filter(|version| *version != hub);
                (hub, others.collect())
            }
        };
        let conversion = CreateWebhook {
            group: create.group.clone(),
            version: hub,
            kind: create.kind.clone(),
            plural: None,
            defaulting: false,
            defaulting_path: None,
            validation: false,
            validation_path: None,
            conversion: true,
            spokes,
            external: None,
            certificates: None,
            force: create.force,
        };
        Ok(NewVersion {
            target: conversion.target(&project)?,
            project: project.create_webhook(&conversion)?,
            from,
            to,
            conversion,
        })
    }
    /// Names a version that is there instead.
    fn other_version(&self, create: &CreateApi, failure: Failure) -> Failure {
        let mut apis = self.apis().into_iter().map(|api| api.key);
        let there = apis.find(|key| {
            (&key.group, &key.kind) == (&create.group, &create.kind)
                && key.version != create.version
        });
        let advice = there.map_or(Advice::drop("--from-version"), |key| {
            Advice::set("--from-version", key.version.to_string())
        });
        Failure {
            advice: vec![advice],
            ..failure
        }
    }
}
