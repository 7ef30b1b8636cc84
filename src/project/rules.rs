//! The rules that hold between the parts of a project. Commands and hand-edited files meet the same ones.
//!
//! Most are the API server's: a CRD that it would refuse is refused here, before anything is written. The others keep two
//! entries out of one Rust module, type or file.

mod controllers;
mod entries;
mod groups;
mod kinds;
pub mod webhooks;

pub use self::entries::is_namespaced;
pub use self::groups::{CRD_MAX, FILE_MAX};
use super::error::{Meant, Rule, Use, Violation};
use super::{Key, Project, Resource};
use crate::name::{Group, Kind, is_near, kubernetes};

type Check = Result<(), Violation>;

/// Checks every rule, and returns the first violation of the first broken one. Of two entries that clash, `last` is the one to
/// blame: a command has just made it.
pub fn check(project: &Project, last: Option<&Key>) -> Check {
    for (key, resource) in project.resources() {
        entries::check(project, key, resource)?;
        groups::of_api(key, resource)?;
    }
    groups::meanings(project, last)?;
    groups::modules(project, last)?;
    kinds::versions(project, last)?;
    kinds::names(project, last)?;
    kinds::types(project, last)?;
    groups::files(project, last)?;
    controllers::defaults(project, last)?;
    controllers::files(project, last)?;
    controllers::names(project, last)?;
    webhooks::conversions(project)?;
    webhooks::paths(project, last)?;
    webhooks::directories(project)?;
    webhooks::names(project)?;
    webhooks::service(project)
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

/// Whether the second kind may have been meant by the first: the same kind in another group, or a kind of the same group
/// whose name is a typing error away.
pub fn may_be_meant(
    (group, kind): (&Group, &Kind),
    (other_group, other_kind): (&Group, &Kind),
) -> bool {
    match group == other_group {
        true => is_near(kind.as_str(), other_kind.as_str()),
        false => kind == other_kind,
    }
}

/// A controller or a webhook for a kind that neither the project nor Kubernetes defines.
pub fn unknown_kind(project: &Project, key: &Key, to_be: Use) -> Violation {
    Rule::Unknown(to_be, meant(project, key)).at(key)
}

fn meant(project: &Project, key: &Key) -> Meant {
    let wanted = (&key.group, &key.kind);
    let mut apis = project.resources().filter(|(_, it)| it.api.is_some());
    if let Some((other, _)) = apis.find(|(other, _)| (&other.group, &other.kind) == wanted) {
        return Meant::Version(other.version);
    }
    let others = project.resources().map(|(other, _)| other);
    let is_meant =
        |other: &&Key| *other != key && may_be_meant(wanted, (&other.group, &other.kind));
    let mut found: Vec<_> = others.filter(is_meant).collect();
    if found.iter().any(|other| other.version == key.version) {
        found.retain(|other| other.version == key.version);
    }
    match found.first() {
        Some(other) => Meant::Entry((*other).clone(), found.len() == 1),
        None => {
            kubernetes::nearest(key.group.as_str(), &key.kind).map_or(Meant::Nothing, Meant::Core)
        }
    }
}

impl Resource {
    /// Whether any controller watches this very entry.
    pub fn has_controllers(&self) -> bool {
        self.controller || !self.controllers.is_empty()
    }

    /// Whether the operator watches or defines it.
    pub(super) fn is_watched(&self) -> bool {
        self.api.is_some() || self.has_controllers()
    }

    /// Whether the entry has no API, no controller and no webhook left.
    pub fn holds_nothing(&self) -> bool {
        !self.is_watched() && self.webhooks.is_none()
    }
}
