//! The refusals of a text that is no project.

use std::path::Path;

use guarded_yaml as yaml;

use crate::advice::{Advice, Script};
use crate::error::Failure;
use crate::project::correction::{FILE, change, edit, init_beside, restore};
use crate::project::{LAYOUT, TEMPLATES};

/// The refusal of a directory without `PROJECT`.
pub fn missing(directory: &Path) -> Failure {
    let shown = directory.display();
    match directory.exists() {
        true => Failure::refused(format!("no `{FILE}` in `{shown}`"))
            .note("no directory above it has one either; `-C DIR` names another directory")
            .advise(Script::forge("init --domain example.com")),
        false => Failure::refused(format!("no directory `{shown}`"))
            .note("`-C DIR` names the directory that the command works in")
            .advise(Advice::set("--directory", ".")),
    }
}

/// The refusal of a file without a value.
pub fn empty(has_comments: bool) -> Failure {
    Failure::refused(match has_comments {
        true => format!("`{FILE}` has nothing but comments"),
        false => format!("`{FILE}` is empty"),
    })
    .note("perhaps a command was stopped, or the disk was full")
    .advise(restore())
}

/// The refusal of conflict markers.
pub fn conflict(line: usize) -> Failure {
    Failure::refused(format!("`{FILE}:{line}`: a merge conflict is not resolved"))
        .note("entries of `resources` are independent: keep those of both sides, in any order")
        .advise(edit())
}

/// The refusal of another version of kubebuilder's format than 3.
pub fn version(version: Option<&str>) -> Failure {
    match version {
        Some(version) => Failure::refused(format!("`{FILE}` has version `{version}`"))
            .note("this operator-forge reads version 3, which every release so far writes")
            .newer_tool(),
        None => Failure::refused(format!("`{FILE}` has no `version`"))
            .note("it is the last line that operator-forge writes: the file was perhaps cut off")
            .advise(restore()),
    }
}

/// The refusal of a file that names no tool.
pub fn no_layout() -> Failure {
    Failure::refused(format!("`{FILE}` has no `layout`"))
        .note(format!(
            "it names the tool of a project; for operator-forge, it is `{LAYOUT}`"
        ))
        .advise(restore())
}

/// The refusal of another layout of ours.
pub fn newer_layout(newer: &str) -> Failure {
    Failure::refused(format!(
        "`{FILE}` has layout `{newer}`, this operator-forge knows `{LAYOUT}`"
    ))
    .note("it was made by a newer release")
    .newer_tool()
}

/// The refusal of the project of another tool, with a line that makes a project beside it.
pub fn foreign(layout: &str, domain: Option<String>, name: Option<String>) -> Failure {
    let plugin = layout.split('/').next().unwrap_or_default();
    let is_go = plugin.split('.').any(|part| part == "go");
    let kind = match plugin {
        _ if is_go => "a Go project of kubebuilder or operator-sdk",
        _ if plugin.starts_with("helm") => "a Helm operator of operator-sdk",
        _ if plugin.starts_with("ansible") => "an Ansible operator of operator-sdk",
        _ => "one of another tool",
    };
    let domain = domain.unwrap_or_else(|| "example.com".to_owned());
    let name = name.unwrap_or_else(|| "operator".to_owned());
    let beside = format!("{name}-rs");
    let refused = Failure::refused(format!(
        "`{FILE}` belongs to another kind of project: {kind} (layout `{layout}`)"
    ))
    .note("operator-forge makes Rust projects, and writes only into its own");
    match is_go {
        true => refused
            .note("`init --from-kubebuilder` makes one beside it, with the same APIs, controllers and webhooks")
            .advise(Script::forge("init").arg(format!("../{beside}")).code("--from-kubebuilder .")),
        false => refused
            .note("init a project beside it, then add its APIs: `create api --from-crd` generates the types of its CRDs")
            .advise(init_beside(&beside, &domain, &name)),
    }
}

/// The refusal of a file without our settings.
pub fn no_settings() -> Failure {
    Failure::refused(format!("`{FILE}`: `plugins` has no `{LAYOUT}`"))
        .note("it records the template set of the project")
        .note(change(&format!(
            "plugins: {{{LAYOUT}: {{templates: {TEMPLATES}}}}}"
        )))
        .advise(edit())
}

/// The refusal of a value that is not valid. A name has explained itself ([`Invalid`](crate::name::Invalid)); for any other
/// error, there is `note`.
pub fn value(error: &yaml::Error, note: Option<&str>) -> Failure {
    let mut lines = error.what.lines();
    let what = lines.next().unwrap_or_default();
    let mut failure = Failure::refused(format!("`{}`: {what}", error.place(FILE)));
    let lines: Vec<_> = lines.collect();
    let of = |prefix| {
        let lines = lines.iter();
        lines.filter_map(move |line| line.strip_prefix(prefix))
    };
    failure.notes.extend(of("note: ").map(str::to_owned));
    if failure.notes.is_empty() {
        failure.notes.extend(note.map(str::to_owned));
    }
    let fixes: Vec<_> = of("help: ").map(change).collect();
    let advice = match fixes.is_empty() {
        true => Script::of("diff .operator-forge/PROJECT PROJECT"),
        false => edit(),
    };
    failure.notes.extend(fixes);
    failure.advise(advice)
}
