//! `PROJECT` as text: kubebuilder's project version 3, with our settings under `plugins`.
//!
//! The format is documented, and frozen, in `docs/project-file.md`. Reading keeps every field that it does not know;
//! writing sorts keys as kubebuilder does and resources by [`Key`], so that equal projects are equal bytes.

mod refuse;
mod shape;
mod webhooks;
mod write;

#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod webhook_tests;

use std::{collections::BTreeMap, mem, path::Path};

use serde_yaml::{Mapping, Value};

pub use self::refuse::{missing, text};
use self::shape::{Entry, File, Plugins};
use super::error::{Origin, Result, Unreadable, Violation};
use super::rules;
use super::{Api, Key, LAYOUT, Project, Resource, Settings};
use crate::name::{Plural, kubernetes};
use crate::yaml;

/// The file's name, at the root of every project.
pub const FILE: &str = "PROJECT";

/// The nearest directory above `directory`, which is a full path, that has a `PROJECT`.
pub fn above(directory: &Path) -> Option<&Path> {
    let mut above = directory.ancestors().skip(1);
    above.find(|it| it.join(FILE).is_file())
}

impl Project {
    /// Reads `PROJECT`. The rules between its parts are those that commands meet.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let text = refuse::text(bytes)?;
        let check = |project: &Self| rules::check(project, None);
        Self::read_with(text, check, |keys, it| refuse::broken(text, keys, it))
    }

    /// Reads the merge of two branches, of which the user sees the text of one: `here`. A refusal says what to change there.
    pub fn read_merged(merged: &str, here: &[u8]) -> Result<Self> {
        let here = entries_of_one(here, merged);
        // Of two entries that clash, the one that stands in `here` can be changed there.
        let clash = |project: &Self, key: &Key| {
            let violation = rules::check(project, Some(key)).err();
            violation.filter(|violation| violation.at == *key)
        };
        let check = |project: &Self| {
            rules::check(project, None).map_err(|first| {
                let mut here = here.iter();
                here.find_map(|(key, _)| clash(project, key))
                    .unwrap_or(first)
            })
        };
        let origin = Origin::Branches(here.clone());
        Self::read_with(merged, check, |_, violation| violation.by(origin))
    }

    fn read_with(
        text: &str,
        check: impl Fn(&Self) -> Result<(), Violation>,
        place: impl FnOnce(&[Key], Violation) -> Violation,
    ) -> Result<Self> {
        let file: File = match yaml::read(text) {
            Ok(file) => file,
            Err(error) => {
                // A file of another kind deserves that answer before one about a field.
                yaml::read(text).map_or(Ok(()), refuse::foreign)?;
                return Err(refuse::unreadable(text, error).into());
            }
        };
        if let Some(error) = refuse::odd_key(text) {
            return Err(Unreadable::Value {
                place: error.place(FILE),
                explanation: error.what,
                note: Some("the file could not be written again"),
            }
            .into());
        }
        refuse::foreign(refuse::Probe {
            version: file.version.clone(),
            layout: file.layout.clone(),
            domain: Some(file.domain.to_string()),
            project_name: Some(file.project_name.to_string()),
        })?;
        if file.plugins.ours.is_none() {
            return Err(Unreadable::NoSettings.into());
        }
        let keys: Vec<_> = file.resources.iter().map(key_of).collect();
        let project = from_file(file).and_then(|project| check(&project).map(|()| project));
        Ok(project.map_err(|violation| place(&keys, violation))?)
    }
}

/// The entries of one branch that are the same in what both make together, with the lines where they start.
fn entries_of_one(branch: &[u8], merged: &str) -> Vec<(Key, Option<usize>)> {
    let text = String::from_utf8_lossy(branch);
    let values = |text: &str| match yaml::read::<Value>(text).ok()?.get_mut("resources")? {
        Value::Sequence(entries) => Some(mem::take(entries)),
        _ => None,
    };
    let (Some(ours), Some(all), Ok(file)) =
        (values(&text), values(merged), yaml::read::<File>(&text))
    else {
        return Vec::new();
    };
    let entries = ours.iter().zip(&file.resources).enumerate();
    entries
        .filter(|(_, (value, _))| all.contains(value))
        .map(|(at, (_, entry))| (key_of(entry), refuse::line_of_entry(&text, at)))
        .collect()
}

fn from_file(file: File) -> Result<Project, Violation> {
    let Plugins { ours, others } = file.plugins;
    let ours = ours.expect("a file without settings is refused");
    let mut project = Project {
        domain: file.domain,
        name: file.project_name,
        namespaced: file.namespaced,
        settings: Settings {
            templates: ours.templates,
            license: ours.license,
            owner: ours.owner,
            header: ours.header,
            certificates: ours.certificates,
            runtime: ours.runtime,
            library: ours.library,
            owned: ours.owned.into_iter().map(|path| path.0).collect(),
            extra: ours.extra,
        },
        layout: file.layout,
        resources: BTreeMap::new(),
        plugins: others,
        extra: file.extra,
    };
    for entry in file.resources {
        let key = key_of(&entry);
        let resource = from_entry(&key, entry)?;
        if project.resources.insert(key.clone(), resource).is_some() {
            return Err(Violation::of(&key, format!("`{key}` has two entries"))
                .note("one group, version and kind has one entry, with its API and its controllers")
                .in_file("remove one of the two"));
        }
    }
    for entry in ours.resources {
        let key = Key {
            group: entry.group,
            kind: entry.kind,
            domain: entry.domain,
            version: entry.version,
        };
        let Some(resource) = project.resources.get_mut(&key) else {
            let what = format!("there are options for `{key}`, which is not in `resources`");
            return Err(Violation::of(&key, what)
                .note(format!("they stand in `plugins`, `{LAYOUT}`, `resources`"))
                .in_file("remove that entry"));
        };
        (resource.options, resource.options_entry) = (entry.options.extra, entry.extra);
        resource.put_finalizers(&key, entry.options.finalizers)?;
        match &mut resource.api {
            Some(api) => api.short_names = entry.options.short_names,
            None if entry.options.short_names.is_empty() => (),
            None => {
                let what = format!("`{key}` has short names but no `api`");
                return Err(Violation::of(&key, what)
                    .note("short names belong to the CRD of an API that the project defines")
                    .in_file("remove `shortNames`"));
            }
        }
    }
    project.forget_certificates();
    Ok(project)
}

fn key_of(entry: &Entry) -> Key {
    Key {
        group: entry.group.clone(),
        kind: entry.kind.clone(),
        domain: entry.domain.clone(),
        version: entry.version,
    }
}

fn from_entry(key: &Key, entry: Entry) -> Result<Resource, Violation> {
    let core = entry
        .core
        .then(|| kubernetes::find(key.group.as_str(), key.version, &key.kind))
        .flatten();
    let plural = entry
        .plural
        .or(core.map(Plural::from))
        .unwrap_or_else(|| Plural::of(&key.kind));
    let mut extra = entry.extra;
    let external = match entry.external {
        true => Some(webhooks::take_path(key, &mut extra)?),
        false => None,
    };
    let webhooks = entry.webhooks.map(|entry| webhooks::from_file(key, entry));
    let webhooks = webhooks.transpose()?.filter(|all| !all.is_empty());
    Ok(Resource {
        plural,
        api: entry.api.map(|api| Api {
            namespaced: api.namespaced,
            short_names: Vec::new(),
            extra: api.extra,
        }),
        controller: entry.controller,
        finalizer: false,
        finalizers: Default::default(),
        core: entry.core,
        external,
        webhooks,
        controllers: entry
            .controllers
            .into_iter()
            .map(|entry| (entry.name, entry.extra))
            .collect(),
        options: Mapping::new(),
        options_entry: Mapping::new(),
        extra,
    })
}
