<<<<<<< HEAD
//! Candidates from the project in the current directory or above it. A project that cannot be read offers nothing.

use std::{collections::BTreeSet, path::Path};

use clap_complete::CompletionCandidate;

use crate::{
    project::{self, FILE, Key, Project},
    tree,
=======
//! Candidates from the project in the current directory, or in that of `-C`. A project that cannot be read offers nothing.

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use clap_complete::CompletionCandidate;

use super::directory;
use crate::{
    compat,
    project::{FILE, Key, Project},
    template,
    tree::RelPath,
>>>>>>> 0a09372 (Complete deleted files and rules, and install man pages)
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
    words(owned.into_iter().flatten())
}

/// Generated files that were deleted.
pub fn deleted() -> Vec<CompletionCandidate> {
    let paths = project().and_then(|project| template::paths(&project).ok());
    let root = root();
    let is_gone = |path: &RelPath| !root.join(path.as_str()).exists();
    words(paths.into_iter().flatten().filter(is_gone))
}

/// The rules of `check --crds`.
pub fn rules() -> Vec<CompletionCandidate> {
    let rules = compat::ALL.iter();
    let candidate =
        |rule: &&compat::Rule| CompletionCandidate::new(rule.id).help(Some(rule.why.into()));
    rules.map(candidate).collect()
}

/// Where the command line to complete works: behind `--`, its first word is the program.
fn root() -> PathBuf {
    let words = env::args_os().skip_while(|word| word != "--").skip(2);
    let words: Vec<_> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    directory(&words)
}

fn project() -> Option<Project> {
<<<<<<< HEAD
    let here = tree::full(Path::new("."));
    let root = match here.join(FILE).is_file() {
        true => &*here,
        false => project::above(&here)?,
    };
    Project::read(&std::fs::read(root.join(FILE)).ok()?).ok()
=======
    Project::read(&fs::read(root().join(FILE)).ok()?).ok()
}

fn words(words: impl Iterator<Item = impl ToString>) -> Vec<CompletionCandidate> {
    words
        .map(|word| CompletionCandidate::new(word.to_string()))
        .collect()
>>>>>>> 0a09372 (Complete deleted files and rules, and install man pages)
}

fn candidates(part: impl Fn(&Key) -> String) -> Vec<CompletionCandidate> {
    let Some(project) = project() else {
        return Vec::new();
    };
    let words: BTreeSet<String> = project.resources().map(|(key, _)| part(key)).collect();
    self::words(words.into_iter().filter(|word| !word.is_empty()))
}
