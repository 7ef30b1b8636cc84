//! The law: the CRD of the generated types is the CRD that they were generated from.
//!
//! `tests/crds` has the CRDs, and `tests/generated` their types, which are compiled into this test. `BLESS=1` writes
//! them.

use std::{env, fs, path::Path};

use crd_types::{Options, differences, generate, read};
use operator_runtime::Crds;
use serde_json::Value;

#[rustfmt::skip]
#[path = "generated/every.rs"]
mod every;
#[rustfmt::skip]
#[path = "generated/strange.rs"]
mod strange;

fn definition(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/crds/{name}.yaml"));
    serde_yaml::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Compares the generated source with the file that is compiled.
fn check_source(name: &str) {
    let crd = read(&definition(name)).unwrap();
    let options = Options {
        schemas: format!("{name}.json"),
        ..Options::default()
    };
    let generated = generate(&crd, &crd.versions[0].name, &options).unwrap();
    assert_eq!(generated.losses, []);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    let files = [("rs", Some(generated.source)), ("json", generated.schemas)];
    for (extension, text) in files {
        let Some(text) = text else {
            continue;
        };
        let file = dir.join(format!("{name}.{extension}"));
        if env::var_os("BLESS").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == text,
            "{} differs: BLESS=1 writes it",
            file.display()
        );
    }
}

/// Compares the CRD that the compiled types write with the one that they come from.
fn check_law(name: &str, add: impl FnOnce(&mut Crds)) {
    let mut crds = Crds::default();
    add(&mut crds);
    let crds = crds.merge().unwrap();
    let written = serde_json::to_value(&crds[0]).unwrap();
    let differences = differences(&definition(name), &written).unwrap();
    let lines: Vec<_> = differences.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn every_keyword_is_kept() {
    check_source("every");
    check_law("every", Crds::add_storage::<every::Every>);
}

#[test]
fn strange_names_and_no_spec_are_kept() {
    check_source("strange");
    check_law("strange", Crds::add_storage::<strange::StringResource>);
}

#[test]
fn an_object_passes_through_unchanged() {
    let object = serde_json::json!({
        "apiVersion": "example.com/v1",
        "kind": "Every",
        "metadata": { "name": "a" },
        "spec": {
            "mode": "", "replicas": 2, "nothing": null, "size": 1, "protocol": "TCP", "port": "http",
            "half": { "other": "x", "unknown": [1] }, "open": { "a": 1 }, "nullableItems": [null, "a"],
            "parts": [{ "name": "a" }], "limits": { "cpu": "1" }, "anything": [1, "a"],
            "selector": { "matchLabels": { "a": "b" } }, "when": "2026-01-01T00:00:00Z",
        },
        "status": { "conditions": [{
            "lastTransitionTime": "2026-01-01T00:00:00Z", "message": "", "reason": "R", "status": "True", "type": "Ready",
        }] },
    });
    let every: every::Every = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(&every).unwrap(), object);
}
