//! Candidates from the project around the current directory, or that of `-C`. A project that cannot be read has none.

use std::{collections::BTreeSet, env, ffi::OsStr, path::PathBuf};

use clap_complete::CompletionCandidate;

use super::correction::Line;
use crate::{
    field,
    name::kubernetes::KubernetesVersion,
    project::{self, FILE, Key, Project},
    template,
    tree::{self, RelPath},
};

/// The project's groups.
pub fn groups() -> Vec<CompletionCandidate> {
    of_keys(|key| key.group.to_string())
}

/// The project's versions.
pub fn versions() -> Vec<CompletionCandidate> {
    of_keys(|key| key.version.to_string())
}

/// The project's kinds.
pub fn kinds() -> Vec<CompletionCandidate> {
    of_keys(|key| key.kind.to_string())
}

/// The project's controllers that have names of their own.
pub fn controllers() -> Vec<CompletionCandidate> {
    let project = project();
    let controllers = project.iter().flat_map(Project::controllers);
    let named = controllers.filter(|controller| !controller.default);
    candidates(named.map(|controller| controller.name.to_string()))
}

/// The files that the user owns.
pub fn owned() -> Vec<CompletionCandidate> {
    let owned = project().map(|project| project.settings.owned);
    paths(owned.into_iter().flatten())
}

/// The generated files that were deleted.
pub fn deleted() -> Vec<CompletionCandidate> {
    let desired = project().and_then(|project| template::paths(&project).ok());
    let root = root();
    let is_gone = |path: &RelPath| !root.join(path.as_str()).exists();
    paths(desired.into_iter().flatten().filter(is_gone))
}

/// The versions of Kubernetes that a project can choose.
pub fn kubernetes() -> Vec<CompletionCandidate> {
    candidates(KubernetesVersion::all().map(|version| version.to_string()))
}

/// The rules of `check --crds`.
pub fn rules() -> Vec<CompletionCandidate> {
    let rules = crd_compat::ALL.iter();
    let candidate =
        |rule: &&crd_compat::Rule| CompletionCandidate::new(rule.id).help(Some(rule.why.into()));
    rules.map(candidate).collect()
}

/// Fields whose last part is a type or a marker: `size:int32`, `size:int32:min=`.
pub fn fields(text: &OsStr) -> Vec<CompletionCandidate> {
    candidates(field::completions(&text.to_string_lossy()).into_iter())
}

fn of_keys(part: impl Fn(&Key) -> String) -> Vec<CompletionCandidate> {
    let project = project();
    let resources = project.iter().flat_map(Project::resources);
    let words: BTreeSet<String> = resources.map(|(key, _)| part(key)).collect();
    candidates(words.into_iter().filter(|word| !word.is_empty()))
}

/// Paths relative to the directory in which the command line works.
fn paths(paths: impl Iterator<Item = RelPath>) -> Vec<CompletionCandidate> {
    let (start, root) = (start(), root());
    let below = start.strip_prefix(root).unwrap_or(&start);
    let above = "../".repeat(below.components().count());
    let near = |path: RelPath| match PathBuf::from(path.as_str()).strip_prefix(below) {
        Ok(inside) => inside.display().to_string(),
        Err(_) => format!("{above}{path}"),
    };
    candidates(paths.map(near))
}

fn candidates(words: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    words.map(CompletionCandidate::new).collect()
}

fn project() -> Option<Project> {
    Project::read(&tree::read(&root().join(FILE)).ok()?).ok()
}

/// The project's directory.
fn root() -> PathBuf {
    let start = start();
    match project::above(&start).filter(|_| !start.join(FILE).is_file()) {
        Some(root) => root.to_path_buf(),
        None => start,
    }
}

/// The directory in which the command line to complete works: behind `--`, its first word is the program.
fn start() -> PathBuf {
    let words = env::args_os().skip_while(|word| word != "--").skip(2);
    let words: Vec<_> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let line = Line::of(&words);
    let directory = line.value("--directory").filter(|it| !it.is_empty());
    tree::full(directory.unwrap_or(".").as_ref())
}
