//! Files with CustomResourceDefinitions that a command line names.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use walkdir::DirEntry;

use crate::{
    advice::Advice,
    definitions,
    error::{Failure, Result},
    tree,
};

/// The files at `source`: standard input (`-`), a file, or the YAML and JSON files below a directory. `None` if there is no such
/// path.
pub fn read(root: &Path, source: &str) -> Result<Option<Vec<definitions::Manifest>>> {
    let path = root.join(source);
    let (source, bytes) = if source == "-" {
        ("standard input", tree::read_stream(io::stdin()))
    } else if path.is_dir() {
        return directory(root, &path).map(Some);
    } else if path.exists() {
        (source, File::open(&path).and_then(tree::read_stream))
    } else {
        return Ok(None);
    };
    let bytes = bytes.map_err(|error| unreadable(source, &error.to_string()))?;
    let source = source.to_owned();
    Ok(Some(vec![definitions::Manifest { source, bytes }]))
}

/// Every YAML and JSON file below `at`, by path. Links are followed, but no file is read twice: a mounted ConfigMap has a link
/// beside every file. A link to a parent directory is ignored. One that leads out of `at` and of `root` is refused: whoever made a
/// repository may have put it there.
pub fn directory(root: &Path, at: &Path) -> Result<Vec<definitions::Manifest>> {
    let shown = |path: &Path| {
        path.strip_prefix(root)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    let refused = |path: &Path, why: &str| unreadable(&shown(path), why);
    let real = fs::canonicalize(at);
    let real = real.map_err(|error| refused(at, &error.to_string()))?;
    let around = [tree::full(root), real.clone()];
    let mut seen: BTreeSet<PathBuf> = real.ancestors().skip(1).map(Path::to_owned).collect();
    seen.insert(real);
    let mut is_new = |path: &Path| fs::canonicalize(path).map_or(true, |real| seen.insert(real));
    let counts = |entry: &DirEntry| entry.file_type().is_dir() || holds_definitions(entry.path());
    let found = tree::search(at, &around, |entry| counts(entry) && is_new(entry.path()));
    let found = found.map_err(|error| refused(&error.path, &error.error.to_string()))?;
    let file = |(path, bytes): (PathBuf, _)| definitions::Manifest {
        source: shown(&path),
        bytes,
    };
    Ok(found.into_iter().map(file).collect())
}

/// Whether a file has the extension of YAML or JSON.
pub fn holds_definitions(path: &Path) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    let extension = extension.as_deref().and_then(OsStr::to_str);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

/// The refusal of a file or directory that cannot be read.
pub fn unreadable(what: &str, why: &str) -> Failure {
    Failure::refused(format!("cannot read `{what}`: {why}"))
        .note("it should contain CustomResourceDefinitions")
        .advise(Advice::Help)
}
