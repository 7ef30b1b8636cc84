//! What the subcommands do to a project: pure functions.

mod api;
mod create;
mod delete;
mod delete_webhook;
mod entry;
mod missing;
mod rename;
mod settings;
mod version;
mod webhook;

use std::collections::BTreeMap;

use serde_yaml::Mapping;

pub use self::api::EditApi;
pub use self::delete::DeleteApi;
pub use self::delete_webhook::DeleteWebhook;
pub use self::entry::External;
use self::entry::Given;
pub use self::rename::Rename;
pub use self::settings::{EditSettings, domain_stays, name_stays};
pub use self::version::NewVersion;
pub use self::webhook::{CreateWebhook, Target};
use super::finalizer;
use super::rules::{self, Violation};
use super::{
    Api, CopyrightHolder, Header, Key, LAYOUT, License, Project, Resource, Runtime, Settings,
    TEMPLATES,
};
use crate::error::Failure;
use crate::name::{
    ControllerName, Domain, Group, Kind, Plural, ProjectName, ShortName, Version, kubernetes,
};

/// What `init` takes.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// `--domain`; may be empty.
    pub domain: Domain,
    /// `--project-name`, or what the directory is called.
    pub name: ProjectName,
    /// `--owner`; may be empty.
    pub owner: CopyrightHolder,
    /// `--license`. With a header it becomes [`License::Custom`].
    pub license: License,
    /// The text of `--license-file`.
    pub header: Option<Header>,
    /// `--namespaced`.
    pub namespaced: bool,
    /// `--runtime`.
    pub runtime: Runtime,
}

/// What `create api` takes.
#[derive(Clone, Debug)]
pub struct CreateApi {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--plural`; without it that of the kind's other versions, or the English one. Of a kind that is known it has to be
    /// the one that is known.
    pub plural: Option<Plural>,
    /// `--namespaced`; without it that of the kind's other versions, or true.
    pub namespaced: Option<bool>,
    /// `--short-name`; without any those of the kind's other versions.
    pub short_names: Vec<ShortName>,
    /// `--resource`: define the API here.
    pub resource: bool,
    /// `--external-api-path` and `--external-api-domain`: a type of another project, for a controller alone.
    pub external: Option<External>,
    /// `--controller`: make a controller for it.
    pub controller: bool,
    /// `--controller-name`; without it the controller is the kind's default one.
    pub controller_name: Option<ControllerName>,
    /// `--finalizer`: the controller cleans up before an object goes; without it as the controller that is there, or false.
    pub finalizer: Option<bool>,
    /// `--force`: what is there already is made again.
    pub force: bool,
}

impl Project {
    /// A new project without resources. Total: its parts were checked when they were parsed.
    pub fn init(options: InitOptions) -> Self {
        let InitOptions {
            domain,
            name,
            owner,
            license,
            header,
            namespaced,
            runtime,
        } = options;
        let license = if header.is_some() {
            License::Custom
        } else {
            license
        };
        Self {
            domain,
            name,
            namespaced,
            settings: Settings {
                templates: TEMPLATES,
                license,
                owner,
                header,
                certificates: None,
                runtime,
                library: None,
                owned: Default::default(),
                extra: Mapping::new(),
            },
            layout: vec![LAYOUT.to_owned()],
            resources: BTreeMap::new(),
            plugins: Mapping::new(),
            extra: Mapping::new(),
        }
    }

    /// This project with an API, a controller, or both. Refuses what is there already, unless forced, and whatever
    /// breaks a rule; two creates that are each allowed in either order give the same project.
    pub fn create_api(&self, create: &CreateApi) -> Result<Self, Failure> {
        create.check()?;
        let mut project = self.clone();
        let key = if create.resource {
            project.define(create)?
        } else {
            project.find(create)?
        };
        if create.controller {
            project.control(&key, create)?;
        }
        rules::check(&project, Some(&key))?;
        Ok(project)
    }

    /// What a group, version and kind mean where none is defined: an API of the project, one of Kubernetes' types, or a type
    /// of another project that has an entry. `own` has the project's domain.
    fn meaning_of(&self, own: &Key) -> Option<Key> {
        if self
            .resources
            .get(own)
            .is_some_and(|resource| resource.api.is_some())
        {
            return Some(own.clone());
        }
        if let Some(core) = kubernetes::find(own.group.as_str(), own.version, &own.kind) {
            let valid = "the table of Kubernetes' types has valid names";
            return Some(Key {
                group: Group::parse(core.group).expect(valid),
                domain: Domain::parse(core.domain()).expect(valid),
                ..own.clone()
            });
        }
        let is = |(key, resource): &(&Key, &Resource)| {
            let same = (&key.group, &key.kind, key.version) == (&own.group, &own.kind, own.version);
            same && resource.external.is_some()
        };
        // No two entries have one meaning: the rules see to that.
        self.resources().find(is).map(|(key, _)| key.clone())
    }

    /// Adds the API, or with `--force` sets it again.
    fn define(&mut self, create: &CreateApi) -> Result<Key, Failure> {
        let key = create.own_key(self);
        let existing = self.resources.get(&key);
        if existing.is_some_and(|resource| resource.api.is_some()) && !create.force {
            return Err(Failure::refused(format!("`{key}` exists already"))
                .note("`--force` writes its files again and loses what was changed in them")
                .advise(format!("--version {}", create.version.following())));
        }
        let sibling = existing
            .and_then(|resource| resource.api.as_ref().map(|api| (resource, api)))
            .or_else(|| {
                let siblings = self
                    .resources
                    .iter()
                    .filter(|(other, _)| other.group == key.group && other.kind == key.kind);
                siblings
                    .filter(|(other, _)| other.domain == key.domain)
                    .find_map(|(_, r)| Some((r, r.api.as_ref()?)))
            });
        let plural = create
            .plural
            .clone()
            .or(sibling.map(|(resource, _)| resource.plural.clone()));
        let namespaced = create
            .namespaced
            .or(sibling.map(|(_, api)| api.namespaced))
            .unwrap_or(true);
        let short_names = match (&create.short_names, sibling) {
            (none, Some((_, api))) if none.is_empty() => api.short_names.clone(),
            (given, _) => given.clone(),
        };
        let plural = plural.unwrap_or_else(|| Plural::of(&key.kind));
        let entry = self
            .resources
            .entry(key.clone())
            .or_insert_with(|| Resource::new(plural.clone(), false));
        entry.plural = plural;
        let extra = entry.api.take().map(|api| api.extra).unwrap_or_default();
        entry.api = Some(Api {
            namespaced,
            short_names,
            extra,
        });
        Ok(key)
    }

    /// What `--resource=false` means: an API of this project, one of Kubernetes' types, or one of another project.
    fn find(&mut self, create: &CreateApi) -> Result<Key, Failure> {
        let Some(key) = create.key_in(self) else {
            let key = create.own_key(self);
            return Err(rules::unknown_kind(self, &key, rules::Use::Controller).into());
        };
        let said = Given {
            plural: create.plural.as_ref(),
            external: create.external.as_ref(),
        };
        self.entry_of(&key, said)?;
        Ok(key)
    }

    /// Adds the controller.
    fn control(&mut self, key: &Key, create: &CreateApi) -> Result<(), Failure> {
        let resource = self
            .resources
            .get_mut(key)
            .expect("the entry was just found or made");
        if create.finalizer == Some(true) && resource.api.is_none() {
            return Err(finalizer::of_another(key).into());
        }
        let name = match &create.controller_name {
            None if !resource.controller || create.force => {
                resource.controller = true;
                resource.finalizer = create.finalizer.unwrap_or(resource.finalizer);
                return Ok(());
            }
            None => {
                let name = format!("{}-{}", key.kind.singular(), key.version);
                return Err(Violation::new(
                    Some(key),
                    format!("`{}` has a controller already", key.kind),
                )
                .note("another one needs a name of its own")
                .flag(format!("--controller-name {name}"))
                .into());
            }
            Some(name) => name,
        };
        if resource.controllers.contains_key(name) && !create.force {
            return Err(Failure::refused(format!(
                "`{}` has a controller `{name}` already",
                key.kind
            ))
            .advise(format!("--controller-name {name}-2")));
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
