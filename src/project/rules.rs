//! The rules that hold between the parts of a project. Commands and hand-edited files meet the same ones.
//!
//! Most are the API server's (a CRD it would refuse is refused here, where there is something to type instead); the
//! rest keep two names from meeting in one Rust module, type or file.

mod controllers;
mod groups;
mod kinds;

use super::{Key, Project, Resource};
use crate::error::Failure;
use crate::name::{Kind, kubernetes};

/// A broken rule, before it is known whether a command or a file broke it.
#[derive(Debug)]
pub struct Violation {
    /// The entry of `resources` that breaks it, the later one of two.
    pub at: Option<Key>,
    pub error: String,
    pub notes: Vec<String>,
    /// What to type instead, if a command broke it.
    pub flag: String,
    /// What to write instead, if the file breaks it.
    pub field: String,
}

impl Violation {
    pub fn new(at: Option<&Key>, error: impl Into<String>) -> Self {
        let (flag, field) = Default::default();
        Self {
            at: at.cloned(),
            error: error.into(),
            notes: Vec::new(),
            flag,
            field,
        }
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn flag(mut self, help: impl Into<String>) -> Self {
        self.flag = help.into();
        self
    }

    pub fn field(mut self, help: impl Into<String>) -> Self {
        self.field = help.into();
        self
    }
}

impl From<Violation> for Failure {
    /// As the answer to a command.
    fn from(violation: Violation) -> Self {
        let Violation {
            error,
            notes,
            flag,
            field,
            ..
        } = violation;
        let failure = Self {
            notes,
            ..Self::refused(error)
        };
        failure.help(if flag.is_empty() { field } else { flag })
    }
}

type Check = Result<(), Violation>;

/// Checks them all; the first that is broken, in the order of the entries.
pub fn check(project: &Project) -> Check {
    for (key, resource) in project.resources() {
        entry(project, key, resource)?;
        groups::of_api(key, resource)?;
    }
    groups::modules(project)?;
    kinds::versions(project)?;
    kinds::names(project)?;
    kinds::types(project)?;
    controllers::defaults(project)?;
    controllers::files(project)?;
    controllers::names(project)
}

/// The rules of one entry alone.
fn entry(project: &Project, key: &Key, resource: &Resource) -> Check {
    if resource.extra.contains_key("external") {
        return Err(Violation::new(Some(key), format!("`{key}` is `external`"))
            .note("this operator-forge makes controllers for the project's own APIs and for Kubernetes' types")
            .field("remove that entry"));
    }
    if resource.core {
        core_entry(key, resource)?;
    } else {
        own_entry(project, key, resource)?;
    }
    let namespaced = is_namespaced(key, resource);
    if project.namespaced && !namespaced && (resource.api.is_some() || resource.has_controllers()) {
        return Err(cluster_scoped(key, resource.core));
    }
    Ok(())
}

fn core_entry(key: &Key, resource: &Resource) -> Check {
    let Some(core) = kubernetes::find(key.group.as_str(), key.version, &key.kind) else {
        return Err(Violation::new(
            Some(key),
            format!("`{key}` is `core`, but Kubernetes has no such type"),
        )
        .note(known_types(key.group.as_str()))
        .field("remove `core: true` or correct the group, version or kind"));
    };
    let same = core.group == key.group.as_str() && core.domain() == key.domain.as_str();
    if !same || resource.plural.as_str() != core.plural {
        let domain = if core.domain().is_empty() {
            "none"
        } else {
            core.domain()
        };
        return Err(Violation::new(
            Some(key),
            format!("`{key}` does not describe Kubernetes' type of that name"),
        )
        .note(format!(
            "its group is `{}`, its domain {domain}, its plural `{}`",
            core.group, core.plural
        ))
        .field(format!("group: {}", core.group)));
    }
    if resource.api.is_some() {
        return Err(Violation::new(
            Some(key),
            format!("`{key}` is both `core` and an API of this project"),
        )
        .note("Kubernetes serves that type itself: there is no CRD to make")
        .field("remove `api` or `core`"));
    }
    Ok(())
}

fn own_entry(project: &Project, key: &Key, resource: &Resource) -> Check {
    if key.domain != project.domain {
        return Err(Violation::new(
            Some(key),
            format!(
                "`{key}` has domain `{}`, the project has `{}`",
                key.domain, project.domain
            ),
        )
        .note("the APIs of a project share its domain")
        .field(format!("domain: {}", project.domain)));
    }
    let webhooks = resource.extra.contains_key("webhooks");
    if resource.api.is_none() && (resource.has_controllers() || webhooks) {
        return Err(unknown_kind(project, key));
    }
    if resource.api.is_none() {
        return Err(Violation::new(
            Some(key),
            format!("`{key}` has neither an API nor a controller"),
        )
        .note("an entry without `api`, `controller` and `controllers` asks for nothing")
        .field("remove that entry"));
    }
    Ok(())
}

/// There is a controller for a kind that neither the project nor Kubernetes defines.
pub fn unknown_kind(project: &Project, key: &Key) -> Violation {
    let Key {
        group,
        version,
        kind,
        ..
    } = key;
    let violation = Violation::new(
        Some(key),
        format!("`{key}` is defined neither by this project nor by Kubernetes"),
    )
    .note("a controller needs a Rust type to watch");
    let other = project.resources().find(|(other, resource)| {
        (&other.group, &other.kind) == (group, kind) && resource.api.is_some()
    });
    if let Some((Key { version, .. }, _)) = other {
        return violation
            .note(format!("this project defines it in version {version}"))
            .flag(format!("--version {version}"))
            .field(format!("version: {version}"));
    }
    let violation = violation.note(known_types(group.as_str()));
    match kubernetes::nearest(group.as_str(), kind) {
        Some(core) => violation
            .flag(format!(
                "--group {} --version {} --kind {} --resource=false",
                core.group, core.version, core.kind
            ))
            .field(format!(
                "core: true, group: {}, kind: {}",
                core.group, core.kind
            )),
        None => {
            let group = Some(group.as_str())
                .filter(|group| !group.is_empty())
                .unwrap_or("''");
            violation
                .flag(format!(
                    "operator-forge create api --group {group} --version {version} --kind {kind}"
                ))
                .field("api: {crdVersion: v1, namespaced: true}")
        }
    }
}

fn known_types(group: &str) -> String {
    let kinds: Vec<_> = match kubernetes::group(group) {
        Some(group) => kubernetes::all()
            .filter(|t| t.group == group)
            .map(|t| format!("{}/{}", t.version, t.kind))
            .collect(),
        None => {
            return "Kubernetes' own groups are `core`, `apps`, `batch`, `networking` and so on"
                .to_owned();
        }
    };
    format!("Kubernetes has in `{group}`: {}", kinds.join(", "))
}

fn cluster_scoped(key: &Key, core: bool) -> Violation {
    let violation = Violation::new(Some(key), format!("`{key}` is cluster-scoped, but the project is namespaced"))
        .note("a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
    let field = "remove `namespaced: true` at the top of the file";
    match core {
        true => violation
            .flag("operator-forge init, without --namespaced, for a project of its own")
            .field(field),
        false => violation
            .flag("--namespaced=true")
            .field("api: {crdVersion: v1, namespaced: true}"),
    }
}

/// Whether objects of an entry live in namespaces; Kubernetes says so for its own types.
pub fn is_namespaced(key: &Key, resource: &Resource) -> bool {
    match &resource.api {
        Some(api) => api.namespaced,
        None => kubernetes::find(key.group.as_str(), key.version, &key.kind)
            .is_none_or(|core| core.namespaced),
    }
}

impl Resource {
    /// Whether any controller watches this very entry.
    pub fn has_controllers(&self) -> bool {
        self.controller || !self.controllers.is_empty()
    }
}

/// `Memcached` and its list, the two kinds that a CRD takes in its group.
fn list_kind(kind: &Kind) -> String {
    format!("{kind}List")
}
