//! Texts that are no `PROJECT`.

use std::path::Path;

use serde::Deserialize;
use serde_yaml::Value;

use super::FILE;
use super::shape::one_or_more;
use crate::project::error::{Error, Origin, Result, Unreadable, Violation};
use crate::project::{Key, LAYOUT};
use crate::yaml;

/// There is no `PROJECT` in this directory.
pub fn missing(directory: &Path) -> Error {
    match directory.exists() {
        true => Unreadable::NoProject(directory.to_owned()).into(),
        false => Unreadable::NoDirectory(directory.to_owned()).into(),
    }
}

/// The file as text. Refuses other bytes, an empty file and conflict markers.
pub fn text(bytes: &[u8]) -> Result<&str, Unreadable> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Unreadable::NotUtf8 { line }
    })?;
    let is_empty = |line: &str| matches!(line.trim(), "" | "---") || line.trim().starts_with('#');
    if text.lines().all(is_empty) {
        let comments = !text.trim().is_empty();
        return Err(Unreadable::Empty { comments });
    }
    let is_marker = |line: &str| {
        line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") || line == "======="
    };
    match text.lines().position(is_marker) {
        Some(before) => Err(Unreadable::Conflict { line: before + 1 }),
        None => Ok(text),
    }
}

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

/// Refuses a file of another tool or another format.
pub fn foreign(probe: Probe) -> Result<(), Unreadable> {
    let tool = |layout: &str| layout.split('/').next().map(str::to_owned);
    let Probe { layout, .. } = probe;
    if layout.iter().any(|plugin| plugin == LAYOUT) {
        return match &probe.version {
            None => Err(Unreadable::NoVersion),
            Some(version) if version.as_str() == Some("3") || version.as_u64() == Some(3) => Ok(()),
            Some(version) => Err(Unreadable::OtherVersion(scalar(version))),
        };
    }
    if let Some(newer) = layout.iter().find(|plugin| tool(plugin) == tool(LAYOUT)) {
        return Err(Unreadable::NewerLayout(newer.clone()));
    }
    Err(match layout.into_iter().next() {
        // Version 2 of kubebuilder's file had no layout; nor has a file that lost its lines.
        None => Unreadable::NoLayout,
        Some(layout) => Unreadable::Foreign {
            layout,
            domain: probe.domain,
            name: probe.project_name,
        },
    })
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
    let text = serde_yaml::to_string(value).unwrap_or_default();
    text.trim().trim_matches(['\'', '"']).to_owned()
}

/// An error of the YAML reader.
pub fn unreadable(text: &str, error: yaml::Error) -> Unreadable {
    let is_late = |error: yaml::Error| {
        error
            .at
            .is_none_or(|(line, _)| line >= text.lines().count())
    };
    let is_cut_off = yaml::broken(text).is_some_and(is_late);
    Unreadable::Value {
        place: error.place(FILE),
        explanation: error.what,
        note: is_cut_off.then_some("this is not YAML: the file was perhaps cut off"),
    }
}

/// A violation in the file, whose entries have these keys.
pub fn broken(text: &str, keys: &[Key], violation: Violation) -> Violation {
    let entry = keys.iter().rposition(|key| *key == violation.at);
    let line = entry.and_then(|entry| line_of_entry(text, entry));
    violation.by(Origin::File(line))
}

/// The line where the n-th item of `resources` starts, if the list is written as blocks.
pub fn line_of_entry(text: &str, entry: usize) -> Option<usize> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().zip(1..);
    lines.find(|(line, _)| line.trim_end() == "resources:")?;
    let mut lines = lines.peekable();
    let of_list = indent(lines.peek()?.0);
    let mut items = lines
        .filter(|(line, _)| indent(line) == of_list && line.trim_start().starts_with('-'))
        .map(|(_, number)| number);
    items.nth(entry)
}
