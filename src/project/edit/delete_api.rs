//! `delete api`: removes from an entry what `create api` adds, and the entry with its last part.

use crate::name::{ControllerName, Group, Kind, Version, is_near};
use crate::project::error::{Need, Refused, Result};
use crate::project::rules;
use crate::project::{Key, Project, Resource};

/// The flags of `delete api`.
#[derive(Clone, Debug)]
pub struct DeleteApi {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--resource`: the API; the default is true if the project defines it.
    pub resource: Option<bool>,
    /// `--controller`: the kind's default controller; the default is true if it watches this version.
    pub controller: Option<bool>,
    /// `--controller-name`: this controller instead.
    pub controller_name: Option<ControllerName>,
}

impl Project {
    /// Removes an API, a controller, or both. Refuses what does not exist, and an API that a controller, a webhook or a
    /// conversion still needs.
    pub fn delete_api(&self, delete: &DeleteApi) -> Result<Self> {
        delete.check()?;
        let (key, mut left) = self.named(&delete.group, delete.version, &delete.kind)?;
        let resource = delete.resource.unwrap_or(left.api.is_some());
        if resource && left.api.take().is_none() {
            return Err(Refused::NotDefined(key).into());
        }
        delete.take_controller(self, &key, &mut left, resource)?;
        let by = match resource {
            true => needs(self, &key, &left),
            false => Vec::new(),
        };
        if !by.is_empty() {
            // Whoever names one controller hardly means the API, too.
            let alone = delete.controller_name.clone();
            let alone = alone.filter(|_| delete.resource.is_none());
            return Err(Refused::Needed { key, by, alone }.into());
        }
        let mut project = self.clone();
        project.put(key, left);
        rules::check(&project, None)?;
        Ok(project)
    }

    /// Lists the controllers that the kind has instead. A controller is suggested only if its name is a typing error away from
    /// the `wanted` one: it would be deleted.
    fn no_controller(&self, key: &Key, wanted: Option<&ControllerName>) -> Refused {
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
            key: key.clone(),
            wanted: wanted.cloned(),
            others: others.collect(),
            near,
        }
    }
}

impl DeleteApi {
    /// Refuses flags that contradict each other.
    fn check(&self) -> Result<(), Refused> {
        match (self.controller, self.resource, &self.controller_name) {
            (Some(false), Some(false), _) => Err(Refused::NothingToDelete),
            (Some(false), _, Some(_)) => Err(Refused::NameWithoutController),
            _ => Ok(()),
        }
    }

    /// Takes the controller that is meant out of the entry.
    fn take_controller(
        &self,
        project: &Project,
        key: &Key,
        entry: &mut Resource,
        with_api: bool,
    ) -> Result<(), Refused> {
        if let Some(name) = &self.controller_name {
            entry.finalizers.remove(name);
            let taken = entry.controllers.remove(name);
            return match taken {
                Some(_) => Ok(()),
                None => Err(project.no_controller(key, Some(name))),
            };
        }
        let wanted = self.controller.unwrap_or(entry.controller || !with_api);
        if wanted && !entry.controller {
            return Err(project.no_controller(key, None));
        }
        entry.controller &= !wanted;
        entry.finalizer &= !wanted;
        Ok(())
    }
}

/// What still needs the API: it is deleted last.
fn needs(project: &Project, key: &Key, left: &Resource) -> Vec<Need> {
    let mut needs = Vec::new();
    if left.controller {
        needs.push(Need::Controller(None));
    }
    let names = left.controllers.keys().cloned();
    needs.extend(names.map(|name| Need::Controller(Some(name))));
    needs.extend(left.webhooks.clone().map(Need::Webhooks));
    if let Some(version) = project.hub_of(key).filter(|hub| *hub != key.version) {
        let hub = Key {
            version,
            ..key.clone()
        };
        let webhooks = project.resources.get(&hub);
        let webhooks = webhooks.and_then(|entry| entry.webhooks.as_ref());
        if webhooks.is_some_and(|webhooks| webhooks.spokes.contains(&key.version)) {
            needs.push(Need::Hub(version));
        }
    }
    needs
}
