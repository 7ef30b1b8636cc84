//! The definitions of thirteen projects, in a directory beside the repository: without a change, there are no findings, and the
//! changes in their release notes have the findings that the notes announce.

mod pairs;

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{Definition, Finding, Release, compare};

/// The directory, if it exists.
fn shared() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/crds"));
    if !path.is_dir() {
        eprintln!("left out: no ../shared/crds beside the repository");
        return None;
    }
    Some(path)
}

fn release(definitions: &[Value]) -> Release {
    let definition = |value: &Value| Definition::deserialize(value).unwrap();
    definitions.iter().map(definition).collect()
}

/// The definitions of one file, as values to edit.
fn definitions(text: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(text);
    let values = documents.map(|document| Deserialize::deserialize(document).unwrap());
    values
        .filter(|value: &Value| value["kind"] == "CustomResourceDefinition")
        .collect()
}

#[test]
fn no_change_has_no_findings() {
    let Some(root) = shared() else { return };
    let mut count = 0;
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let text = fs::read_to_string(entry.path()).unwrap();
            let release = release(&definitions(&text));
            count += release.len();
            assert_eq!(
                compare(&release, &release),
                [],
                "{}",
                entry.path().display()
            );
        }
    }
    assert!(count >= 100, "{count}");
}

/// A change that a project made, applied to its current definition, or reverted in it.
struct Pair {
    /// The release note of the change.
    source: &'static str,
    file: &'static str,
    before: fn(&mut Value),
    after: fn(&mut Value),
    /// Each rule with its place and the number of findings: `rule place ×n`.
    found: &'static [&'static str],
}

/// `rule place ×n`, in the order of rules and places.
fn summary(findings: &[Finding]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        *counts
            .entry(format!("{} {}", finding.rule.id, finding.place))
            .or_default() += 1;
    }
    let line = |(line, count)| match count {
        1 => line,
        n => format!("{line} ×{n}"),
    };
    counts.into_iter().map(line).collect()
}

#[test]
fn changes_in_release_notes_have_their_findings() {
    let Some(root) = shared() else { return };
    for pair in pairs::PAIRS {
        let text = fs::read_to_string(root.join(pair.file)).unwrap();
        let (mut before, mut after) = (definitions(&text), definitions(&text));
        (pair.before)(&mut before[0]);
        (pair.after)(&mut after[0]);
        let findings = compare(&release(&before), &release(&after));
        assert_eq!(summary(&findings), pair.found, "{}", pair.source);
    }
}
