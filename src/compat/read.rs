//! Definitions out of YAML: one or several documents, lists as `kubectl get crds -o yaml` prints them, other kinds between.

use std::{
    collections::{HashMap, btree_map::Entry},
    sync::Arc,
};

use rayon::prelude::*;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_yaml::Value;

use super::{Release, definition::Definition};
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

/// The files of a release, and what was [read](Release::read) in each.
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
            for (name, definition) in release?.definitions {
                all.insert(&file.source, name, definition)?;
            }
        }
        Ok(all)
    }
}

impl File {
    fn read(&self) -> Result<Release> {
        let mut release = Release::default();
        release.read(&self.source, &String::from_utf8_lossy(&self.bytes))?;
        Ok(release)
    }
}

impl Release {
    /// Adds the definitions in `text`, which is called `source` in refusals, and returns how many there were.
    ///
    /// Errors: it is no YAML, a definition is not of `apiextensions.k8s.io/v1` or has a field of the wrong type, or one of
    /// its name is there already. Passed over is what is not called YAML or JSON, or is a template, and names no definition.
    pub fn read(&mut self, source: &str, text: &str) -> Result<usize> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let before = self.definitions.len();
        let mut read = || {
            if !text.contains(KIND) {
                // A key that is there twice is no matter where nothing is read.
                return each::<IgnoredAny>(source, text, |_| Ok(()));
            }
            each::<Value>(source, text, |mut value| {
                merge_keys(source, text, &mut value)?;
                self.add(source, value)
            })
        };
        match read() {
            Err(_) if !text.contains(KIND) && !has_to_parse(source, text) => {}
            read => read?,
        }
        Ok(self.definitions.len() - before)
    }

    fn add(&mut self, source: &str, mut value: Value) -> Result<()> {
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
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
                    self.add(source, item)?;
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
        let name = name
            .and_then(Value::as_str)
            .unwrap_or("a definition without a name")
            .to_owned();
        let refuse = |what: String| refusal(source, &name, what);
        if api_version != API_VERSION {
            return Err(refuse(format!(
                "it is of `{api_version}`, which no Kubernetes since 1.22 serves"
            ))
            .note(format!(
                "compare with a release whose definitions are of {API_VERSION}"
            ))
            .help("operator-forge check --help"));
        }
        integral(&mut value);
        let definition: Definition = serde_yaml::from_value(value).map_err(|error| {
            refuse(error.to_string()).help("kubectl explain customresourcedefinition.spec")
        })?;
        self.insert(source, name, Arc::new(definition))
    }

    fn insert(&mut self, source: &str, name: String, definition: Arc<Definition>) -> Result<()> {
        match self.definitions.entry(name) {
            Entry::Vacant(place) => {
                place.insert(definition);
                Ok(())
            }
            Entry::Occupied(place) => {
                let twice = "a definition of that name was read before".to_owned();
                Err(refusal(source, place.key(), twice)
                    .note("name the file or the directory of one release")
                    .help("operator-forge check --help"))
            }
        }
    }
}

fn refusal(source: &str, name: &str, what: String) -> Failure {
    Failure::refused(format!("cannot read `{name}` in `{source}`")).note(what)
}

/// Puts what `<<` names in its place, as kubectl does.
fn merge_keys(source: &str, text: &str, value: &mut Value) -> Result<()> {
    let merged = match text.contains("<<") {
        true => value.apply_merge(),
        false => Ok(()),
    };
    merged.map_err(|error| {
        Failure::refused(format!("cannot read `{source}` as YAML: {error}"))
            .note("a merge key `<<` names a mapping, or a list of them")
            .help("operator-forge check --crds FILE")
    })
}

/// Writes every number without fraction as one: `1.0` is `1`.
fn integral(value: &mut Value) {
    const EXACT: f64 = (1_u64 << 53) as f64;
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64();
            if let Some(float) = float.filter(|it| it.fract() == 0.0 && it.abs() <= EXACT) {
                *number = (float as i64).into();
            }
        }
        Value::Sequence(items) => items.iter_mut().for_each(integral),
        Value::Mapping(fields) => fields.values_mut().for_each(integral),
        _ => {}
    }
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
    let refuse = |why: &str, note: &str, help: &str| {
        let error = format!("cannot read `{source}` as YAML: {why}");
        Failure::refused(error).note(note).help(help)
    };
    let missed = "a definition in it would be missed, so nothing was compared: mend it, or name files of definitions alone";
    if text.contains('\0') {
        let help = "iconv -f UTF-16 -t UTF-8 BEFORE > AFTER";
        return Err(refuse("it is not in UTF-8", missed, help));
    }
    let (note, help) = match text.contains("{{") {
        true => (
            "it has to hold CustomResourceDefinitions, as they are applied to a cluster: render templates first",
            "helm template CHART | operator-forge check --crds -",
        ),
        false => (missed, "operator-forge check --crds FILE"),
    };
    // JSON may escape what YAML may not.
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        return read(value);
    }
    yaml::documents(text)
        .map_err(|error| refuse(&error.to_string(), note, help))?
        .into_iter()
        .try_for_each(read)
}
