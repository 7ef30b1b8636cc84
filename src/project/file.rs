//! `PROJECT` as text: kubebuilder's project version 3, with our settings under `plugins`.
//!
//! The format is documented, and frozen, in `docs/project-file.md`. Reading keeps every field that it does not know;
//! writing sorts keys as kubebuilder does and resources by [`Key`], so that equal projects are equal bytes.

mod shape;
mod unreadable;

#[cfg(test)]
mod refusal_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod webhook_tests;

use std::{cmp::Ordering, collections::BTreeMap, mem, path::Path};

use guarded_yaml as yaml;
use serde_yaml::Value;

pub use self::shape::ProjectFile;
use self::shape::{Entry, Plugins, Probe};
pub use self::shape::{FormatVersion, OptionsEntry, is_default};
pub use self::unreadable::missing;
use super::correction::{FILE, restore};
use super::violation::{Origin, Violation, violation};
use super::{Key, LAYOUT, Project, rules};
use crate::error::{Failure, Result};

const HEADER: &str = "\
# The desired state of this project. Commands of `operator-forge` edit it; after an edit of your own, run `operator-forge sync`.
# It is kubebuilder's project file, version 3; comments below this line are not kept.
";

/// The nearest directory above `directory`, which is a full path, that has a `PROJECT`.
pub fn above(directory: &Path) -> Option<&Path> {
    let mut above = directory.ancestors().skip(1);
    above.find(|it| it.join(FILE).is_file())
}

impl Project {
    /// Reads `PROJECT`, and checks the rules that commands are checked against.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let text = text(bytes)?;
        let file = parse(text)?;
        let keys: Vec<_> = file.resources.iter().map(Entry::key).collect();
        let project = from_file(file).and_then(|project| {
            rules::check(&project, None)?;
            Ok(project)
        });
        Ok(project.map_err(|violation| {
            let entry = keys.iter().rposition(|key| *key == violation.at);
            let line = entry.and_then(|entry| line_of_entry(text, entry));
            violation.by(Origin::File(line))
        })?)
    }

    /// Reads the merge of two branches. The user sees the text of one, `here`; a refusal names the lines to change there.
    pub fn read_merged(merged: &str, here: &[u8]) -> Result<Self> {
        let file = parse(merged)?;
        let here = entries_of_one(here, &file.resources);
        let project = from_file(file).and_then(|project| {
            let Err(first) = rules::check(&project, None) else {
                return Ok(project);
            };
            // Of two entries that clash, the entry that `here` has can be changed there.
            let clash = here.iter().find_map(|(key, _)| {
                let violation = rules::check(&project, Some(key)).err();
                violation.filter(|violation| violation.at == *key)
            });
            Err(clash.unwrap_or(first))
        });
        Ok(project.map_err(|violation| violation.by(Origin::Branches(here)))?)
    }

    /// The text of `PROJECT`.
    pub fn write(&self) -> String {
        let mut value =
            serde_yaml::to_value(to_file(self)).expect("a project has only strings for keys");
        sort(&mut value);
        format!("{HEADER}{}", yaml::lines(&value))
    }
}

/// The file as text. Refuses other bytes, an empty file and conflict markers.
pub fn text(bytes: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Failure::refused(format!("`{FILE}:{line}`: the file is not UTF-8 text")).advise(restore())
    })?;
    let is_empty = |line: &str| matches!(line.trim(), "" | "---") || line.trim().starts_with('#');
    if text.lines().all(is_empty) {
        return Err(unreadable::empty(!text.trim().is_empty()));
    }
    let is_marker = |line: &str| {
        line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") || line == "======="
    };
    match text.lines().position(is_marker) {
        Some(before) => Err(unreadable::conflict(before + 1)),
        None => Ok(text),
    }
}

/// The fields of the file. Refuses a file of another tool, and values that are not valid.
pub fn parse(text: &str) -> Result<ProjectFile> {
    // A file of another tool deserves that answer before one about a field.
    if let Ok(probe) = yaml::read(text) {
        check_tool(probe)?;
    }
    let file: ProjectFile = yaml::read(text).map_err(|error| {
        let end = text.lines().count();
        let is_late = |error: yaml::Error| error.at.is_none_or(|(line, _)| line >= end);
        let is_cut_off = yaml::broken(text).is_some_and(is_late);
        let note = "this is not YAML: the file was perhaps cut off";
        unreadable::value(&error, is_cut_off.then_some(note))
    })?;
    // Only a text with one of these characters can have a key that holds others or merges them, so few are read again.
    if text.contains(['?', '*', '{', '[', '<'])
        && let Some(error) = yaml::odd_key(text, false)
    {
        let note = "the file could not be written again";
        return Err(unreadable::value(&error, Some(note)));
    }
    match file.plugins.ours {
        Some(_) => Ok(file),
        None => Err(unreadable::no_settings()),
    }
}

/// Refuses a file of another tool, or in another format.
fn check_tool(probe: Probe) -> Result<()> {
    let tool = |layout: &str| layout.split('/').next().map(str::to_owned);
    if probe.layout.iter().any(|plugin| plugin == LAYOUT) {
        return match probe.version.as_deref() {
            Some("3") => Ok(()),
            other => Err(unreadable::version(other)),
        };
    }
    let mut layout = probe.layout.iter();
    if let Some(newer) = layout.find(|plugin| tool(plugin) == tool(LAYOUT)) {
        return Err(unreadable::newer_layout(newer));
    }
    Err(match probe.layout.into_iter().next() {
        // Version 2 of kubebuilder's file had no layout; nor has a file that lost its lines.
        None => unreadable::no_layout(),
        Some(layout) => unreadable::foreign(&layout, probe.domain, probe.project_name),
    })
}

/// The entries of one branch that its merge with another one kept as they are, with the lines where they start.
fn entries_of_one(branch: &[u8], merged: &[Entry]) -> Vec<(Key, Option<usize>)> {
    let text = String::from_utf8_lossy(branch);
    let entries = yaml::read(&text).map_or_else(|_| Vec::new(), |file: ProjectFile| file.resources);
    let kept = entries.iter().enumerate();
    kept.filter(|(_, entry)| merged.contains(entry))
        .map(|(at, entry)| (entry.key(), line_of_entry(&text, at)))
        .collect()
}

/// The line where the n-th item of `resources` starts, if the list is written as a block.
fn line_of_entry(text: &str, entry: usize) -> Option<usize> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().zip(1..);
    lines.find(|(line, _)| line.trim_end() == "resources:")?;
    let mut lines = lines.peekable();
    let of_list = indent(lines.peek()?.0);
    let mut items =
        lines.filter(|(line, _)| indent(line) == of_list && line.trim_start().starts_with('-'));
    items.nth(entry).map(|(_, number)| number)
}

fn from_file(file: ProjectFile) -> Result<Project, Violation> {
    let settings = file.plugins.ours;
    let mut settings = settings.expect("a file without settings is refused");
    let mut resources = BTreeMap::new();
    for entry in file.resources {
        let key = entry.key();
        let resource = entry.resource(&key)?;
        if resources.insert(key.clone(), resource).is_some() {
            let broken = violation!(&key => "`{key}` has two entries",
                "one group, version and kind has one entry, with its API and its controllers");
            return Err(broken.in_file("remove one of the two"));
        }
    }
    for options in mem::take(&mut settings.options) {
        options.put(&mut resources)?;
    }
    let mut project = Project {
        domain: file.domain,
        name: file.project_name,
        namespaced: file.namespaced,
        settings,
        layout: file.layout,
        resources,
        plugins: file.plugins.others,
        extra: file.extra,
    };
    project.forget_certificates();
    Ok(project)
}

fn to_file(project: &Project) -> ProjectFile {
    let mut project = project.clone();
    let options = project.resources.iter();
    project.settings.options = options
        .filter_map(|(key, resource)| OptionsEntry::of(key, resource))
        .collect();
    let entries = project.resources.into_iter();
    ProjectFile {
        domain: project.domain,
        layout: project.layout,
        plugins: Plugins {
            ours: Some(project.settings),
            others: project.plugins,
        },
        project_name: project.name,
        namespaced: project.namespaced,
        resources: entries.map(|(key, it)| Entry::of(key, it)).collect(),
        version: Some("3".to_owned()),
        extra: project.extra,
    }
}

/// Sorts the keys of every mapping; lists keep their order.
fn sort(value: &mut Value) {
    match value {
        Value::Mapping(mapping) => {
            let mut entries: Vec<_> = mem::take(mapping).into_iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(Ordering::Equal));
            entries.iter_mut().for_each(|(_, value)| sort(value));
            mapping.extend(entries);
        }
        Value::Sequence(items) => items.iter_mut().for_each(sort),
        Value::Tagged(tagged) => sort(&mut tagged.value),
        _ => (),
    }
}
