//! `create api`: an API, a controller, or both; and `--from-version`, a new version that starts as a copy of another one.

use super::entry::Given;
use super::{CreateWebhook, External, Target};
use crate::name::{
    ControllerName, Group, Kind, Plural, ShortName, Version, kubernetes, rust::Module,
};
use crate::project::error::{Refused, Result, Rule, Use};
use crate::project::rules::{self, webhooks as rule};
use crate::project::{Api, Key, Project, Resource};

/// The flags of `create api`.
#[derive(Clone, Debug)]
pub struct CreateApi {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--plural`; the default is that of the kind's other versions, or the English one. A known kind has its plural already.
    pub plural: Option<Plural>,
    /// `--namespaced`; the default is that of the kind's other versions, or true.
    pub namespaced: Option<bool>,
    /// `--short-name`; the default is those of the kind's other versions.
    pub short_names: Vec<ShortName>,
    /// `--resource`: define the API here.
    pub resource: bool,
    /// `--external-api-path` and `--external-api-domain`: a type of another project, for a controller alone.
    pub external: Option<External>,
    /// `--controller`: add a controller.
    pub controller: bool,
    /// `--controller-name`; without it the controller is the kind's default one.
    pub controller_name: Option<ControllerName>,
    /// `--finalizer`: the controller runs cleanup before an object is deleted. The default is what an existing controller has,
    /// or false.
    pub finalizer: Option<bool>,
    /// `--force`: create again what exists.
    pub force: bool,
}

/// What `--from-version` adds beside the API.
#[derive(Clone, Debug)]
pub struct NewVersion {
    /// The project with both.
    pub project: Project,
    /// The version that is copied.
    pub from: Key,
    /// The new version.
    pub to: Key,
    /// The conversions, as a `create webhook` of their own.
    pub conversion: CreateWebhook,
    /// The entry and the versions that this `create webhook` is about.
    pub target: Target,
}

impl Project {
    /// Adds an API, a controller, or both. Refuses what exists already, unless forced, and whatever breaks a rule. Two creates
    /// that are each allowed in either order give the same project.
    pub fn create_api(&self, create: &CreateApi) -> Result<Self> {
        create.check()?;
        let mut project = self.clone();
        let key = match create.resource {
            true => project.define(create)?,
            false => project.find(create)?,
        };
        if create.controller {
            project.control(&key, create)?;
        }
        rules::check(&project, Some(&key))?;
        Ok(project)
    }

    /// Adds a version of a kind, and conversions: to the kind's hub, or from all its versions to the one that is stored from
    /// now on.
    pub fn create_version(&self, create: &CreateApi, from: Version) -> Result<NewVersion> {
        if !create.resource {
            return Err(Refused::VersionWithoutResource.into());
        }
        let found = self.named(&create.group, from, &create.kind);
        let (from, entry) = found.map_err(|refused| self.no_source(create, refused))?;
        if entry.api.is_none() {
            return Err(Refused::NotCopied(from).into());
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

    /// Names another version that could be copied.
    fn no_source(&self, create: &CreateApi, refused: Refused) -> Refused {
        let mut apis = self.apis().into_iter().map(|api| api.key);
        let other = apis.find(|key| {
            (&key.group, &key.kind) == (&create.group, &create.kind)
                && key.version != create.version
        });
        match refused {
            Refused::NotThere { key, known, .. } => Refused::NoSource {
                key,
                known,
                other: other.map(|key| key.version),
            },
            refused => refused,
        }
    }

    /// Adds the API, or with `--force` sets it again.
    fn define(&mut self, create: &CreateApi) -> Result<Key> {
        let key = create.own_key(self);
        let existing = self.resources.get(&key);
        if existing.is_some_and(|resource| resource.api.is_some()) && !create.force {
            return Err(Refused::ApiExists(key).into());
        }
        let known = |(_, resource): (&Key, &Resource)| {
            let api = resource.api.as_ref()?;
            Some((
                resource.plural.clone(),
                api.namespaced,
                api.short_names.clone(),
            ))
        };
        let mut others = self
            .resources()
            .filter(|(other, _)| other.is_same_kind(&key));
        let known = existing
            .and_then(|existing| known((&key, existing)))
            .or_else(|| others.find_map(known));
        drop(others);
        let (plural, namespaced, short_names) =
            known.unwrap_or_else(|| (Plural::of(&key.kind), true, Vec::new()));
        let plural = create.plural.clone().unwrap_or(plural);
        let entry = self.resources.entry(key.clone());
        let entry = entry.or_insert_with(|| Resource::new(plural.clone(), false));
        entry.plural = plural;
        entry.api = Some(Api {
            namespaced: create.namespaced.unwrap_or(namespaced),
            short_names: match create.short_names.is_empty() {
                true => short_names,
                false => create.short_names.clone(),
            },
            ..entry.api.take().unwrap_or_default()
        });
        Ok(key)
    }

    /// The type that `--resource=false` names: an API of this project, a type of Kubernetes, or one of another project.
    fn find(&mut self, create: &CreateApi) -> Result<Key> {
        let Some(key) = create.key_in(self) else {
            let key = create.own_key(self);
            return Err(rules::unknown_kind(self, &key, Use::Controller).into());
        };
        let given = Given {
            plural: create.plural.as_ref(),
            external: create.external.as_ref(),
        };
        self.entry_of(&key, given)?;
        Ok(key)
    }

    /// Adds the controller.
    fn control(&mut self, key: &Key, create: &CreateApi) -> Result<()> {
        let resource = self.resources.get_mut(key);
        let resource = resource.expect("the entry was just found or made");
        if create.finalizer == Some(true) && resource.api.is_none() {
            return Err(Rule::ForeignFinalizer.at(key).into());
        }
        let Some(name) = &create.controller_name else {
            if resource.controller && !create.force {
                return Err(Refused::ControllerExists(key.clone()).into());
            }
            resource.controller = true;
            resource.finalizer = create.finalizer.unwrap_or(resource.finalizer);
            return Ok(());
        };
        if resource.controllers.contains_key(name) && !create.force {
            return Err(Refused::NameExists(key.clone(), name.clone()).into());
        }
        resource.controllers.entry(name.clone()).or_default();
        match create.finalizer {
            Some(true) => _ = resource.finalizers.insert(name.clone()),
            Some(false) => _ = resource.finalizers.remove(name),
            None => {}
        }
        Ok(())
    }
}

impl CreateApi {
    /// Refuses flags that contradict each other.
    fn check(&self) -> Result<(), Refused> {
        if !self.controller {
            if !self.resource {
                let core = kubernetes::find(self.group.as_str(), self.version, &self.kind);
                let elsewhere = core.is_some() || self.external.is_some();
                return Err(Refused::NothingToCreate { elsewhere });
            }
            if self.controller_name.is_some() {
                return Err(Refused::NameWithoutController);
            }
            if self.finalizer == Some(true) {
                return Err(Refused::FinalizerWithoutController);
            }
        }
        if self.resource {
            return match &self.external {
                Some(External { path, .. }) => Err(Refused::PathWithResource(path.clone())),
                None => Ok(()),
            };
        }
        let own_plural = self.external.is_none() && self.plural.is_some();
        let given = [
            ("--plural", own_plural),
            ("--namespaced", self.namespaced.is_some()),
            ("--short-name", !self.short_names.is_empty()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Refused::FlagWithoutResource(flag)),
            None => Ok(()),
        }
    }

    fn own_key(&self, project: &Project) -> Key {
        Key {
            group: self.group.clone(),
            kind: self.kind.clone(),
            domain: project.domain.clone(),
            version: self.version,
        }
    }

    /// The entry that it is about: an API that it defines, or a known type.
    pub fn key_in(&self, project: &Project) -> Option<Key> {
        let own = self.own_key(project);
        match &self.external {
            _ if self.resource => Some(own),
            Some(External { domain, .. }) => Some(Key {
                domain: domain.clone(),
                ..own
            }),
            None => project.meaning_of(&own),
        }
    }

    /// The module of the controller that it makes.
    pub fn controller_module(&self) -> Module {
        match &self.controller_name {
            Some(name) => Module::of_controller(name),
            None => Module::of_kind(&self.kind),
        }
    }

    /// The module of its group, in the project that it was applied to.
    pub fn group_module(&self, project: &Project) -> Module {
        match self.key_in(project) {
            Some(key) => Module::of_group(&key.group, &key.domain),
            None => Module::of_group(&self.group, &project.domain),
        }
    }
}
