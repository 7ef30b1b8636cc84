//! The definitions that are compared.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use walkdir::{DirEntry, WalkDir};

use super::BASES;
use crate::{
    compat::Release,
    error::{Failure, Result},
    git,
};

/// What `--crds` names: `-`, a file, a directory, or else a revision of git.
pub fn released(root: &Path, released: &str) -> Result<Release> {
    let mut release = Release::default();
    let path = root.join(released);
    if released == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| unreadable("standard input", &error.to_string()))?;
        release.read("standard input", &text)?;
    } else if path.is_dir() {
        directory(root, &path, &mut release)?;
    } else if path.exists() {
        let bytes = fs::read(&path).map_err(|error| unreadable(released, &error.to_string()))?;
        release.read(released, &String::from_utf8_lossy(&bytes))?;
    } else {
        let files = git::files_at(root, released, BASES).map_err(|why| {
            Failure::refused(format!("`{released}` is no file and no revision"))
                .note(why)
                .note("a checkout of CI often has neither tags nor history: `fetch-depth: 0` of actions/checkout gets them")
                .help("git fetch --tags")
        })?;
        for (path, bytes) in files {
            release.read(
                &format!("{released}:{path}"),
                &String::from_utf8_lossy(&bytes),
            )?;
        }
        return Ok(release);
    }
    if release.is_empty() {
        return Err(
            Failure::refused(format!("no CustomResourceDefinition in `{released}`"))
                .note("name a file, a directory or a git revision that has some")
                .help("operator-forge check --crds HEAD"),
        );
    }
    Ok(release)
}

/// The project's own definitions.
pub fn project(root: &Path) -> Result<Release> {
    let mut release = Release::default();
    let bases = root.join(BASES);
    if !bases.is_dir() {
        return Err(Failure::refused(format!("no `{BASES}`"))
            .note("the project's own definitions are compared")
            .help("make manifests"));
    }
    directory(root, &bases, &mut release)?;
    Ok(release)
}

/// Every YAML and JSON file below `at`, in the order of their paths. Links are followed, and nothing is read twice: a
/// mounted ConfigMap has a link to every file beside the file. A link to what is around the directory leads nowhere new.
fn directory(root: &Path, at: &Path, release: &mut Release) -> Result<()> {
    let refused = |path: &Path, why: &str| {
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        unreadable(&shown.to_string(), why)
    };
    let real = fs::canonicalize(at);
    let real = real.map_err(|error| refused(at, &error.to_string()))?;
    let mut seen: BTreeSet<PathBuf> = real.ancestors().skip(1).map(Path::to_owned).collect();
    let mut is_new = |path: &Path| fs::canonicalize(path).map_or(true, |real| seen.insert(real));
    // Another name of a file does not count as it.
    let counts = |entry: &DirEntry| {
        let extension = entry.path().extension().and_then(OsStr::to_str);
        entry.file_type().is_dir() || matches!(extension, Some("yaml" | "yml" | "json"))
    };
    let entries = WalkDir::new(at)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| counts(entry) && is_new(entry.path()));
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => {
                let path = error.path().unwrap_or(at);
                let why = error.io_error().map(ToString::to_string);
                return Err(refused(path, &why.unwrap_or_default()));
            }
        };
        let path = entry.path();
        if entry.file_type().is_file() {
            let bytes = fs::read(path).map_err(|error| refused(path, &error.to_string()))?;
            let shown = path.strip_prefix(root).unwrap_or(path).display();
            release.read(&shown.to_string(), &String::from_utf8_lossy(&bytes))?;
        }
    }
    Ok(())
}

fn unreadable(what: &str, why: &str) -> Failure {
    Failure::refused(format!("cannot read `{what}`: {why}"))
        .note("it should hold the CustomResourceDefinitions of a release")
        .help("operator-forge check --crds HEAD")
}
