//! A minimal change for each rule, and changes without a finding.

mod defaults;
mod fields;
mod limits;
mod properties;
mod real;
mod versions;
mod wholes;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ALL, Definition, Finding, Release, compare};

/// A definition with one version of this schema below `.spec`, patched by `edit`.
fn definition(spec: Value, edit: impl FnOnce(&mut Value)) -> Release {
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "memcacheds.cache.example.com" },
        "spec": {
            "group": "cache.example.com",
            "names": { "kind": "Memcached", "plural": "memcacheds" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec } } },
            }],
        },
    });
    edit(&mut definition);
    let is_there = definition["kind"] == "CustomResourceDefinition";
    let definition = Definition::deserialize(definition).unwrap();
    Some(definition).filter(|_| is_there).into_iter().collect()
}

fn text(findings: &[Finding]) -> Vec<String> {
    let line = |finding: &Finding| {
        let place = finding.place.to_string();
        let place = place
            .strip_prefix("memcacheds.cache.example.com")
            .unwrap_or(&place);
        format!("{}{place}: {}", finding.rule.id, finding.what)
    };
    findings.iter().map(line).collect()
}

/// Two schemas of `.spec`, and the findings.
struct Fields(Value, Value, &'static [&'static str]);

/// Two edits of one definition, and the findings.
struct Whole(fn(&mut Value), fn(&mut Value), &'static [&'static str]);

fn nothing(_: &mut Value) {}

#[test]
fn each_change_has_its_findings_and_no_others() {
    let mut seen = BTreeSet::new();
    let mut check = |before: &Release, after: &Release, expected: &[&str]| {
        let findings = compare(before, after);
        assert_eq!(text(&findings), expected);
        assert_eq!(text(&compare(before, before)), [""; 0]);
        seen.extend(findings.iter().map(|finding| finding.rule.id));
    };
    let tables = [fields::all(), limits::all(), defaults::all()];
    for Fields(before, after, expected) in tables.into_iter().flatten() {
        check(
            &definition(before, nothing),
            &definition(after, nothing),
            expected,
        );
    }
    for Whole(before, after, expected) in wholes::all().into_iter().chain(versions::all()) {
        let spec = || json!({ "type": "object", "properties": {} });
        check(
            &definition(spec(), before),
            &definition(spec(), after),
            expected,
        );
    }
    let missed: Vec<&str> = ALL
        .iter()
        .map(|rule| rule.id)
        .filter(|id| !seen.contains(id))
        .collect();
    assert!(missed.is_empty(), "no change has a finding of {missed:?}");
}
