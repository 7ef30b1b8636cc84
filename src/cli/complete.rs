//! Candidates from the project in the current directory or above it. A project that cannot be read offers nothing.

use std::{collections::BTreeSet, path::Path};

use clap_complete::CompletionCandidate;

use crate::{
    project::{self, FILE, Key, Project},
    tree,
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
    named
        .map(|controller| CompletionCandidate::new(controller.name))
        .collect()
}

fn project() -> Option<Project> {
    let here = tree::full(Path::new("."));
    let root = match here.join(FILE).is_file() {
        true => &*here,
        false => project::above(&here)?,
    };
    Project::read(&std::fs::read(root.join(FILE)).ok()?).ok()
}

fn candidates(part: impl Fn(&Key) -> String) -> Vec<CompletionCandidate> {
    let Some(project) = project() else {
        return Vec::new();
    };
    let words: BTreeSet<String> = project.resources().map(|(key, _)| part(key)).collect();
    words
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(CompletionCandidate::new)
        .collect()
}
