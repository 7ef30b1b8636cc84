//! The rules between the parts of a project. Commands and a `PROJECT` edited by hand have to keep the same rules.
//!
//! Most are rules of the API server: a CRD that it would refuse is refused here, before anything is written. The others keep two
//! entries out of one Rust module, type or file. Each check returns its first violation, in words of its own.

mod controllers;
mod entries;
mod fields;
mod groups;
mod kinds;
mod recipes;
mod webhooks;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use self::entries::{
    foreign_finalizer, is_namespaced, may_be_meant, not_external, unknown_kind,
};
pub use self::webhooks::{already_a_spoke, not_converted, one_version, two_hubs};
use super::violation::Violation;
use super::{Api, Key, Project, Resource};
use crate::name::rust::Module;

/// An entry of `resources`.
type Entry<'a> = (&'a Key, &'a Resource);

/// An API that the project defines.
#[derive(Clone, Copy)]
struct Defined<'a> {
    key: &'a Key,
    resource: &'a Resource,
    api: &'a Api,
}

/// Checks every rule. The error is the first violation. Of two entries that clash, the violation is by `last`, which a command
/// has just made.
pub fn check(project: &Project, last: Option<&Key>) -> Result<(), Violation> {
    let entries = in_order(project, last);
    let apis = entries.iter().filter_map(|&(key, resource)| {
        let api = resource.api.as_ref()?;
        Some(Defined { key, resource, api })
    });
    let apis: Vec<_> = apis.collect();
    let typed = entries.iter().filter(|(_, resource)| resource.has_types());
    let typed: Vec<_> = typed.copied().collect();
    let mut alone = entries.iter();
    let first = alone
        .find_map(|&(key, it)| entries::check(project, key, it).or_else(|| groups::of_api(key, it)))
        .or_else(|| groups::meanings(&entries))
        .or_else(|| groups::modules(&typed))
        .or_else(|| kinds::versions(&apis))
        .or_else(|| kinds::lists(&apis))
        .or_else(|| kinds::short_names(&apis))
        .or_else(|| kinds::names(&apis))
        .or_else(|| kinds::types(&typed))
        .or_else(|| recipes::check(&entries))
        .or_else(|| fields::check(&apis))
        .or_else(|| groups::samples(&apis))
        .or_else(|| controllers::check(&entries))
        .or_else(|| webhooks::check(project, &entries));
    first.map_or(Ok(()), Err)
}

/// The entries in the order of `PROJECT`, but those of the kind of `last` after all others, and `last` itself at the end.
fn in_order<'a>(project: &'a Project, last: Option<&Key>) -> Vec<Entry<'a>> {
    let mut entries: Vec<_> = project.resources().collect();
    if let Some(last) = last {
        entries.sort_by_key(|(key, _)| (key.is_same_kind(last), *key == last));
    }
    entries
}

/// The first two items with the same `name` and different identities, and the name.
fn clash<'a, T, N: Ord + Clone, I: PartialEq>(
    items: &'a [T],
    name: impl Fn(&'a T) -> N,
    identity: impl Fn(&'a T) -> I,
) -> Option<(&'a T, &'a T, N)> {
    let mut seen = BTreeMap::new();
    items.iter().find_map(|item| {
        let name = name(item);
        let first = *seen.entry(name.clone()).or_insert(item);
        (identity(first) != identity(item)).then_some((first, item, name))
    })
}

/// The group, version and kind of an entry as parts of a path.
fn path_of(key: &Key, separator: char) -> String {
    let group = Module::of_group(&key.group, &key.domain);
    let (group, version, kind) = (group.file(), key.version, Module::of_kind(&key.kind));
    format!("{group}{separator}{version}{separator}{}", kind.file())
}
