//! The rules that hold between the parts of a project. Commands and hand-edited files meet the same ones.
//!
//! Most are the API server's (a CRD it would refuse is refused here, where there is something to type instead); the
//! rest keep two names from meeting in one Rust module, type or file.

mod controllers;
mod entries;
mod groups;
mod kinds;
pub mod webhooks;

use rayon::prelude::*;

pub use self::entries::{is_namespaced, not_external};
use super::{Key, Project, Resource};
use crate::error::Failure;
use crate::name::{Group, Kind, is_near, kubernetes};

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
        failure.advise(if flag.is_empty() { field } else { flag })
    }
}

type Check = Result<(), Violation>;

/// Checks them all, side by side; of several that are broken it is the first one here, of that the first entry. Of two entries
/// that clash the one is wrong that a command has just made, `last`.
pub fn check(project: &Project, last: Option<&Key>) -> Check {
    let rules: [fn(&Project, Option<&Key>) -> Check; 15] = [
        |project, _| entries(project),
        groups::meanings,
        groups::modules,
        kinds::versions,
        kinds::names,
        kinds::types,
        groups::files,
        controllers::defaults,
        controllers::files,
        controllers::names,
        |project, _| webhooks::conversions(project),
        webhooks::paths,
        |project, _| webhooks::directories(project),
        |project, _| webhooks::names(project),
        |project, _| webhooks::service(project),
    ];
    let checked: Vec<Check> = rules.par_iter().map(|rule| rule(project, last)).collect();
    checked.into_iter().collect()
}

/// `items` in their order, but those of the entry `last` behind all others, and after the rest of its kind.
fn in_order<'a, T>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> &'a Key,
    last: Option<&Key>,
) -> Vec<T> {
    let mut items: Vec<_> = items.into_iter().collect();
    if let Some(last) = last {
        items.sort_by_key(|item| {
            let key = key(item);
            let is_of_kind = (&key.group, &key.kind) == (&last.group, &last.kind);
            (is_of_kind, key == last)
        });
    }
    items
}

fn entries(project: &Project) -> Check {
    let mut entries = project.resources();
    entries.try_for_each(|(key, resource)| {
        entries::check(project, key, resource)?;
        groups::of_api(key, resource)
    })
}

/// Whether who asked for a kind of a group may have meant this other one: the kind in another group, or in that group one
/// with a slip of the finger between them.
pub fn may_be_meant(
    (group, kind): (&Group, &Kind),
    (other_group, other_kind): (&Group, &Kind),
) -> bool {
    match group == other_group {
        true => is_near(kind.as_str(), other_kind.as_str()),
        false => kind == other_kind,
    }
}

/// What shows a project, where nothing in it is what was meant, or a person has to find another name.
pub const STATUS: &str = "operator-forge status";

/// What a kind is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Controller,
    Webhook,
}

/// There is a controller or a webhook for a kind that neither the project nor Kubernetes defines.
pub fn unknown_kind(project: &Project, key: &Key, to_be: Use) -> Violation {
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
    .note(match to_be {
        Use::Controller => {
            "a controller needs a Rust type to watch; one of another crate is named by `--external-api-path`"
        }
        Use::Webhook => {
            "a webhook needs a Rust type; one of another crate is named by `--external-api-path`"
        }
    });
    let other = project.resources().find(|(other, resource)| {
        (&other.group, &other.kind) == (group, kind) && resource.api.is_some()
    });
    if let Some((Key { version, .. }, _)) = other {
        return violation
            .note(format!("this project defines it in version {version}"))
            .flag(format!("--version {version}"))
            .field(format!("version: {version}"));
    }
    let meant =
        |other: &&Key| *other != key && may_be_meant((group, kind), (&other.group, &other.kind));
    let mut meant: Vec<_> = project
        .resources()
        .map(|(key, _)| key)
        .filter(meant)
        .collect();
    if meant.iter().any(|other| other.version == *version) {
        meant.retain(|other| other.version == *version);
    }
    if let Some(other) = meant.first() {
        let flag = match meant[..] {
            [one] => one.flags(),
            _ => STATUS.to_owned(),
        };
        return violation
            .note(format!("this project has `{other}`"))
            .flag(flag)
            .field(format!("group: {}, kind: {}", other.group, other.kind));
    }
    let violation = violation.note(known_types(group.as_str()));
    match kubernetes::nearest(group.as_str(), kind) {
        Some(core) => violation
            .flag(format!(
                "--group {} --version {} --kind {}{}",
                core.group,
                core.version,
                core.kind,
                match to_be {
                    Use::Controller => " --resource=false",
                    Use::Webhook => "",
                }
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

impl Resource {
    /// Whether any controller watches this very entry.
    pub fn has_controllers(&self) -> bool {
        self.controller || !self.controllers.is_empty()
    }

    /// Whether the project has nothing of it any more: no API, no controller, no webhook.
    pub fn holds_nothing(&self) -> bool {
        self.api.is_none() && !self.has_controllers() && self.webhooks.is_none()
    }
}

/// `Memcached` and its list, the two kinds that a CRD takes in its group.
fn list_kind(kind: &Kind) -> String {
    format!("{kind}List")
}
