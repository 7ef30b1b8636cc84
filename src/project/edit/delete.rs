//! `delete api` and `delete webhook`: remove parts of an entry, and the entry with its last part.

use std::collections::BTreeSet;

use super::create_webhook::{check_belongs, spoke_missing};
use super::{Gvk, list, no_effect, not_defined, status};
use crate::advice::{Advice, Flag, Script};
use crate::error::{Failure, Result};
use crate::name::{ControllerName, Version, is_near};
use crate::project::{Key, Project, Resource, rules};

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
            (Some(false), Some(false), _) => {
                return Err(Failure::usage(
                    "there is nothing to delete with `--resource=false` and `--controller=false`",
                )
                .advise(Advice::Help));
            }
            (Some(false), _, Some(_)) => {
                return Err(no_effect("controllers", "controller"));
            }
            _ => {}
        }
        let (key, mut left) = self.find(&delete.gvk)?;
        let resource = delete.resource.unwrap_or(left.has_types());
        if resource && !left.has_types() {
            return Err(not_defined(&key)
                .note("the project has only controllers or webhooks of it")
                .advise(Advice::switch("--resource=false")));
        }
        if resource {
            (left.api, left.source) = (None, None);
            (left.chart, left.helm_storage, left.ansible) = (None, false, None);
        }
        let is_default_meant = delete.controller_name.is_none()
            && delete
                .controller
                .unwrap_or(left.has_default_controller() || !resource);
        if delete.controller_name.is_some() || is_default_meant {
            let name = delete.controller_name.clone();
            if left.controllers.remove(&name).is_none() {
                return Err(self.no_controller(&key, name.as_ref()));
            }
            if left.api.is_none() && !left.has_default_controller() {
                left.ansible = None;
            }
        }
        let needs = self.needs(&key, &left);
        if resource && !needs.is_empty() {
            let failure = Failure::refused(format!("`{key}` is still needed"));
            let (notes, deletes): (Vec<_>, Vec<_>) = needs.into_iter().unzip();
            let failure = notes.into_iter().fold(failure, Failure::note);
            // A command that names one controller hardly means the API, too.
            let alone = delete.controller_name.as_ref();
            return Err(match alone.filter(|_| delete.resource.is_none()) {
                Some(name) => failure
                    .note(format!(
                        "the controller `{name}` alone goes without the API"
                    ))
                    .advise(Advice::switch("--resource=false")),
                None => deletes.into_iter().fold(failure, Failure::advise),
            });
        }
        self.with_entry(key, left)
    }

    /// Removes some of the webhooks of an entry. The setting of certificates goes with the last webhook of the project, as it
    /// came with the first.
    ///
    /// Errors: no webhook is selected; a selected webhook does not exist.
    pub fn delete_webhook(&self, delete: &DeleteWebhook) -> Result<Self> {
        let (key, mut left) = self.find(&delete.gvk)?;
        let Some(there) = left.webhooks.take() else {
            let webhooks = self.webhooks().into_iter().map(|it| it.key);
            let of_kind = webhooks.filter(|it| (&it.group, &it.kind) == (&key.group, &key.kind));
            let versions = list(of_kind.map(|it| it.version));
            return Err(Failure::refused(format!("`{key}` has no webhooks"))
                .note(match versions.is_empty() {
                    true => "no version of the kind has webhooks".to_owned(),
                    false => format!("the versions with webhooks: {versions}"),
                })
                .advise(status()));
        };
        let of_conversion = ("conversion", delete.conversion);
        check_belongs("spoke", delete.spokes.first(), of_conversion)?;
        let selected = [delete.defaulting, delete.validation, delete.conversion];
        let selected = selected.iter().filter(|it| **it).count();
        if selected == 0 {
            return Err(Failure::usage("no kind of webhook was selected")
                .note("each is deleted by the flag that created it")
                .advise(Advice::Set(there.flags())));
        }
        let mut webhooks = there.clone();
        for (is_selected, admission, what) in [
            (delete.defaulting, &mut webhooks.defaulting, "defaulting"),
            (delete.validation, &mut webhooks.validation, "validation"),
        ] {
            if is_selected && admission.take().is_none() {
                let there = there.flags();
                let there: Vec<_> = there.iter().flat_map(Flag::words).collect();
                return Err(Failure::refused(format!("`{key}` has no {what} webhook"))
                    .note(format!("it has {}", there.join(" ")))
                    .advise(match selected {
                        1 => status(),
                        _ => Advice::drop(format!("--{what}")),
                    }));
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
    fn no_controller(&self, key: &Key, wanted: Option<&ControllerName>) -> Failure {
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
        let others = others.iter();
        let others = list(others.map(|it| format!("`{}` in {}", it.name, it.key.version)));
        Failure::refused(match wanted {
            Some(name) => format!("`{key}` has no controller `{name}`"),
            None => format!(
                "the default controller of `{}` does not watch `{key}`",
                key.kind
            ),
        })
        .note(match others.is_empty() {
            true => "no controller watches that kind".to_owned(),
            false => format!("its controllers are {others}"),
        })
        .advise(near.map_or_else(status, |near| Advice::set("--controller-name", near)))
    }

    /// The parts of the project that need the API at `key`, of whose entry `left` remains, each with the command that deletes it.
    fn needs(&self, key: &Key, left: &Resource) -> Vec<(String, Script)> {
        let version = key.version;
        let controller = || {
            let delete = Script::forge("delete api").flags(&key.flags());
            delete.code("--resource=false")
        };
        let webhook = |of: &Key| Script::forge("delete webhook").flags(&of.flags());
        let mut needs = Vec::new();
        if left.has_default_controller() {
            needs.push((format!("its controller watches {version}"), controller()));
        }
        for name in left.controllers.keys().flatten() {
            let delete = controller().code("--controller-name").arg(name.as_str());
            needs.push((format!("its controller `{name}` watches {version}"), delete));
        }
        if let Some(webhooks) = &left.webhooks {
            let delete = webhook(key).flags(&webhooks.flags());
            needs.push(("it has webhooks".to_owned(), delete));
        }
        let is_spoke = |hub: &Version| {
            let spokes = self.spokes_of(&key.in_version(*hub));
            spokes.contains(&version)
        };
        if let Some(hub) = self.hub_of(key).filter(is_spoke) {
            let delete = webhook(&key.in_version(hub)).code("--conversion --spoke");
            needs.push((
                format!("{version} is converted to the hub {hub} and back"),
                delete.arg(version.to_string()),
            ));
        }
        needs
    }
}

impl DeleteWebhook {
    /// The versions to stop converting to the hub `key`; `there` has all that are converted.
    fn spokes_of(&self, key: &Key, there: BTreeSet<Version>) -> Result<BTreeSet<Version>> {
        if there.is_empty() {
            return Err(Failure::refused(format!("`{key}` is not a hub"))
                .note("conversion is deleted from the version to which others are converted")
                .advise(status()));
        }
        if let Some(spoke) = self.spokes.iter().find(|spoke| !there.contains(spoke)) {
            return Err(Failure::refused(format!(
                "{spoke} of `{}` is not converted to {}",
                key.kind, key.version
            ))
            .note(format!("the versions that are: {}", list(&there)))
            .advise(status()));
        }
        match (self.spokes.is_empty(), there.len()) {
            (false, _) => Ok(self.spokes.iter().copied().collect()),
            (true, 1) => Ok(there),
            (true, _) => Err(spoke_missing(&there)),
        }
    }
}
