//! The definitions of thirteen projects, which live beside the repository: nothing is found where nothing changed, and the
//! changes that their release notes tell of get the verdict that the notes give.

mod pairs;

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{Definition, Finding, Release, compare};

/// The directory, if it is there.
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
fn nothing_changed_nothing_found() {
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

/// A change that a project made, put onto (or taken back from) its definition of today.
struct Pair {
    /// Where the change is told.
    source: &'static str,
    file: &'static str,
    before: fn(&mut Value),
    after: fn(&mut Value),
    /// Each rule with its place and how often it is found: `rule place ×n`.
    found: &'static [&'static str],
}

/// `rule place`, and how often, in the order of places.
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
fn changes_that_release_notes_tell_of() {
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
