//! Candidates from the project around the current directory, or that of `-C`. A project that cannot be read offers nothing.

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use clap_complete::CompletionCandidate;

use super::directory;
use crate::{
    project::{self, FILE, Key, Project},
    template,
    tree::{self, RelPath},
};

/// The project's groups.
pub fn groups() -> Vec<CompletionCandidate> {
    candidates(|key| key.group.to_string())
}

/// The project's versions.
pub fn versions() -> Vec<CompletionCandidate> {
    candidates(|key| key.version.to_string())
}

/// The project's kinds.
pub fn kinds() -> Vec<CompletionCandidate> {
    candidates(|key| key.kind.to_string())
}

/// The project's controllers that have names of their own.
pub fn controllers() -> Vec<CompletionCandidate> {
    let Some(project) = project() else {
        return Vec::new();
    };
    let controllers = project.controllers().into_iter();
    let named = controllers.filter(|controller| !controller.default);
    words(named.map(|controller| controller.name))
}

/// Generated files that were taken over.
pub fn owned() -> Vec<CompletionCandidate> {
    let owned = project().map(|project| project.settings.owned);
    paths(owned.into_iter().flatten())
}

/// Generated files that were deleted.
pub fn deleted() -> Vec<CompletionCandidate> {
    let desired = project().and_then(|project| template::paths(&project).ok());
    let root = root();
    let is_gone = |path: &RelPath| !root.join(path.as_str()).exists();
    paths(desired.into_iter().flatten().filter(is_gone))
}

/// Paths as the directory names them in which the command line works.
fn paths(paths: impl Iterator<Item = RelPath>) -> Vec<CompletionCandidate> {
    let start = tree::full(&start());
    let below = start.strip_prefix(root()).unwrap_or(&start).to_path_buf();
    let above = "../".repeat(below.components().count());
    let near = |path: RelPath| match PathBuf::from(path.as_str()).strip_prefix(&below) {
        Ok(inside) => inside.display().to_string(),
        Err(_) => format!("{above}{path}"),
    };
    words(paths.map(near))
}

/// The rules of `check --crds`.
pub fn rules() -> Vec<CompletionCandidate> {
    let rules = crd_compat::ALL.iter();
    let candidate =
        |rule: &&crd_compat::Rule| CompletionCandidate::new(rule.id).help(Some(rule.why.into()));
    rules.map(candidate).collect()
}

/// Where the command line to complete works: behind `--`, its first word is the program.
fn start() -> PathBuf {
    let words = env::args_os().skip_while(|word| word != "--").skip(2);
    let words: Vec<_> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    match directory(&words) {
        here if here.as_os_str().is_empty() => PathBuf::from("."),
        named => named,
    }
}

/// The project's directory.
fn root() -> PathBuf {
    let start = tree::full(&start());
    match project::above(&start).filter(|_| !start.join(FILE).is_file()) {
        Some(root) => root.to_path_buf(),
        None => start,
    }
}

fn project() -> Option<Project> {
    Project::read(&fs::read(root().join(FILE)).ok()?).ok()
}

fn words(words: impl Iterator<Item = impl ToString>) -> Vec<CompletionCandidate> {
    words
        .map(|word| CompletionCandidate::new(word.to_string()))
        .collect()
}

fn candidates(part: impl Fn(&Key) -> String) -> Vec<CompletionCandidate> {
    let Some(project) = project() else {
        return Vec::new();
    };
    let words: BTreeSet<String> = project.resources().map(|(key, _)| part(key)).collect();
    self::words(words.into_iter().filter(|word| !word.is_empty()))
}
