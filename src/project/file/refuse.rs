//! Everything that can be wrong with `PROJECT` as a file, each with its own answer.

use std::path::Path;

use serde::{Deserialize, de::IgnoredAny};
use serde_yaml::Value;

use super::FILE;
use super::shape::one_or_more;
use crate::error::Failure;
use crate::project::rules::Violation;
use crate::project::{Key, LAYOUT};
use crate::yaml;

/// There is no `PROJECT` in this directory.
pub fn missing(directory: &Path) -> Failure {
    if !directory.exists() {
        return Failure::refused(format!("no directory `{}`", directory.display()))
            .note("`-C DIR` names the directory that the command works in")
            .advise("--directory .");
    }
    Failure::refused(format!("no `{FILE}` in `{}`", directory.display()))
        .note("no directory above it has one either; `-C DIR` names another directory")
        .advise("operator-forge init --domain example.com")
}

/// The file as text, if it can be one and no merge is half done in it.
pub fn text(bytes: &[u8]) -> Result<&str, Failure> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        Failure::refused(format!("`{FILE}:{line}`: the file is not UTF-8 text")).advise(RESTORE)
    })?;
    let is_empty = |line: &str| matches!(line.trim(), "" | "---") || line.trim().starts_with('#');
    if text.lines().all(is_empty) {
        let what = match text.trim() {
            "" => "is empty",
            _ => "has nothing but comments",
        };
        return Err(Failure::refused(format!("`{FILE}` {what}"))
            .note("a command was perhaps stopped, or the disk was full")
            .advise(RESTORE));
    }
    let marker = |line: &&str| {
        line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") || *line == "======="
    };
    if let Some(line) = text.lines().position(|line| marker(&line)) {
        return Err(Failure::refused(format!(
            "`{FILE}:{}`: a merge conflict is not resolved",
            line + 1
        ))
        .note("entries of `resources` are independent: keep those of both sides, in any order")
        .advise(EDIT));
    }
    Ok(text)
}

/// For a text that is lost: the last one that was applied, which needs no git.
const RESTORE: &str = "cp .operator-forge/PROJECT PROJECT";

/// For a text that went wrong somewhere: what changed since it was last applied.
const DIFF: &str = "diff .operator-forge/PROJECT PROJECT";

/// For a text that says what cannot be, and has to say something else.
pub const EDIT: &str = "${EDITOR:-vi} PROJECT && operator-forge sync";

/// The fields that say what kind of file this is; everything else may be wrong.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    pub version: Option<Value>,
    #[serde(default, deserialize_with = "one_or_more")]
    pub layout: Vec<String>,
    pub domain: Option<String>,
    pub project_name: Option<String>,
}

/// The answer to a text of another tool or another format; `None` if it is one of ours, or no YAML at all.
pub fn foreign_text(text: &str) -> Option<Failure> {
    foreign(yaml::read(text).ok()?)
}

/// The answer to a file of another tool or another format; `None` if it is one of ours.
pub fn foreign(probe: Probe) -> Option<Failure> {
    if probe.layout.iter().any(|plugin| plugin == LAYOUT) {
        return match &probe.version {
            None => Some(
                Failure::refused(format!("`{FILE}` has no `version`"))
                    .note("it is the last line that operator-forge writes: the file was perhaps cut off")
                    .advise(RESTORE),
            ),
            Some(version) if version.as_str() == Some("3") || version.as_u64() == Some(3) => None,
            Some(version) => Some(
                Failure::refused(format!("`{FILE}` has version `{}`", scalar(version)))
                    .note("this operator-forge reads version 3, which every release so far writes")
                    .newer_tool(),
            ),
        };
    }
    let ours = LAYOUT.split('/').next().unwrap_or_default();
    if let Some(newer) = probe
        .layout
        .iter()
        .find(|plugin| plugin.split('/').next() == Some(ours))
    {
        return Some(
            Failure::refused(format!(
                "`{FILE}` has layout `{newer}`, this operator-forge knows `{LAYOUT}`"
            ))
            .note("it was made by a newer release")
            .newer_tool(),
        );
    }
    let Some(plugin) = probe.layout.first() else {
        // Version 2 of kubebuilder's file had no layout; so has a file that lost its lines.
        return Some(
            Failure::refused(format!("`{FILE}` has no `layout`"))
                .note(format!(
                    "it says which tool a project belongs to; ours is `{LAYOUT}`"
                ))
                .advise(RESTORE),
        );
    };
    let language = match plugin.split('/').next().unwrap_or_default() {
        name if name.split('.').any(|part| part == "go") => {
            "a Go project of kubebuilder or operator-sdk"
        }
        name if name.starts_with("helm") => "a Helm operator of operator-sdk",
        name if name.starts_with("ansible") => "an Ansible operator of operator-sdk",
        _ => "one of another tool",
    };
    let domain = probe.domain.unwrap_or_else(|| "example.com".to_owned());
    let name = probe.project_name.unwrap_or_else(|| "operator".to_owned());
    Some(
        Failure::refused(format!("`{FILE}` belongs to another kind of project: {language} (layout `{plugin}`)"))
            .note("operator-forge makes Rust projects, and never writes into one of another kind")
            .note("make one beside it, then repeat `create api` for each of its resources; flags are the same")
            .advise(format!("operator-forge init ../{name}-rs --domain {domain} --project-name {name}")),
    )
}

/// A key that holds others, or merges them. Few lines can have one, so few files are read twice.
pub fn odd_key(text: &str) -> Option<yaml::Error> {
    let may = |line: &str| {
        let list = line.find(']');
        line.contains(['{', '?', '*'])
            || line.contains("<<")
            || list.is_some_and(|end| line[end..].contains(':'))
    };
    text.lines().any(may).then(|| yaml::odd_key(text, false))?
}

fn scalar(value: &Value) -> String {
    serde_yaml::to_string(value)
        .unwrap_or_default()
        .trim()
        .trim_matches(['\'', '"'])
        .to_owned()
}

/// An error of the YAML reader, with what our own parsers wrote into it.
pub fn unreadable(text: &str, error: &yaml::Error) -> Failure {
    let place = error.place(FILE);
    let mut lines = error.what.lines();
    let mut fixes = Vec::new();
    let mut failure = Failure::refused(format!("`{place}`: {}", lines.next().unwrap_or_default()));
    for line in lines {
        failure = match (line.strip_prefix("note: "), line.strip_prefix("help: ")) {
            (Some(note), _) => failure.note(note),
            (_, Some(help)) => {
                fixes.push(help);
                failure
            }
            _ => failure,
        };
    }
    if failure.notes.is_empty() && is_cut_off(text) {
        failure = failure.note("this is not YAML: the file was perhaps cut off");
    }
    match fixes.is_empty() {
        true => failure.advise(DIFF),
        false => fixes.into_iter().fold(failure, to_write).advise(EDIT),
    }
}

/// Whether it is no YAML from the last line on, as against YAML that says what cannot be: a key twice, a number too large.
fn is_cut_off(text: &str) -> bool {
    let is_whole = [
        "recursion limit",
        "brackets",
        "aliases",
        "control character",
        "a tab",
    ];
    let last = text.lines().count();
    yaml::read::<IgnoredAny>(text).is_err_and(|error| {
        let is_late = error.at.is_none_or(|(line, _)| line >= last);
        is_late && !is_whole.iter().any(|words| error.what.contains(words))
    })
}

/// `failure` with what to write at the place that it names.
fn to_write(failure: Failure, fix: &str) -> Failure {
    failure.note(format!("change it there: {fix}"))
}

/// A rule that the file breaks, at an entry of `resources` if it is about one.
pub fn broken(text: &str, entry: Option<usize>, violation: Violation) -> Failure {
    let place = match entry.and_then(|entry| line_of_entry(text, entry)) {
        Some(line) => format!("{FILE}:{line}"),
        None => FILE.to_owned(),
    };
    let mut failure = Failure::refused(format!("`{place}`: {}", violation.error));
    failure.notes = violation.notes;
    to_write(failure, &violation.field).advise(EDIT)
}

/// A rule that two branches break together; `here` are the entries of the text that the user sees, with their lines.
pub fn apart(here: &[(Key, Option<usize>)], violation: Violation) -> Failure {
    let mut failure = Failure::refused(format!(
        "`{FILE}`: the two branches do not go together: {}",
        violation.error
    ));
    failure.notes = violation.notes;
    for (key, line) in here {
        let place = line.map_or(FILE.to_owned(), |line| format!("{FILE}:{line}"));
        if violation.at.as_ref() == Some(key) {
            let field = &violation.field;
            failure = failure.note(format!("`{key}` is at `{place}`; change it there: {field}"));
        } else if violation.error.contains(&format!("`{key}`")) {
            failure = failure.note(format!("`{key}` is at `{place}`; change it there"));
        }
    }
    if !here.is_empty() {
        failure = failure.note(format!(
            "`{FILE}` has the text of one branch; `sync` puts in what the other one has"
        ));
    }
    failure.advise(EDIT)
}

/// The line where the n-th item of `resources` starts, if the list is written as blocks.
pub fn line_of_entry(text: &str, entry: usize) -> Option<usize> {
    let mut lines = text
        .lines()
        .enumerate()
        .skip_while(|(_, line)| line.trim_end() != "resources:")
        .skip(1)
        .peekable();
    let indent = lines
        .peek()
        .map(|(_, line)| line.len() - line.trim_start().len())?;
    lines
        .filter(|(_, line)| {
            line.len() - line.trim_start().len() == indent && line.trim_start().starts_with('-')
        })
        .nth(entry)
        .map(|(line, _)| line + 1)
}
