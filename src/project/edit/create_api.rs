//! `create api`: an API, a controller, or both; and `--from-version`, a new version that starts as a copy of another one.

use std::sync::Arc;

use super::{
    AGAIN, CreateWebhook, External, Gvk, Target, controller_exists, listed, no_effect, not_defined,
    status,
};
use crate::advice::Advice;
use crate::error::{Failure, Result};
use crate::name::{
    AnsiblePath, ChartPath, ControllerName, Domain, Plural, Recipe, ShortName, Version, flag_of,
    kubernetes, rust::Module,
};
use crate::project::rules;
use crate::project::violation::Purpose;
use crate::project::{Api, DeployImage, Fields, Key, Project, Resource, Source};

/// The flags of `create api`.
#[derive(Clone, Debug)]
pub struct CreateApi {
    /// `--group`, `--version` and `--kind`.
    pub gvk: Gvk,
    /// `--plural`; the default is that of the kind's other versions, or the English one. Only an API or a new external type takes
    /// it.
    pub plural: Option<Plural>,
    /// `--namespaced`; the default is that of the kind's other versions, or true.
    pub namespaced: Option<bool>,
    /// `--short-name`; the default is those of the kind's other versions.
    pub short_names: Vec<ShortName>,
    /// `--field` and `--status-field`: the fields of the types. The default is those of the API, if it exists.
    pub fields: Fields,
    /// `--helm-chart`: the objects are releases of this chart.
    pub chart: Option<ChartPath>,
    /// `--helm-storage`: revisions are kept as Helm keeps them. The default is the setting of the API, if it exists.
    pub helm_storage: bool,
    /// `--ansible-role` or `--ansible-playbook`: it runs for each object.
    pub ansible: Option<AnsiblePath>,
    /// The domain of a kind that another project made; the default is that of the kind's other versions, or the project's.
    pub domain: Option<Domain>,
    /// `--resource`: the project defines the API.
    pub resource: bool,
    /// `--external-api-path` and `--external-api-domain`: an external type, which gets only a controller.
    pub external: Option<External>,
    /// `--controller`: add a controller.
    pub controller: bool,
    /// `--controller-name`; without it the controller is the kind's default one.
    pub controller_name: Option<ControllerName>,
    /// `--finalizer`: the controller runs cleanup before an object is deleted. The default is the setting of the existing
    /// controller, or false.
    pub finalizer: Option<bool>,
    /// `--image` and its options: the controller gets a Deployment, and the API the field `size`. The default is the image of the
    /// existing controller, or none.
    pub image: Option<DeployImage>,
    /// `--force`: allowed even where it exists.
    pub force: bool,
}

/// The result of `create api --from-version`.
#[derive(Clone, Debug)]
pub struct NewVersion {
    /// The project with the new version and its conversions.
    pub project: Project,
    /// The version to copy.
    pub from: Key,
    /// The new version.
    pub to: Key,
    /// The hub and the versions that get the conversions.
    pub target: Target,
}

impl Project {
    /// Adds an API, a controller, or both. Two creates that are each allowed in either order give the same project.
    ///
    /// Errors: the flags contradict each other; the API or controller exists, unless forced; a rule is broken.
    pub fn create_api(&self, create: &CreateApi) -> Result<Self> {
        create.check()?;
        let mut project = self.clone();
        let key = create.key_in(self)?;
        self.keeps_types(&key, create)?;
        if create.resource {
            project.define(&key, create)?;
        } else {
            project.entry_of(&key, create.plural.as_ref(), create.external.as_ref())?;
        }
        if create.controller {
            project.control(&key, create)?;
        }
        rules::check(&project, Some(&key))?;
        Ok(project)
    }

    /// Adds a version of a kind, and its conversions: from and to the kind's hub if it has one; otherwise every version of the
    /// kind is converted to the version that becomes the stored one.
    pub fn create_version(&self, create: &CreateApi, from: Version) -> Result<NewVersion> {
        if !create.resource {
            return Err(no_effect("fromVersion", "api"));
        }
        let Gvk {
            group,
            version,
            kind,
        } = &create.gvk;
        let source = Gvk {
            version: from,
            ..create.gvk.clone()
        };
        let found = self.find(&source).map_err(|absent| {
            let mut others = self.apis_of(group, kind).map(|(key, _)| key.version);
            let other = others.find(|other| other != version);
            Failure::refused(format!("`{}` is not in this project", absent.key))
                .note(listed(&absent.known))
                .advise(other.map_or(Advice::drop("--from-version"), |other| {
                    Advice::set("--from-version", other.to_string())
                }))
        });
        let (from, entry) = found?;
        if entry.api.is_none() {
            return Err(not_defined(&from)
                .note("only the types of this project can be copied")
                .advise(Advice::drop("--from-version")));
        }
        let given = [
            ("deployImage", create.image.is_some()),
            ("fields", !create.fields.spec.is_empty()),
            ("statusFields", !create.fields.status.is_empty()),
        ];
        if let Some(field) = first_given(&given) {
            let name = flag_of(field);
            return Err(Failure::usage(format!("`{name}` beside `--from-version`"))
                .note("the new version has the fields of the one that it copies; `edit api --add-field` adds others")
                .advise(Advice::drop(name)));
        }
        let mut project = self.create_api(&CreateApi {
            fields: entry.api.map_or_else(Fields::default, |api| api.fields),
            ..create.clone()
        })?;
        let to = self.own_key(&create.gvk);
        if let Some(source) = entry.source
            && let Some(of_copy) = project.resources.get_mut(&to)
        {
            let definition = source.definition;
            let definition = definition.map(|it| Arc::new(it.in_version(to.version)));
            of_copy.source = Some(Source {
                definition,
                ..source
            });
        }
        let versions = project.versions_of(&to);
        let (hub, spokes) = match self.hub_of(&to) {
            Some(hub) => (hub, vec![to.version]),
            None => {
                let hub = Version::storage(versions.iter().copied()).unwrap_or(to.version);
                let others = versions.into_iter().filter(|version| *version != hub);
                (hub, others.collect())
            }
        };
        let conversion = CreateWebhook {
            force: create.force,
            ..CreateWebhook::conversion(&to.in_version(hub), spokes)
        };
        Ok(NewVersion {
            target: conversion.target(&project)?,
            project: project.create_webhook(&conversion)?,
            from,
            to,
        })
    }

    /// Refuses a chart, role or playbook for a kind that has another one, or types of the user.
    fn keeps_types(&self, key: &Key, create: &CreateApi) -> Result<()> {
        let existing = self.resources.get(key).filter(|it| it.api.is_some());
        match (existing.map(Resource::recipe), create.recipe()) {
            (Some(there), Some(new)) if there != Some(new) => Err(Failure::refused(match there {
                Some(recipe) => format!("`{key}` exists already, with {recipe}"),
                None => format!("`{key}` exists already, with types of your own"),
            })
            .note("the types of a kind stay, because its objects are stored with them")
            .note("`delete api` removes the kind first")
            .advise(key.deleted())),
            _ => Ok(()),
        }
    }

    /// Adds the API, or with `--force` sets it again. The entry itself has the defaults, or another version of the kind.
    fn define(&mut self, key: &Key, create: &CreateApi) -> Result<()> {
        let existing = self.resources.get(key).filter(|it| it.api.is_some());
        if let Some(existing) = existing.filter(|_| !create.force) {
            let failure = Failure::refused(format!("`{key}` exists already")).note(AGAIN);
            return Err(match existing.recipe() {
                // Another version would break a rule.
                Some(_) => failure.advise(status()),
                None => {
                    let following = key.version.following().to_string();
                    failure.advise(Advice::set("--version", following))
                }
            });
        }
        let group = key.api_group(false);
        let is_external = |(other, it): &(&Key, &Resource)| {
            it.external.is_some() && other.kind == key.kind && other.api_group(false) == group
        };
        if let Some((external, _)) = self.resources.iter().find(is_external) {
            return Err(Failure::refused(format!(
                "the project has `{external}` as a type of another project"
            ))
            .note("delete it from the project first")
            .advise(external.deleted()));
        }
        let mut versions = self.apis_of(&key.group, &key.kind).map(|(_, entry)| entry);
        let like = existing.or_else(|| versions.next());
        let plural = create.plural.clone();
        let plural = plural.or_else(|| Some(like?.plural.clone()));
        let plural = plural.unwrap_or_else(|| Plural::of(&key.kind));
        let api = like.and_then(|like| like.api.as_ref());
        let namespaced = api.is_none_or(|api| api.namespaced);
        let namespaced = create.namespaced.unwrap_or(namespaced);
        if create.image.is_some() && !namespaced {
            return Err(beside_image("namespaced"));
        }
        let short_names = match api {
            Some(api) if create.short_names.is_empty() => api.short_names.clone(),
            _ => create.short_names.clone(),
        };
        let fields = match api {
            Some(api) if existing.is_some() && create.fields.is_empty() => api.fields.clone(),
            _ => create.fields.clone(),
        };
        let fields = match create.image {
            Some(_) => fields.with_size(),
            None => fields,
        };
        drop(versions);
        let entry = self.resources.entry(key.clone());
        let entry = entry.or_insert_with(|| Resource::new(plural.clone()));
        entry.plural = plural;
        entry.chart = create.chart.clone().or_else(|| entry.chart.take());
        entry.helm_storage |= create.helm_storage;
        entry.ansible = create.ansible.clone().or_else(|| entry.ansible.take());
        entry.api = Some(Api {
            namespaced,
            short_names,
            fields,
            ..entry.api.take().unwrap_or_default()
        });
        Ok(())
    }

    /// Adds the controller to the entry at `key`.
    fn control(&mut self, key: &Key, create: &CreateApi) -> Result<()> {
        let mut of_kind = self.resources.iter().filter(|(it, _)| it.is_same_kind(key));
        let is_elsewhere = of_kind.any(|(it, entry)| it != key && entry.has_default_controller());
        let resource = self.resources.get_mut(key);
        let resource = resource.expect("the entry was just found or made");
        if create.finalizer == Some(true) && resource.api.is_none() {
            return Err(rules::foreign_finalizer(key).into());
        }
        let Some(name) = &create.controller_name else {
            // The rules refuse a second default controller, too. Their advice is no controller, but a finalizer needs one.
            let is_second = is_elsewhere && create.finalizer == Some(true);
            if is_second || resource.has_default_controller() && !create.force {
                return Err(match create.ansible {
                    Some(_) => Failure::refused(format!("`{}` has a controller already", key.kind))
                        .note("`--force` writes its file anew, so that it runs Ansible")
                        .advise(Advice::switch("--force")),
                    None => controller_exists(key),
                });
            }
            let default = resource.controllers.entry(None).or_default();
            if create.image.is_some() {
                default.image.clone_from(&create.image);
                default.finalizer = false;
            }
            default.finalizer = create.finalizer.unwrap_or(default.finalizer);
            // The API of the project has its own already.
            resource.ansible = create.ansible.clone().or_else(|| resource.ansible.take());
            if default.finalizer && default.image.is_some() {
                return Err(beside_image("finalizers"));
            }
            return Ok(());
        };
        let own = Some(name.clone());
        if resource.controllers.contains_key(&own) && !create.force {
            return Err(Failure::refused(format!(
                "`{}` has a controller `{name}` already",
                key.kind
            ))
            .advise(Advice::set("--controller-name", format!("{name}-2"))));
        }
        let controller = resource.controllers.entry(own).or_default();
        controller.finalizer = create.finalizer.unwrap_or(controller.finalizer);
        Ok(())
    }
}

/// The first field that is given.
fn first_given(fields: &[(&'static str, bool)]) -> Option<&'static str> {
    let given = fields.iter().find(|(_, is_given)| *is_given);
    given.map(|(field, _)| *field)
}

/// The refusal of a field that a controller with an image cannot have.
fn beside_image(field: &str) -> Failure {
    let name = flag_of(field);
    let why = match field {
        "controllers" => "the Deployment belongs to the kind's default controller",
        "finalizers" => {
            "its objects are in the cluster, where garbage collection deletes them: it needs no cleanup"
        }
        _ => "an object without a namespace cannot own a Deployment",
    };
    Failure::usage(format!("`{name}` beside `--image`"))
        .note(why)
        .advise(Advice::drop(name))
}

impl CreateApi {
    /// The command with no flags but those of the type: an API with its default controller.
    pub fn of(gvk: Gvk) -> Self {
        Self {
            gvk,
            plural: None,
            namespaced: None,
            short_names: Vec::new(),
            fields: Fields::default(),
            chart: None,
            helm_storage: false,
            ansible: None,
            domain: None,
            resource: true,
            external: None,
            controller: true,
            controller_name: None,
            finalizer: None,
            image: None,
            force: false,
        }
    }

    /// Refuses flags that contradict each other.
    fn check(&self) -> Result<()> {
        let of_controller = [
            ("controllers", self.controller_name.is_some()),
            ("finalizers", self.finalizer == Some(true)),
            ("deployImage", self.image.is_some()),
        ];
        if !self.controller {
            if !self.resource {
                let gvk = &self.gvk;
                let core = kubernetes::find(gvk.group.as_str(), gvk.version, &gvk.kind);
                let elsewhere = core.is_some() || self.external.is_some();
                let mut flags = vec!["--controller=false".to_owned()];
                if !elsewhere {
                    flags.insert(0, "--resource=false".to_owned());
                }
                return Err(Failure::usage(
                    "there is nothing to create with `--resource=false` and `--controller=false`",
                )
                .advise(Advice::Drop(flags)));
            }
            if let Some(field) = first_given(&of_controller) {
                return Err(no_effect(field, "controller"));
            }
        }
        if let (true, Some(External { path, .. })) = (self.resource, &self.external) {
            return Err(Failure::usage(format!(
                "`--external-api-path {path}` is given with `--resource`"
            ))
            .note("only the project that defines a type makes its CRD; this project can have a controller for it")
            .advise(Advice::switch("--resource=false")));
        }
        // Neither a second controller nor one with a finalizer has an image.
        if let (true, Some(field)) = (self.image.is_some(), first_given(&of_controller[..2])) {
            return Err(beside_image(field));
        }
        let own_plural = self.external.is_none() && self.plural.is_some();
        let of_api = [
            ("plural", own_plural),
            ("namespaced", self.namespaced.is_some()),
            ("shortNames", !self.short_names.is_empty()),
            ("fields", !self.fields.spec.is_empty()),
            ("statusFields", !self.fields.status.is_empty()),
            ("deployImage", self.image.is_some()),
        ];
        match first_given(&of_api) {
            Some(field) if !self.resource => Err(no_effect(field, "api")),
            _ => Ok(()),
        }
    }

    /// The key of the entry that it creates or changes: an API that it defines, or a known type.
    ///
    /// Errors: nobody defines the type.
    pub fn key_in(&self, project: &Project) -> Result<Key> {
        let mut own = project.own_key(&self.gvk);
        if let Some(domain) = &self.domain {
            own.domain.clone_from(domain);
        }
        Ok(match self.resource {
            true => own,
            false => project.known_key(&own, self.external.as_ref(), Purpose::Controller)?,
        })
    }

    /// What the default controller runs.
    pub fn recipe(&self) -> Option<Recipe<'_>> {
        let chart = self.chart.as_ref().map(Recipe::Chart);
        chart.or_else(|| self.ansible.as_ref().map(Recipe::Ansible))
    }

    /// The module of the controller that it makes.
    pub fn controller_module(&self) -> Module {
        match &self.controller_name {
            Some(name) => Module::of_controller(name),
            None => Module::of_kind(&self.gvk.kind),
        }
    }
}
