//! CustomResourceDefinitions in files: one or several YAML documents, lists as `kubectl get crds -o yaml` prints them, with other
//! kinds between them.
//!
//! Invariant: a file that cannot be read and may hold a definition is an error.

use std::{collections::HashMap, sync::Arc};

use crd_compat::{Definition, Release};
use rayon::prelude::*;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_yaml::Value;

use crate::{
    error::{Failure, Result},
    yaml,
};

const KIND: &str = "CustomResourceDefinition";
const API_VERSION: &str = "apiextensions.k8s.io/v1";

/// A file that may hold definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// What refusals call it.
    pub source: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The files of a release, with the definitions in each.
#[derive(Debug)]
pub struct Files(Vec<(File, Result<Release>)>);

impl Files {
    /// Reads the files. A text that is in `others` too is not read again.
    pub fn read(files: Vec<File>, others: Option<&Self>) -> Self {
        let known: HashMap<&[u8], &Release> = others
            .into_iter()
            .flat_map(|others| &others.0)
            .filter_map(|(file, release)| Some((&*file.bytes, release.as_ref().ok()?)))
            .filter(|(_, release)| !release.is_empty())
            .collect();
        let read = |file: File| {
            let release = match known.get(&*file.bytes) {
                Some(release) => Ok((*release).clone()),
                None => file.read(),
            };
            (file, release)
        };
        Self(files.into_par_iter().map(read).collect())
    }

    /// What all of them define.
    ///
    /// Errors: that of the first file that could not be read, or that defines what one before it does.
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

impl File {
    fn read(&self) -> Result<Release> {
        read(&self.source, &String::from_utf8_lossy(&self.bytes))
    }
}

/// The definitions in `text`, which refusals call `source`.
///
/// Errors: it is no YAML, a definition is not of `apiextensions.k8s.io/v1` or has a field of the wrong type, or two have one
/// name. A text that is neither called YAML nor JSON, or is a template, is passed over if it names no definition.
pub fn read(source: &str, text: &str) -> Result<Release> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut release = Release::default();
    if text.contains(KIND) {
        each::<Value>(source, text, |mut value| {
            merge_keys(source, text, &mut value)?;
            add(&mut release, source, value)
        })?;
    } else if has_to_parse(source, text) {
        // A key that is there twice is no matter where nothing is read.
        each::<IgnoredAny>(source, text, |_| Ok(()))?;
    }
    Ok(release)
}

fn add(release: &mut Release, source: &str, mut value: Value) -> Result<()> {
    let text = |key: &str| {
        let text = value.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    if kind == "List" || kind == format!("{KIND}List") {
        if let Some(Value::Sequence(items)) = value.get_mut("items") {
            for mut item in std::mem::take(items) {
                // What a typed list holds may leave out its kind.
                if let (true, Value::Mapping(item)) = (kind != "List", &mut item) {
                    item.entry("kind".into()).or_insert(KIND.into());
                    item.entry("apiVersion".into())
                        .or_insert(api_version.as_str().into());
                }
                add(release, source, item)?;
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
    let refuse = |what: String| refusal(source, name, what);
    if api_version != API_VERSION {
        return Err(refuse(format!(
            "it is of `{api_version}`, which no Kubernetes since 1.22 serves"
        ))
        .note(format!(
            "compare with a release whose definitions are of {API_VERSION}"
        ))
        .advise("operator-forge check --help"));
    }
    let definition = Definition::deserialize(&value)
        // JSON, which the API server gets, has words for all keys: it reads `1: a` as `"1": a`.
        .or_else(|_| serde_json::to_value(&value).and_then(Definition::deserialize));
    let definition = definition.map_err(|error| {
        refuse(error.to_string()).advise("kubectl explain customresourcedefinition.spec")
    })?;
    insert(release, source, definition)
}

fn insert(
    release: &mut Release,
    source: &str,
    definition: impl Into<Arc<Definition>>,
) -> Result<()> {
    match release.insert(definition) {
        None => Ok(()),
        Some(first) => {
            let twice = "a definition of that name was read before".to_owned();
            Err(refusal(source, first.name(), twice)
                .note("name the file or the directory of one release")
                .advise("operator-forge check --help"))
        }
    }
}

fn refusal(source: &str, name: &str, what: String) -> Failure {
    let named = match name {
        "" => "a definition without a name".to_owned(),
        name => format!("`{name}`"),
    };
    Failure::refused(format!("cannot read {named} in `{source}`")).note(what)
}

/// Puts what `<<` names in its place, as kubectl does.
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
        Failure::refused(format!("cannot read `{place}` as YAML: {what}"))
            .note("a merge key `<<` names a mapping, or a list of them")
            .advise("operator-forge check --help")
    })
}

/// Whether there may be definitions in what cannot be parsed and names none, such as one in UTF-16.
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
    let refuse = |place: &str, why: &str, note: &str| {
        let error = format!("cannot read `{place}` as YAML: {why}");
        Failure::refused(error)
            .note(note)
            .advise("operator-forge check --help")
    };
    let missed = "a definition in it would be missed, so nothing was compared: mend it, or name files of definitions alone";
    // In UTF-16, every other byte of English is one.
    if text.matches('\0').count() * 4 > text.len() {
        let failure = refuse(source, "it is not in UTF-8", missed);
        return Err(failure.note("`iconv -f UTF-16 -t UTF-8` makes it UTF-8"));
    }
    let note = match text.contains("{{") {
        true => {
            "it has to hold CustomResourceDefinitions, as they are applied to a cluster: render templates first (`helm template CHART | operator-forge check --crds -`)"
        }
        false => missed,
    };
    // JSON may escape what YAML may not.
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        return read(value);
    }
    yaml::documents(text)
        .map_err(|error| refuse(&error.place(source), &error.what, note))?
        .into_iter()
        .try_for_each(read)
}

#[cfg(test)]
mod tests;
