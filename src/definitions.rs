//! CustomResourceDefinitions in files: YAML documents, lists as `kubectl get crds -o yaml` prints them, other kinds between them.
//!
//! Invariant: a file that cannot be read and may hold a definition is an error.

use std::{
    collections::{BTreeMap, HashMap, btree_map::Entry},
    sync::Arc,
};

use crd_compat::{Definition, Release};
use guarded_yaml as yaml;
use rayon::prelude::*;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_yaml::Value;

use crate::{
    advice::{Advice, Script},
    error::{Failure, Result},
};

const KIND: &str = "CustomResourceDefinition";
/// The only API version of definitions that is read.
pub const API_VERSION: &str = "apiextensions.k8s.io/v1";

/// A file that may hold definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The name in error messages.
    pub source: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The files of a release, with the definitions in each.
#[derive(Debug)]
pub struct Manifests(Vec<(Manifest, Result<Release>)>);

impl Manifests {
    /// Parses the files in parallel. A text that `others` have as well is not parsed again.
    pub fn read(files: Vec<Manifest>, others: Option<&Self>) -> Self {
        let known: HashMap<&[u8], &Release> = others
            .into_iter()
            .flat_map(|others| &others.0)
            .filter_map(|(file, release)| Some((&*file.bytes, release.as_ref().ok()?)))
            .filter(|(_, release)| !release.is_empty())
            .collect();
        let read = |file: Manifest| {
            let release = match known.get(&*file.bytes) {
                Some(release) => Ok((*release).clone()),
                None => read(&file.source, &String::from_utf8_lossy(&file.bytes)),
            };
            (file, release)
        };
        Self(files.into_par_iter().map(read).collect())
    }

    /// The definitions of all files.
    ///
    /// Errors: the error of the first file that cannot be read, or that defines a name again.
    pub fn release(self) -> Result<Release> {
        let mut all = Release::default();
        for (file, release) in self.0 {
            for definition in release?.definitions() {
                insert(&mut all, &file.source, definition.clone())?;
            }
        }
        Ok(all)
    }
}

/// The definitions of the files as values, each with its name. The same definition may be there twice.
///
/// Errors: those of [`read`], apart from the types of fields.
pub fn values(files: &[Manifest]) -> Result<BTreeMap<String, serde_json::Value>> {
    let mut values = BTreeMap::new();
    for Manifest { source, bytes } in files {
        crds(source, &String::from_utf8_lossy(bytes), |name, value| {
            let value = serde_json::to_value(value);
            let value = value.map_err(|error| wrong_field(source, name, &error))?;
            match values.entry(name.to_owned()) {
                Entry::Vacant(entry) => _ = entry.insert(value),
                // Sample projects of one repository share CRDs.
                Entry::Occupied(entry) if *entry.get() == value => {}
                Entry::Occupied(_) => return Err(defined_twice(source, name)),
            }
            Ok(())
        })?;
    }
    Ok(values)
}

/// The definitions in `text`; error messages call it `source`.
///
/// Errors: the text is no YAML; a definition is not of `apiextensions.k8s.io/v1` or has a field of the wrong type; two have the
/// same name. A template, or a file without the extension of YAML or JSON, is ignored if it does not name the kind.
pub fn read(source: &str, text: &str) -> Result<Release> {
    let mut release = Release::default();
    crds(source, text, |name, value| {
        let definition = Definition::deserialize(value)
            // The API server gets JSON, in which every key is a string: `1: a` becomes `"1": a`.
            .or_else(|_| serde_json::to_value(value).and_then(Definition::deserialize));
        let definition = definition.map_err(|error| wrong_field(source, name, &error))?;
        insert(&mut release, source, definition)
    })?;
    Ok(release)
}

/// Calls `add` for every definition in `text`, with its name.
fn crds(source: &str, text: &str, mut add: impl FnMut(&str, &Value) -> Result<()>) -> Result<()> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains(KIND) {
        each::<Value>(source, text, |mut value| {
            merge_keys(source, text, &mut value)?;
            definitions(source, value, &mut add)
        })
    } else if has_to_parse(source, text) {
        // Other kinds may repeat a key.
        each::<IgnoredAny>(source, text, |_| Ok(()))
    } else {
        Ok(())
    }
}

/// Calls `add` for a definition, or for each in a list.
fn definitions(
    source: &str,
    mut value: Value,
    add: &mut impl FnMut(&str, &Value) -> Result<()>,
) -> Result<()> {
    let text = |key: &str| {
        let text = value.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    if kind == "List" || kind == format!("{KIND}List") {
        if let Some(Value::Sequence(items)) = value.get_mut("items") {
            for mut item in std::mem::take(items) {
                // An item of a typed list may leave out its kind.
                if let (true, Value::Mapping(item)) = (kind != "List", &mut item) {
                    item.entry("kind".into()).or_insert(KIND.into());
                    item.entry("apiVersion".into())
                        .or_insert(api_version.as_str().into());
                }
                definitions(source, item, add)?;
            }
        }
        return Ok(());
    }
    if kind != KIND {
        return Ok(());
    }
    let name = value
        .get("metadata")
        .and_then(|metadata| metadata.get("name"));
    let name = name.and_then(Value::as_str).unwrap_or_default();
    match api_version == API_VERSION {
        true => add(name, &value),
        false => Err(unreadable(source, name)
            .note(format!("no Kubernetes since 1.22 serves `{api_version}`"))
            .note(format!("a newer release has definitions of {API_VERSION}"))
            .advise(Advice::Help)),
    }
}

fn insert(
    release: &mut Release,
    source: &str,
    definition: impl Into<Arc<Definition>>,
) -> Result<()> {
    match release.insert(definition) {
        None => Ok(()),
        Some(first) => Err(defined_twice(source, first.name())),
    }
}

/// The refusal of a definition, still without its reason.
fn unreadable(source: &str, name: &str) -> Failure {
    Failure::refused(match name {
        "" => format!("cannot read a definition without a name in `{source}`"),
        _ => format!("cannot read `{name}` in `{source}`"),
    })
}

fn wrong_field(source: &str, name: &str, error: &serde_json::Error) -> Failure {
    unreadable(source, name)
        .note(error.to_string())
        .advise(Script::anywhere(
            "kubectl explain customresourcedefinition.spec",
        ))
}

fn defined_twice(source: &str, name: &str) -> Failure {
    unreadable(source, name)
        .note("another definition has the same name")
        .note("name the file or the directory of one release")
        .advise(Advice::Help)
}

/// The refusal of a file that is no YAML.
fn no_yaml(place: &str, what: &str, note: &str) -> Failure {
    Failure::refused(format!("cannot read `{place}` as YAML: {what}"))
        .note(note)
        .advise(Advice::Help)
}

/// Replaces each merge key `<<` with its mappings, as kubectl does.
fn merge_keys(source: &str, text: &str, value: &mut Value) -> Result<()> {
    let merged = match text.contains("<<") {
        true => value.apply_merge(),
        false => Ok(()),
    };
    merged.map_err(|error| {
        let (place, what) = match yaml::odd_key(text, true) {
            Some(at) => (at.place(source), at.what),
            None => (source.to_owned(), error.to_string()),
        };
        no_yaml(
            &place,
            &what,
            "a merge key `<<` names a mapping, or a list of mappings",
        )
    })
}

/// Whether a text without the name of the kind may still hold definitions, as in UTF-16.
fn has_to_parse(source: &str, text: &str) -> bool {
    let extension = source.rsplit_once('.').map(|(_, extension)| extension);
    let is_yaml = source == "standard input" || matches!(extension, Some("yaml" | "yml" | "json"));
    is_yaml && !text.contains("{{")
}

/// Every document of a text.
fn each<T: DeserializeOwned>(
    source: &str,
    text: &str,
    mut read: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    // In UTF-16, every other byte of English is one.
    if text.matches('\0').count() * 4 > text.len() {
        let note = "it may contain CRDs: convert it with `iconv -f UTF-16 -t UTF-8` first";
        return Err(no_yaml(source, "it is not in UTF-8", note));
    }
    let note = match text.contains("{{") {
        true => {
            "render templates first: `helm template CHART` prints what is applied to a cluster, and `-` reads it"
        }
        false => "it may contain CRDs: correct it, or name only the files with CRDs",
    };
    // JSON has escapes that YAML does not have.
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        return read(value);
    }
    yaml::documents(text)
        .map_err(|error| no_yaml(&error.place(source), &error.what, note))?
        .into_iter()
        .try_for_each(read)
}

#[cfg(test)]
mod tests;
