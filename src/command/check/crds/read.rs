//! The CRDs that are compared.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crd_compat::Release;
use walkdir::{DirEntry, WalkDir};

use super::BASES;
use crate::{
    advice::Script,
    definitions::{File, Files},
    engine::Workspace,
    error::{Failure, Result},
    git, project,
};

/// The CRDs of `--crds`, which names standard input (`-`), a file, a directory or a git revision; and those of the project.
pub fn both(root: &Path, released: &str) -> Result<(Release, Release)> {
    if !root.join(project::FILE).exists() && !root.join(BASES).is_dir() {
        Workspace::open(root)?;
    }
    let (before, after) = rayon::join(
        || before(root, released),
        || after(root).map(|files| Files::read(files, None)),
    );
    let before = Files::read(before?, after.as_ref().ok()).release()?;
    if before.is_empty() && (released == "-" || root.join(released).exists()) {
        return Err(
            Failure::refused(format!("no CustomResourceDefinition in `{released}`"))
                .note("name a file, a directory or a git revision that has some")
                .advise(Script::forge("check --crds HEAD")),
        );
    }
    Ok((before, after?.release()?))
}

fn before(root: &Path, released: &str) -> Result<Vec<File>> {
    if released.trim().is_empty() {
        return Err(Failure::usage("`--crds` names nothing")
            .note(
                "a `$(…)` that fails is empty, such as `git describe` in a repository without tags",
            )
            .advise(Script::forge("check --crds HEAD")));
    }
    let path = root.join(released);
    if released == "-" {
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable("standard input", &error.to_string()))?;
        let source = "standard input".to_owned();
        return Ok(vec![File { source, bytes }]);
    }
    if path.is_dir() {
        return directory(root, &path);
    }
    if path.exists() {
        let bytes = fs::read(&path).map_err(|error| unreadable(released, &error.to_string()))?;
        let source = released.to_owned();
        return Ok(vec![File { source, bytes }]);
    }
    let mut files = git::blobs(root, released, BASES).map_err(|why| {
        Failure::refused(format!("`{released}` is neither a file nor a git revision"))
            .note(why.to_string())
            .note("a checkout in CI often has neither tags nor history: set `fetch-depth: 0` of actions/checkout")
            .advise(match git::is_inside_repository(root) {
                true => Script::of("git fetch --tags"),
                false => Script::forge("check --help"),
            })
    })?;
    files.retain(|file| holds_definitions(Path::new(&file.path)));
    let texts =
        git::contents(root, &files).map_err(|why| unreadable(released, &why.to_string()))?;
    let (links, files): (Vec<_>, Vec<_>) = files
        .into_iter()
        .zip(texts)
        .partition(|(file, _)| file.is_link);
    let mut seen: BTreeSet<Vec<u8>> = files.iter().map(|(_, text)| text.clone()).collect();
    // A link to a file is not read again.
    let is_new = |(_, text): &(git::Blob, Vec<u8>)| seen.insert(text.clone());
    let links: Vec<_> = links.into_iter().filter(is_new).collect();
    let file = |(file, bytes): (git::Blob, _)| File {
        source: format!("{released}:{}", file.path),
        bytes,
    };
    Ok(files.into_iter().chain(links).map(file).collect())
}

fn after(root: &Path) -> Result<Vec<File>> {
    let bases = root.join(BASES);
    if !bases.is_dir() {
        return Err(Failure::refused(format!("no `{BASES}`"))
            .note("the CRDs of the project are there")
            .advise(Script::of("make manifests")));
    }
    directory(root, &bases)
}

/// Every YAML and JSON file below `at`, by path. Links are followed, but no file is read twice: a mounted ConfigMap has a link
/// beside every file. A link to a parent directory is ignored.
fn directory(root: &Path, at: &Path) -> Result<Vec<File>> {
    let refused = |path: &Path, why: &str| {
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        unreadable(&shown.to_string(), why)
    };
    let real = fs::canonicalize(at);
    let real = real.map_err(|error| refused(at, &error.to_string()))?;
    let mut seen: BTreeSet<PathBuf> = real.ancestors().skip(1).map(Path::to_owned).collect();
    let mut is_new = |path: &Path| fs::canonicalize(path).map_or(true, |real| seen.insert(real));
    let counts = |entry: &DirEntry| entry.file_type().is_dir() || holds_definitions(entry.path());
    let entries = WalkDir::new(at)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| counts(entry) && is_new(entry.path()));
    let mut files = Vec::new();
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
            let source = shown.to_string();
            files.push(File { source, bytes });
        }
    }
    Ok(files)
}

/// Whether a file has the extension of YAML or JSON.
fn holds_definitions(path: &Path) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    let extension = extension.as_deref().and_then(OsStr::to_str);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

fn unreadable(what: &str, why: &str) -> Failure {
    Failure::refused(format!("cannot read `{what}`: {why}"))
        .note("it should contain the CustomResourceDefinitions of a release")
        .advise(Script::forge("check --crds HEAD"))
}
