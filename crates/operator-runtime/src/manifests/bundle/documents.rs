//! Reads the YAML files that people edit.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// The objects of a text with several documents.
fn parse(text: &str) -> Result<Vec<Value>, String> {
    // No limit of the size: CRDs are large, and the text is the user's own.
    let options = serde_saphyr::options! { budget: None };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| error.to_string())?;
    Ok(documents
        .into_iter()
        .filter(|document| !document.is_null())
        .collect())
}

/// The objects in the files of a directory with a certain name, in the order of the names.
pub(super) fn in_directory(
    directory: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(PathBuf, Value)>, String> {
    let fail =
        |path: &Path, error: String| Err(format!("cannot read `{}`: {error}", path.display()));
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return fail(directory, error.to_string()),
        Ok(entries) => entries,
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(&wanted)
    });
    paths.sort();
    let mut objects = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        match text.and_then(|text| parse(&text)) {
            Ok(found) => objects.extend(found.into_iter().map(|object| (path.clone(), object))),
            Err(error) => return fail(&path, error),
        }
    }
    Ok(objects)
}
