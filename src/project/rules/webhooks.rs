//! Rules of webhooks: what can be converted, one path and one directory for each.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use crate::name::rust::Module;
use crate::name::{Version, WebhookPath};
use crate::project::error::Rule;
use crate::project::{Admission, Key, Project, Webhooks};

fn all(project: &Project) -> impl Iterator<Item = (&Key, bool, &Webhooks)> {
    let all = project.resources();
    all.filter_map(|(key, resource)| Some((key, resource.core, resource.webhooks.as_ref()?)))
}

/// The versions of a kind that the project defines.
pub fn versions_of(project: &Project, key: &Key) -> BTreeSet<Version> {
    let apis = project.resources().filter(|(_, it)| it.api.is_some());
    let same = apis.filter(|(other, _)| other.is_same_kind(key));
    same.map(|(other, _)| other.version).collect()
}

/// The version of a kind that the others are converted to.
pub fn hub_of(project: &Project, key: &Key) -> Option<Version> {
    let mut hubs = all(project).filter(|(_, _, webhooks)| webhooks.is_hub());
    let hub = hubs.find(|(other, ..)| other.is_same_kind(key));
    hub.map(|(other, ..)| other.version)
}

/// Hubs and spokes are versions of one kind that the project defines, and a kind has one hub.
pub fn conversions(project: &Project) -> Check {
    let mut hubs: BTreeMap<_, Version> = BTreeMap::new();
    for (key, _, webhooks) in all(project).filter(|(_, _, webhooks)| webhooks.is_hub()) {
        let versions = versions_of(project, key);
        if !versions.contains(&key.version) {
            return Err(Rule::NotConverted { alone: true }.at(key));
        }
        if versions.len() == 1 {
            return Err(Rule::OneVersion.at(key));
        }
        let mut open = versions.difference(&webhooks.spokes);
        let other = open.find(|version| **version != key.version).copied();
        for &spoke in &webhooks.spokes {
            if spoke == key.version {
                return Err(Rule::HubAsSpoke(other).at(key));
            }
            if !versions.contains(&spoke) {
                let rule = Rule::NoSpoke {
                    spoke,
                    versions,
                    other,
                };
                return Err(rule.at(key));
            }
        }
        let kind = (&key.group, &key.domain, &key.kind);
        let first = *hubs.entry(kind).or_insert(key.version);
        if first != key.version {
            return Err(Rule::TwoHubs(first, key.version).at(key));
        }
    }
    Ok(())
}

/// Each webhook has a path of its own. Of two that meet, the one of the entry `last` is refused.
pub fn paths(project: &Project, last: Option<&Key>) -> Check {
    let mut asked: Vec<_> = all(project)
        .flat_map(|(key, core, webhooks)| paths_of(key, core, webhooks))
        .collect();
    asked.sort_by_key(|(key, ..)| Some(*key) == last);
    let mut seen = BTreeMap::new();
    for (key, what, path) in asked {
        if let Some((other, other_what)) = seen.insert(path.clone(), (key, what)) {
            let what = [what, other_what];
            return Err(Rule::SamePath { path, what }.at(key).beside(other));
        }
    }
    Ok(())
}

/// The paths of an entry's webhooks.
fn paths_of<'a>(
    key: &'a Key,
    core: bool,
    webhooks: &'a Webhooks,
) -> impl Iterator<Item = (&'a Key, &'static str, String)> {
    let path = move |admission: &Option<Admission>, what, verb| {
        let Admission { path } = admission.as_ref()?;
        let path = match path {
            Some(path) => path.to_string(),
            None => WebhookPath::of(verb, &key.api_group(core), key.version, &key.kind),
        };
        Some((key, what, path))
    };
    let both = [
        path(&webhooks.defaulting, "defaulting", "mutate"),
        path(&webhooks.validation, "validation", "validate"),
    ];
    both.into_iter().flatten()
}

/// The webhooks of two entries need two directories.
pub fn directories(project: &Project) -> Check {
    let mut directories: BTreeMap<_, &Key> = BTreeMap::new();
    for (key, _, _) in all(project).filter(|(_, _, webhooks)| webhooks.is_asked()) {
        let group = Module::of_group(&key.group, &key.domain);
        let kind = Module::of_kind(&key.kind);
        let (group, version, kind) = (group.file(), key.version, kind.file());
        let directory = format!("src/webhooks/{group}/{version}/{kind}/");
        if let Some(other) = directories.insert(directory.clone(), key) {
            return Err(Rule::SameDirectory(directory).at(key).beside(other));
        }
    }
    Ok(())
}

/// The Service of the webhooks, which is a DNS label, is named by the project.
pub fn service(project: &Project) -> Check {
    let name = format!("{}-webhook-service", project.name);
    match all(project).next() {
        Some((key, ..)) if name.len() > LABEL_MAX => Err(Rule::LongService(name).at(key)),
        _ => Ok(()),
    }
}

/// The longest DNS label.
pub const LABEL_MAX: usize = 63;

/// The longest name of a webhook.
pub const NAME_MAX: usize = 253;

/// The API server takes the name of a webhook, `validate.<kind>.<version>.<group>`, as a DNS subdomain.
pub fn names(project: &Project) -> Check {
    for (key, core, webhooks) in all(project).filter(|(_, _, webhooks)| webhooks.is_asked()) {
        let verb = match webhooks.validation {
            Some(_) => "validate",
            None => "default",
        };
        let (kind, group) = (key.kind.singular(), key.api_group(core));
        let name = format!("{verb}.{kind}.{}.{group}", key.version);
        if name.len() > NAME_MAX {
            return Err(Rule::LongWebhook(name).at(key));
        }
    }
    Ok(())
}
