//! Rules of kinds: their versions, their names in the API group, their Rust types.

use std::collections::BTreeMap;

use super::{Check, in_order};
use crate::name::{ShortName, rust};
use crate::project::error::Rule;
use crate::project::{Api, Key, Project, Resource};

fn apis<'a>(project: &'a Project, last: Option<&Key>) -> Vec<(&'a Key, &'a Resource, &'a Api)> {
    let all = project.resources();
    let apis = all.filter_map(|(key, resource)| Some((key, resource, resource.api.as_ref()?)));
    in_order(apis, |(key, ..)| key, last)
}

/// A CRD has one scope and one set of names for all its versions.
pub fn versions(project: &Project, last: Option<&Key>) -> Check {
    let mut kinds = BTreeMap::new();
    for (key, resource, api) in apis(project, last) {
        let (first, other, first_api) = *kinds
            .entry((&key.group, &key.kind))
            .or_insert((key, resource, api));
        let rule = if resource.plural != other.plural {
            Rule::OtherPlural(resource.plural.clone(), other.plural.clone())
        } else if api.namespaced != first_api.namespaced {
            let namespaced = first_api.namespaced;
            Rule::OtherScope { namespaced }
        } else if api.short_names != first_api.short_names {
            Rule::OtherShortNames(api.short_names.clone(), first_api.short_names.clone())
        } else {
            continue;
        };
        return Err(rule.at(key).beside(first));
    }
    Ok(())
}

/// In one API group every plural, singular and short name means one kind, and so does every kind and list kind: the API
/// server would not establish the second CRD.
pub fn names(project: &Project, last: Option<&Key>) -> Check {
    let mut resources: BTreeMap<(&str, String), (&Key, &str)> = BTreeMap::new();
    let mut kinds: BTreeMap<(&str, String), &Key> = BTreeMap::new();
    for (key, resource, api) in apis(project, last) {
        let group = key.group.as_str();
        for kind in [key.kind.to_string(), format!("{}List", key.kind)] {
            let first = *kinds.entry((group, kind.clone())).or_insert(key);
            if first.kind != key.kind {
                return Err(Rule::SameList(kind).at(key).beside(first));
            }
        }
        let without = |name: &ShortName| {
            let left = api.short_names.iter().filter(|other| *other != name);
            left.cloned().collect::<Vec<_>>()
        };
        for (at, short) in api.short_names.iter().enumerate() {
            if api.short_names[..at].contains(short) {
                let mut once = without(short);
                once.push(short.clone());
                once.sort();
                once.dedup();
                return Err(Rule::ShortNameTwice(short.clone(), once).at(key));
            }
        }
        let singular = key.kind.singular();
        let shorts = api.short_names.iter().map(|it| (it.as_str(), "short name"));
        let names = [
            (singular.as_str(), "singular"),
            (resource.plural.as_str(), "plural"),
        ];
        for (at, (name, what)) in names.into_iter().chain(shorts).enumerate() {
            let name = (group, name.to_owned());
            let (first, as_what) = *resources.entry(name).or_insert((key, what));
            if first.kind == key.kind {
                continue;
            }
            let rule = match at {
                _ if first.kind.singular() == singular => Rule::SameLetters,
                0 => Rule::SingularInUse { as_what },
                1 => Rule::PluralInUse {
                    plural: resource.plural.clone(),
                    as_what,
                },
                _ => {
                    let name = api.short_names[at - 2].clone();
                    let left = without(&name);
                    Rule::ShortNameInUse {
                        name,
                        as_what,
                        left,
                    }
                }
            };
            return Err(rule.at(key).beside(first));
        }
    }
    Ok(())
}

/// The types of one version are re-exported side by side.
pub fn types(project: &Project, last: Option<&Key>) -> Check {
    let mut types = BTreeMap::new();
    for (key, _, _) in apis(project, last) {
        let name = rust::type_name(&key.kind);
        let first: &Key = types
            .entry((&key.group, key.version, name.clone()))
            .or_insert(key);
        if first != key {
            return Err(Rule::SameType(name).at(key).beside(first));
        }
    }
    Ok(())
}
