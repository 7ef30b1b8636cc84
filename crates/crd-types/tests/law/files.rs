//! The law: the CRD of the generated types is the CRD that they were generated from.
//!
//! `tests/crds` has the CRDs, and `tests/generated` their types, which are compiled into this test. `BLESS=1` writes
//! them.

use std::{env, fs, path::Path};

use crd_types::{Generated, Options, differences, generate, read};
use operator_runtime::Crds;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{objects, served::Servers};

#[rustfmt::skip]
#[path = "../generated/bare.rs"]
mod bare;
#[rustfmt::skip]
#[path = "../generated/every.rs"]
mod every;
#[rustfmt::skip]
#[path = "../generated/every_plain.rs"]
mod every_plain;
#[rustfmt::skip]
#[path = "../generated/optional.rs"]
mod optional;
#[rustfmt::skip]
#[path = "../generated/optional_plain.rs"]
mod optional_plain;
#[rustfmt::skip]
#[path = "../generated/strange.rs"]
mod strange;
#[rustfmt::skip]
#[path = "../generated/strange_plain.rs"]
mod strange_plain;

fn definition(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/crds/{name}.yaml"));
    serde_yaml::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Compares the generated sources with the files that are compiled.
fn check_sources(name: &str) {
    let options = Options {
        schemas: format!("{name}.json"),
        ..Options::default()
    };
    check_source(name, name, &options);
    let plain = Options {
        json_schema: false,
        ..Options::default()
    };
    let generated = check_source(name, &format!("{name}_plain"), &plain);
    assert_eq!(generated.schemas, None);
    assert!(!generated.source.contains("schemars"));
}

fn check_source(definition_of: &str, name: &str, options: &Options) -> Generated {
    let crd = read(&definition(definition_of)).unwrap();
    let generated = generate(&crd, &crd.versions[0].name, options).unwrap();
    assert_eq!(generated.losses, []);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    let files = [
        ("rs", Some(&generated.source)),
        ("json", generated.schemas.as_ref()),
    ];
    for (extension, text) in files {
        let Some(text) = text else {
            continue;
        };
        let file = dir.join(format!("{name}.{extension}"));
        if env::var_os("BLESS").is_some() {
            fs::write(&file, text).unwrap();
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == *text,
            "{} differs: BLESS=1 writes it",
            file.display()
        );
    }
    generated
}

/// The CRD that the compiled types write.
fn written(add: impl FnOnce(&mut Crds)) -> Value {
    let mut crds = Crds::default();
    add(&mut crds);
    let crds = crds.merge().unwrap();
    serde_json::to_value(&crds[0]).unwrap()
}

/// Compares the CRD that the compiled types write with the one that they come from.
fn check_law(name: &str, add: impl FnOnce(&mut Crds)) {
    let written = written(add);
    let differences = differences(&definition(name), &written).unwrap();
    let lines: Vec<_> = differences.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn every_keyword_is_kept() {
    check_sources("every");
    check_law("every", Crds::import_storage::<every::Every>);
}

#[test]
fn strange_names_and_no_spec_are_kept() {
    check_sources("strange");
    check_law("strange", Crds::import_storage::<strange::StringResource>);
}

#[test]
fn an_optional_spec_and_one_of_several_keys_are_kept() {
    check_sources("optional");
    check_law("optional", Crds::import_storage::<optional::Optional>);
    let options = Options {
        schemas: "bare.json".to_owned(),
        ..Options::default()
    };
    check_source("bare", "bare", &options);
    check_law("bare", Crds::import_storage::<bare::Bare>);
}

#[test]
fn an_object_without_spec_is_read() {
    let object = serde_json::json!({
        "apiVersion": "example.com/v1", "kind": "Optional", "metadata": { "name": "a" }, "status": { "phase": "New" },
    });
    let optional: optional::Optional = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(optional.spec, optional::OptionalSpec::default());
    assert_eq!(optional.status.unwrap().phase.as_deref(), Some("New"));
    let plain: optional_plain::Optional = serde_json::from_value(object).unwrap();
    assert_eq!(plain.spec, optional_plain::OptionalSpec::default());
    let object = serde_json::json!({
        "apiVersion": "example.com/v1", "kind": "Bare", "metadata": { "name": "a" },
    });
    let bare: bare::Bare = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(&bare).unwrap(), object);
}

#[test]
fn an_object_with_one_of_several_keys_is_an_enum() {
    use optional::{Optional, OptionalSpecSource as Source};
    let object = serde_json::json!({
        "apiVersion": "example.com/v1", "kind": "Optional", "metadata": { "name": "a" },
        "spec": {
            "name": "a", "source": { "webSite": "x" }, "sources": [{ "git": { "branch": "b" } }, { "none": {} }],
            "nullableSource": { "a": null },
        },
    });
    let optional: Optional = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(optional.spec.source, Some(Source::WebSite("x".to_owned())));
    assert_eq!(serde_json::to_value(&optional).unwrap(), object);
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
    let plain: every_plain::Every = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(&plain).unwrap(), object);
}

#[test]
fn an_object_without_spec_passes_through_plain_types_unchanged() {
    let object = serde_json::json!({
        "apiVersion": "example.com/v1beta1",
        "kind": "String",
        "metadata": { "name": "a" },
        "": "x", "$ref": "y", "-": "z", "crate": "a b", "parameters": { "a": "b" }, "status": { "self": "s" },
    });
    let strange: strange_plain::StringResource = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(strange.status.as_ref().unwrap().self_.as_deref(), Some("s"));
    assert_eq!(serde_json::to_value(&strange).unwrap(), object);
}

/// Has API servers judge objects by a CRD and by the one that its types write. The objects that they accept pass through
/// the types unchanged.
fn check_served<K: Serialize + DeserializeOwned>(
    servers: &Servers,
    name: &str,
    add: impl FnOnce(&mut Crds),
) {
    let report = servers.judge(&definition(name), &written(add));
    assert_eq!(report.unlike, Vec::<String>::new(), "{name}");
    assert!(report.refused > 0 && !report.accepted.is_empty(), "{name}");
    for (_, object) in report.accepted {
        let typed: K = serde_json::from_value(object.clone())
            .unwrap_or_else(|error| panic!("{error}: {object}"));
        let passed = serde_json::to_value(&typed).unwrap();
        assert!(
            objects::is_same(&object, &passed),
            "{object} becomes {passed}"
        );
    }
}

#[test]
fn objects_are_judged_as_by_the_original() {
    let servers = Servers::start();
    check_served::<bare::Bare>(&servers, "bare", Crds::import_storage::<bare::Bare>);
    check_served::<every::Every>(&servers, "every", Crds::import_storage::<every::Every>);
    check_served::<optional::Optional>(
        &servers,
        "optional",
        Crds::import_storage::<optional::Optional>,
    );
}
