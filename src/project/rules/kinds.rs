//! Rules of kinds: their versions, their names in the API group, their Rust types.

use std::collections::BTreeMap;

use super::{Check, STATUS, Violation, in_order, list_kind};
use crate::name::{Kind, Plural, ShortName, rust};
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
        let differs = |what: &str, ours: &str, theirs: &str, flag: String, field: String| {
            let error = format!(
                "`{}` has {what} {ours} in {} and {theirs} in {}",
                key.kind, key.version, first.version
            );
            let note =
                "all versions of a kind are one CRD, which has one scope and one set of names";
            Err(Violation::new(Some(key), error)
                .note(note)
                .flag(flag)
                .field(field))
        };
        if resource.plural != other.plural {
            let (ours, theirs) = (
                format!("`{}`", resource.plural),
                format!("`{}`", other.plural),
            );
            let fix = &other.plural;
            return differs(
                "the plural",
                &ours,
                &theirs,
                format!("--plural {fix}"),
                format!("plural: {fix}"),
            );
        }
        if api.namespaced != first_api.namespaced {
            let scope = |namespaced| {
                if namespaced {
                    "namespaced"
                } else {
                    "cluster-wide"
                }
            };
            let fix = first_api.namespaced;
            let (flag, field) = (format!("--namespaced={fix}"), format!("namespaced: {fix}"));
            return differs("the scope", scope(api.namespaced), scope(fix), flag, field);
        }
        if api.short_names != first_api.short_names {
            let (ours, theirs) = (list(&api.short_names), list(&first_api.short_names));
            let flag = match first_api.short_names.is_empty() {
                true => "leave out --short-name".to_owned(),
                false => format!("--short-name {}", join(&first_api.short_names, ",")),
            };
            let field = format!("shortNames: [{}]", join(&first_api.short_names, ", "));
            let found = differs("the short names", &ours, &theirs, flag, field);
            let note = "`operator-forge edit api --short-name` gives it to all of them";
            return found.map_err(|violation| violation.note(note));
        }
    }
    Ok(())
}

fn join(names: &[ShortName], by: &str) -> String {
    names
        .iter()
        .map(ShortName::as_str)
        .collect::<Vec<_>>()
        .join(by)
}

/// The flag that gives all of the names but one.
fn without(names: &[ShortName], name: &str) -> String {
    let mut left = names.to_vec();
    left.retain(|other| other.as_str() != name);
    match left.is_empty() {
        true => "leave out --short-name".to_owned(),
        false => format!("--short-name {}", join(&left, ",")),
    }
}

fn list(names: &[ShortName]) -> String {
    if names.is_empty() {
        "(none)".to_owned()
    } else {
        format!("`{}`", join(names, ", "))
    }
}

/// In one API group every plural, singular and short name means one kind, and so does every kind and list kind: the API
/// server would not establish the second CRD.
pub fn names(project: &Project, last: Option<&Key>) -> Check {
    let mut resources: BTreeMap<(&str, String), (&Kind, &str)> = BTreeMap::new();
    let mut kinds: BTreeMap<(&str, String), &Kind> = BTreeMap::new();
    for (key, resource, api) in apis(project, last) {
        let group = key.group.as_str();
        for kind in [key.kind.to_string(), list_kind(&key.kind)] {
            let first = *kinds.entry((group, kind.clone())).or_insert(&key.kind);
            if first != &key.kind {
                return Err(Violation::new(
                    Some(key),
                    format!("the kinds `{first}` and `{}` clash", key.kind),
                )
                .note(format!(
                    "a list of `{first}` or `{}` is of kind `{kind}`",
                    key.kind
                ))
                .flag(STATUS)
                .field("rename one of the kinds"));
            }
        }
        let mut seen: Vec<&str> = Vec::new();
        for short in &api.short_names {
            if seen.contains(&short.as_str()) {
                let mut once = api.short_names.clone();
                once.sort();
                once.dedup();
                return Err(Violation::new(
                    Some(key),
                    format!("`{}` has the short name `{short}` twice", key.kind),
                )
                .flag(format!("--short-name {}", join(&once, ",")))
                .field(format!("shortNames: [{}]", join(&once, ", "))));
            }
            seen.push(short.as_str());
        }
        let singular = key.kind.singular();
        let short = api
            .short_names
            .iter()
            .map(|name| (name.as_str(), "short name"));
        for (name, what) in [
            (singular.as_str(), "singular"),
            (resource.plural.as_str(), "plural"),
        ]
        .into_iter()
        .chain(short)
        {
            let (first, as_what) = *resources
                .entry((group, name.to_owned()))
                .or_insert((&key.kind, what));
            if first == &key.kind {
                continue;
            }
            if first.singular() == singular {
                return Err(Violation::new(
                    Some(key),
                    format!("the kinds `{first}` and `{}` differ only by upper and lower case", key.kind),
                )
                .note("in lower case a kind is the CRD's singular and, with `_`, a Rust module: both have to be unique")
                .flag(format!("--kind {first}"))
                .field("rename one of the kinds"));
            }
            let violation = Violation::new(
                Some(key),
                format!(
                    "`{name}`, the {what} of `{}`, is already the {as_what} of `{first}`",
                    key.kind
                ),
            )
            .note("plurals, singulars and short names share one space in an API group");
            return Err(match what {
                "short name" => violation
                    .flag(without(&api.short_names, name))
                    .field(format!("remove {name} from `shortNames`")),
                "plural" => {
                    let other = match Plural::of(&key.kind) {
                        regular if regular != resource.plural => regular.to_string(),
                        _ => format!("{singular}-resources"),
                    };
                    violation
                        .flag(format!("--plural {other}"))
                        .field(format!("plural: {other}"))
                }
                _ => violation
                    .flag(format!("--kind {first}"))
                    .field("rename one of the kinds"),
            });
        }
    }
    Ok(())
}

/// Types of one version are re-exported side by side.
pub fn types(project: &Project, last: Option<&Key>) -> Check {
    let mut types = BTreeMap::new();
    for (key, _, _) in apis(project, last) {
        let name = rust::type_name(&key.kind);
        let first: &Key = types
            .entry((&key.group, key.version, name.clone()))
            .or_insert(key);
        if first != key {
            return Err(Violation::new(
                Some(key),
                format!("`{}` and `{}` would both be the Rust type `{name}`", first.kind, key.kind),
            )
            .note("a kind whose name Rust or the generated code uses already gets `Resource` behind it")
            .flag(STATUS)
            .field("rename one of the kinds"));
        }
    }
    Ok(())
}
