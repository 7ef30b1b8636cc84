//! From a project to the text of `PROJECT`.

use serde_yaml::Value;

use super::shape::{ApiEntry, ControllerEntry, Entry, File, Options, OptionsEntry, Ours, Plugins};
use super::webhooks;
use crate::name::{Plural, kubernetes};
use crate::project::owned::OwnedPath;
use crate::project::{Key, Project, Resource};

const HEADER: &str = "\
# The desired state of this project. `operator-forge` edits this file, and so may you: run `operator-forge sync` after.
# It is kubebuilder's project file, version 3; comments below this line are not kept.
";

impl Project {
    /// The text of `PROJECT`.
    pub fn write(&self) -> String {
        let mut value =
            serde_yaml::to_value(to_file(self)).expect("a project has only strings for keys");
        sort(&mut value);
        let text = serde_yaml::to_string(&value).expect("a value is valid YAML");
        // The quotes that kubebuilder writes. No other line of the file can look like this one.
        format!(
            "{HEADER}{}",
            text.replace("\nversion: '3'\n", "\nversion: \"3\"\n")
        )
    }
}

fn to_file(project: &Project) -> File {
    let Project {
        domain,
        name,
        namespaced,
        settings,
        layout,
        resources,
        plugins,
        extra,
    } = project.clone();
    let options = resources
        .iter()
        .filter_map(|(key, resource)| to_options(key, resource))
        .collect();
    File {
        domain,
        layout,
        plugins: Plugins {
            ours: Some(Ours {
                templates: settings.templates,
                license: settings.license,
                owner: settings.owner,
                header: settings.header,
                certificates: settings.certificates,
                library: settings.library,
                runtime: settings.runtime,
                owned: settings.owned.into_iter().map(OwnedPath).collect(),
                resources: options,
                extra: settings.extra,
            }),
            others: plugins,
        },
        project_name: name,
        namespaced,
        resources: resources
            .into_iter()
            .map(|(key, resource)| to_entry(key, resource))
            .collect(),
        version: Some("3".into()),
        extra,
    }
}

fn to_entry(key: Key, resource: Resource) -> Entry {
    let regular = match resource.core {
        true => kubernetes::find(key.group.as_str(), key.version, &key.kind).map(Plural::from),
        false => Some(Plural::of(&key.kind)),
    };
    let mut extra = resource.extra;
    if let Some(path) = &resource.external {
        webhooks::put_path(path, &mut extra);
    }
    Entry {
        plural: Some(resource.plural).filter(|plural| regular.as_ref() != Some(plural)),
        api: resource.api.map(|api| ApiEntry {
            namespaced: api.namespaced,
            extra: api.extra,
            ..ApiEntry::default()
        }),
        controller: resource.controller,
        controllers: resource
            .controllers
            .into_iter()
            .map(|(name, extra)| ControllerEntry { name, extra })
            .collect(),
        core: resource.core,
        external: resource.external.is_some(),
        domain: key.domain,
        group: key.group,
        kind: key.kind,
        version: key.version,
        webhooks: resource.webhooks.map(webhooks::to_file),
        extra,
    }
}

fn to_options(key: &Key, resource: &Resource) -> Option<OptionsEntry> {
    let short_names = resource
        .api
        .iter()
        .flat_map(|api| api.short_names.clone())
        .collect::<Vec<_>>();
    let finalizers = resource.names_of_finalizers(key);
    if short_names.is_empty()
        && finalizers.is_empty()
        && resource.options.is_empty()
        && resource.options_entry.is_empty()
    {
        return None;
    }
    let Key {
        group,
        kind,
        domain,
        version,
    } = key.clone();
    let options = Options {
        short_names,
        finalizers,
        extra: resource.options.clone(),
    };
    Some(OptionsEntry {
        group,
        domain,
        kind,
        version,
        options,
        extra: resource.options_entry.clone(),
    })
}

/// Sorts the keys of every mapping, lists stay as they are.
fn sort(value: &mut Value) {
    match value {
        Value::Mapping(mapping) => {
            let mut entries: Vec<_> = std::mem::take(mapping).into_iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
            entries.iter_mut().for_each(|(_, value)| sort(value));
            mapping.extend(entries);
        }
        Value::Sequence(items) => items.iter_mut().for_each(sort),
        Value::Tagged(tagged) => sort(&mut tagged.value),
        _ => (),
    }
}
