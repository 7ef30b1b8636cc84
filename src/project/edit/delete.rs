//! `delete api` and `delete webhook`: remove parts of an entry, and the entry with its last part.

use std::collections::BTreeSet;

use super::{Gvk, create_webhook::check_belongs};
use crate::name::{ControllerName, Version, is_near};
use crate::project::error::{Need, Refused, Result};
use crate::project::rules;
use crate::project::{Key, Project, Resource};

/// The flags of `delete api`.
#[derive(Clone, Debug)]
pub struct DeleteApi {
    /// `--group`, `--version` and `--kind`.
    pub gvk: Gvk,
    /// `--resource`: the API; the default is true if the project defines it.
    pub resource: Option<bool>,
    /// `--controller`: the kind's default controller; the default is true if it watches this version.
    pub controller: Option<bool>,
    /// `--controller-name`: this controller instead.
    pub controller_name: Option<ControllerName>,
}

/// The flags of `delete webhook`.
#[derive(Clone, Debug)]
pub struct DeleteWebhook {
    /// `--group`, `--version` and `--kind`; for conversion, those of the hub.
    pub gvk: Gvk,
    /// `--defaulting`.
    pub defaulting: bool,
    /// `--validation`.
    pub validation: bool,
    /// `--conversion`.
    pub conversion: bool,
    /// `--spoke`; the default is the only one.
    pub spokes: Vec<Version>,
}

impl Project {
    /// Removes an API, a controller, or both.
    ///
    /// Errors: it does not exist; a controller, a webhook or a conversion needs the API.
    pub fn delete_api(&self, delete: &DeleteApi) -> Result<Self> {
        match (delete.controller, delete.resource, &delete.controller_name) {
            (Some(false), Some(false), _) => return Err(Refused::NothingToDelete.into()),
            (Some(false), _, Some(_)) => {
                return Err(Refused::no_effect("controllers", "controller").into());
            }
            _ => {}
        }
        let (key, mut left) = self.named(&delete.gvk)?;
        let resource = delete.resource.unwrap_or(left.has_types());
        if resource && !left.has_types() {
            return Err(Refused::NotDefined(key).into());
        }
        if resource {
            (left.api, left.source) = (None, None);
        }
        match &delete.controller_name {
            Some(name) => {
                left.finalizers.remove(name);
                if left.controllers.remove(name).is_none() {
                    return Err(self.no_controller(key, Some(name)).into());
                }
            }
            None if delete.controller.unwrap_or(left.controller || !resource) => {
                if !left.controller {
                    return Err(self.no_controller(key, None).into());
                }
                (left.controller, left.finalizer, left.image) = (false, false, None);
            }
            None => {}
        }
        let by = self.needs(&key, &left);
        if resource && !by.is_empty() {
            // A command that names one controller hardly means the API, too.
            let alone = delete.controller_name.clone();
            let alone = alone.filter(|_| delete.resource.is_none());
            return Err(Refused::Needed { key, by, alone }.into());
        }
        self.with_entry(key, left)
    }

    /// Removes some of the webhooks of an entry. The setting of certificates goes with the last webhook of the project, as it
    /// came with the first.
    ///
    /// Errors: no webhook is selected; a selected webhook does not exist.
    pub fn delete_webhook(&self, delete: &DeleteWebhook) -> Result<Self> {
        let (key, mut left) = self.named(&delete.gvk)?;
        let Some(there) = left.webhooks.take() else {
            let webhooks = self.webhooks().into_iter().map(|it| it.key);
            let of_kind = webhooks.filter(|it| (&it.group, &it.kind) == (&key.group, &key.kind));
            let versions = of_kind.map(|it| it.version).collect();
            return Err(Refused::NoWebhooks(key, versions).into());
        };
        let of_conversion = ("conversion", delete.conversion);
        check_belongs("spoke", delete.spokes.first(), of_conversion)?;
        let selected = [delete.defaulting, delete.validation, delete.conversion];
        let selected = selected.iter().filter(|it| **it).count();
        if selected == 0 {
            return Err(Refused::NoWebhookSelected(there).into());
        }
        let mut webhooks = there.clone();
        for (is_selected, admission, what) in [
            (delete.defaulting, &mut webhooks.defaulting, "defaulting"),
            (delete.validation, &mut webhooks.validation, "validation"),
        ] {
            if is_selected && admission.take().is_none() {
                let alone = selected == 1;
                return Err(Refused::NoSuchWebhook {
                    key,
                    what,
                    there,
                    alone,
                }
                .into());
            }
        }
        if delete.conversion {
            let spokes = delete.spokes_of(&key, there.spokes)?;
            webhooks.spokes.retain(|spoke| !spokes.contains(spoke));
        }
        left.webhooks = (!webhooks.is_empty()).then_some(webhooks);
        self.with_entry(key, left)
    }

    /// The project with another entry at `key`, or without it if `entry` holds nothing.
    fn with_entry(&self, key: Key, entry: Resource) -> Result<Self> {
        let mut project = self.clone();
        match entry.holds_nothing() {
            true => project.resources.remove(&key),
            false => project.resources.insert(key, entry),
        };
        project.forget_certificates();
        rules::check(&project, None)?;
        Ok(project)
    }

    /// The refusal that lists the controllers that the kind has instead. It suggests a controller only if its name is a typing
    /// error away from the `wanted` one, because that controller would be deleted.
    fn no_controller(&self, key: Key, wanted: Option<&ControllerName>) -> Refused {
        let mut others = self.controllers();
        others.retain(|it| (&it.key.group, &it.key.kind) == (&key.group, &key.kind));
        let near = others.iter().filter(|other| {
            !other.default
                && other.key.version == key.version
                && wanted.is_some_and(|wanted| is_near(wanted.as_str(), &other.name))
        });
        let near = match near.collect::<Vec<_>>()[..] {
            [one] => Some(one.name.clone()),
            _ => None,
        };
        let others = others.into_iter().map(|it| (it.name, it.key.version));
        Refused::NoController {
            key,
            wanted: wanted.cloned(),
            others: others.collect(),
            near,
        }
    }

    /// The parts of the project that need the API at `key`, of whose entry `left` remains.
    fn needs(&self, key: &Key, left: &Resource) -> Vec<Need> {
        let mut needs = Vec::new();
        needs.extend(left.controller.then_some(Need::Controller(None)));
        let names = left.controllers.keys().cloned();
        needs.extend(names.map(|name| Need::Controller(Some(name))));
        needs.extend(left.webhooks.clone().map(Need::Webhooks));
        let is_spoke = |hub: &Version| {
            let spokes = self.spokes_of(&key.in_version(*hub));
            spokes.contains(&key.version)
        };
        needs.extend(self.hub_of(key).filter(is_spoke).map(Need::Hub));
        needs
    }
}

impl DeleteWebhook {
    /// The versions to stop converting to the hub `key`; `there` has all that are converted.
    fn spokes_of(&self, key: &Key, there: BTreeSet<Version>) -> Result<BTreeSet<Version>, Refused> {
        let key = key.clone();
        if there.is_empty() {
            return Err(Refused::NoHub(key));
        }
        if let Some(&version) = self.spokes.iter().find(|spoke| !there.contains(spoke)) {
            return Err(Refused::NotConverted {
                key,
                version,
                there,
            });
        }
        match (self.spokes.is_empty(), there.len()) {
            (false, _) => Ok(self.spokes.iter().copied().collect()),
            (true, 1) => Ok(there),
            (true, _) => Err(Refused::SpokeMissing(there.into_iter().collect())),
        }
    }
}
