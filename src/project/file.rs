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
use super::rules::{self, Violation};
use super::{Api, Key, LAYOUT, Project, Resource, Settings};
use crate::error::Failure;
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
    /// Reads `PROJECT`. Every refusal says where (`PROJECT:line:column`) and what to do; the rules between the parts are
    /// those that commands are held to.
    pub fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let text = refuse::text(bytes)?;
        Self::read_with(
            text,
            |project| rules::check(project, None),
            |keys, violation| {
                let at = violation.at.as_ref();
                let entry = at.and_then(|at| keys.iter().rposition(|key| key == at));
                refuse::broken(text, entry, violation)
            },
        )
    }

    /// Reads what two branches make together, of which `here`, what one of them says, is all that the user sees. A refusal
    /// says what to change there.
    pub fn read_merged(merged: &str, here: &[u8]) -> Result<Self, Failure> {
        let here = entries_of_one(here, merged);
        // Of two entries that meet, the one that stands in `here` can be changed there.
        let meets = |project: &Self, key: &Key| {
            let violation = rules::webhooks::paths(project, Some(key)).err();
            violation.filter(|violation| violation.at.as_ref() == Some(key))
        };
        let check = |project: &Self| {
            rules::check(project, None).map_err(|first| {
                let mut here = here.iter();
                here.find_map(|(key, _)| meets(project, key))
                    .unwrap_or(first)
            })
        };
        Self::read_with(merged, check, |_, violation| {
            refuse::apart(&here, violation)
        })
    }

    fn read_with(
        text: &str,
        check: impl Fn(&Self) -> Result<(), Violation>,
        refuse: impl FnOnce(&[Key], Violation) -> Failure,
    ) -> Result<Self, Failure> {
        let file: File = match yaml::read(text) {
            Ok(file) => file,
            // A file of another kind deserves that answer before one about a field.
            Err(error) => {
                return Err(
                    refuse::foreign_text(text).unwrap_or_else(|| refuse::unreadable(text, &error))
                );
            }
        };
        if let Some(error) = refuse::odd_key(text) {
            return Err(
                refuse::unreadable(text, &error).note("the file could not be written again")
            );
        }
        let probe = refuse::Probe {
            version: file.version.clone(),
            layout: file.layout.clone(),
            domain: Some(file.domain.to_string()),
            project_name: Some(file.project_name.to_string()),
        };
        if let Some(failure) = refuse::foreign(probe) {
            return Err(failure);
        }
        let mut keys = Vec::new();
        from_file(file, &mut keys)
            .and_then(|project| check(&project).map(|()| project))
            .map_err(|violation| refuse(&keys, violation))
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

/// `keys` receives the entries in the file's order, to say where a violation is.
fn from_file(file: File, keys: &mut Vec<Key>) -> Result<Project, Violation> {
    let File {
        domain,
        layout,
        plugins,
        project_name,
        namespaced,
        resources,
        extra,
        version: _,
    } = file;
    let Plugins { ours, others } = plugins;
    let ours = ours.ok_or_else(|| {
        Violation::new(None, format!("`plugins` has no `{LAYOUT}`"))
            .note("that is where the version of the project's templates stands")
            .field(format!(
                "plugins: {{{LAYOUT}: {{templates: {}}}}}",
                super::TEMPLATES
            ))
    })?;
    let mut project = Project {
        domain,
        name: project_name,
        namespaced,
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
        layout,
        resources: BTreeMap::new(),
        plugins: others,
        extra,
    };
    for entry in resources {
        let key = key_of(&entry);
        keys.push(key.clone());
        let resource = from_entry(&key, entry)?;
        if project.resources.insert(key.clone(), resource).is_some() {
            return Err(Violation::new(Some(&key), format!("`{key}` has two entries"))
                .note("one group, version and kind has one entry, with its API and its controllers")
                .field("remove one of the two"));
        }
    }
    for entry in ours.resources {
        let key = Key {
            group: entry.group,
            kind: entry.kind,
            domain: entry.domain,
            version: entry.version,
        };
        let Some(api) = project.resources.get_mut(&key) else {
            return Err(Violation::new(
                None,
                format!("there are options for `{key}`, which is not in `resources`"),
            )
            .note(format!("they stand in `plugins`, `{LAYOUT}`, `resources`"))
            .field("remove that entry"));
        };
        (api.options, api.options_entry) = (entry.options.extra, entry.extra);
        api.put_finalizers(&key, entry.options.finalizers)?;
        match &mut api.api {
            Some(api) => api.short_names = entry.options.short_names,
            None if entry.options.short_names.is_empty() => (),
            None => {
                return Err(Violation::new(
                    Some(&key),
                    format!("`{key}` has short names but no `api`"),
                )
                .note("short names belong to the CRD of an API that the project defines")
                .field("remove `shortNames`"));
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
