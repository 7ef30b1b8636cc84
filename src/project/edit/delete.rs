//! `delete api`: what `create api` adds to an entry goes away again, and an entry that holds nothing more goes with it.

use crate::advice::Advice;
use crate::error::Failure;
use crate::name::{ControllerName, Group, Kind, Version, is_near};
use crate::project::rules::{self, STATUS, webhooks as rule};
use crate::project::{Key, Project, Resource};

/// What `delete api` takes.
#[derive(Clone, Debug)]
pub struct DeleteApi {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--resource`: the API; without it, if the project defines it.
    pub resource: Option<bool>,
    /// `--controller`: the kind's default controller; without it, if it watches this version.
    pub controller: Option<bool>,
    /// `--controller-name`: that controller instead.
    pub controller_name: Option<ControllerName>,
}

impl Project {
    /// This project without an API, a controller, or both. Refuses what is not there, and an API that a controller, a
    /// webhook or a conversion still needs.
    pub fn delete_api(&self, delete: &DeleteApi) -> Result<Self, Failure> {
        delete.check()?;
        let (key, mut left) = self.named(&delete.group, delete.version, &delete.kind)?;
        let resource = delete.resource.unwrap_or(left.api.is_some());
        if resource && left.api.take().is_none() {
            return Err(
                Failure::refused(format!("`{key}` is not defined by this project"))
                    .note("what the project has of it is what watches it or is asked about it")
                    .advise("--resource=false"),
            );
        }
        delete.take_controller(self, &key, &mut left, resource)?;
        if resource {
            check_unneeded(self, &key, &left).map_err(|failure| {
                match (&delete.controller_name, delete.resource) {
                    // Whoever names one controller hardly means the API, too.
                    (Some(name), None) => Failure {
                        advice: vec![Advice::set("--resource", "false")],
                        ..failure.note(format!(
                            "the controller `{name}` alone goes without the API"
                        ))
                    },
                    _ => failure,
                }
            })?;
        }
        let mut project = self.clone();
        project.put(key, left);
        rules::check(&project, None)?;
        Ok(project)
    }

    /// Puts the entry, or removes it if it holds nothing.
    pub(super) fn put(&mut self, key: Key, entry: Resource) {
        match entry.holds_nothing() {
            true => self.resources.remove(&key),
            false => self.resources.insert(key, entry),
        };
    }
}

impl DeleteApi {
    /// Flags that contradict each other.
    fn check(&self) -> Result<(), Failure> {
        if self.controller != Some(false) {
            return Ok(());
        }
        if self.resource == Some(false) {
            return Err(Failure::usage(
                "there is nothing to delete with `--resource=false` and `--controller=false`",
            )
            .advise("operator-forge delete api --help"));
        }
        if self.controller_name.is_some() {
            return Err(Failure::usage(
                "`--controller-name` names no controller with `--controller=false`",
            )
            .advise("--controller=true"));
        }
        Ok(())
    }

    /// Takes the controller that is meant out of the entry.
    fn take_controller(
        &self,
        project: &Project,
        key: &Key,
        entry: &mut Resource,
        with_api: bool,
    ) -> Result<(), Failure> {
        if let Some(name) = &self.controller_name {
            entry.finalizers.remove(name);
            return match entry.controllers.remove(name) {
                Some(_) => Ok(()),
                None => Err(no_controller(
                    project,
                    key,
                    Some(name.as_str()),
                    format!("`{key}` has no controller `{name}`"),
                )),
            };
        }
        let wanted = self.controller.unwrap_or(entry.controller || !with_api);
        if wanted && !entry.controller {
            let error = format!(
                "the default controller of `{}` does not watch `{key}`",
                key.kind
            );
            return Err(no_controller(project, key, None, error));
        }
        entry.controller &= !wanted;
        entry.finalizer &= !wanted;
        Ok(())
    }
}

/// Names the controllers that the kind has instead. A line names one of them only where a slip of the finger is between it
/// and the `wanted` one: it would be deleted.
fn no_controller(project: &Project, key: &Key, wanted: Option<&str>, error: String) -> Failure {
    let failure = Failure::refused(error);
    let controllers = project.controllers();
    let of_kind = |other: &Key| (&other.group, &other.kind) == (&key.group, &key.kind);
    let others: Vec<_> = controllers
        .iter()
        .filter(|other| of_kind(other.key))
        .collect();
    if others.is_empty() {
        let failure = failure.note("no controller watches that kind");
        return failure.advise(STATUS);
    }
    let names: Vec<_> = others
        .iter()
        .map(|other| format!("`{}` in {}", other.name, other.key.version))
        .collect();
    let failure = failure.note(format!("its controllers are {}", names.join(", ")));
    let near = others.iter().filter(|other| {
        !other.default
            && other.key.version == key.version
            && wanted.is_some_and(|wanted| is_near(wanted, &other.name))
    });
    match near.collect::<Vec<_>>()[..] {
        [one] => failure.advise(format!("--controller-name {}", one.name)),
        _ => failure.advise(STATUS),
    }
}

/// An API goes after what was built on it.
fn check_unneeded(project: &Project, key: &Key, left: &Resource) -> Result<(), Failure> {
    let mut needs: Vec<(String, String)> = Vec::new();
    let flags = key.flags();
    if left.controller {
        needs.push((
            format!("its controller watches {}", key.version),
            format!("operator-forge delete api {flags} --resource=false"),
        ));
    }
    for name in left.controllers.keys() {
        needs.push((
            format!("its controller `{name}` watches {}", key.version),
            format!("operator-forge delete api {flags} --resource=false --controller-name {name}"),
        ));
    }
    if let Some(webhooks) = &left.webhooks {
        needs.push((
            "it has webhooks".to_owned(),
            format!("operator-forge delete webhook {flags}{}", webhooks.flags()),
        ));
    }
    if let Some(hub) = rule::hub_of(project, key).filter(|hub| *hub != key.version) {
        let hub = Key {
            version: hub,
            ..key.clone()
        };
        let spokes = project
            .resources
            .get(&hub)
            .and_then(|entry| entry.webhooks.as_ref());
        if spokes.is_some_and(|webhooks| webhooks.spokes.contains(&key.version)) {
            needs.push((
                format!(
                    "{} is converted to the hub {} and back",
                    key.version, hub.version
                ),
                format!(
                    "operator-forge delete webhook {} --conversion --spoke {}",
                    hub.flags(),
                    key.version
                ),
            ));
        }
    }
    if needs.is_empty() {
        return Ok(());
    }
    let failure = Failure::refused(format!("`{key}` is still needed"));
    Err(needs.into_iter().fold(failure, |failure, (why, command)| {
        failure.note(why).advise(command)
    }))
}
