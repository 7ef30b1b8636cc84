//! Definitions that nobody should write: an error, or types that compile, but no panic and no endless run.

use std::time::{Duration, Instant};

use crd_types::{Error, Options, generate, read};
use serde_json::{Value, json};

fn definition(schema: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "kind": "Thing", "plural": "things" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
        },
    })
}

fn deep(depth: usize) -> Value {
    let inner = json!({ "type": "string" });
    (0..depth).fold(
        inner,
        |inner, _| json!({ "type": "object", "properties": { "a": inner } }),
    )
}

#[test]
fn what_is_no_definition() {
    for value in [
        json!(null),
        json!([]),
        json!({ "kind": "Pod" }),
        json!("text"),
    ] {
        assert!(
            matches!(read(&value), Err(Error::NotADefinition(_))),
            "{value}"
        );
    }
    for field in ["group", "names", "scope", "versions"] {
        let mut value = definition(deep(1));
        value["spec"].as_object_mut().unwrap().remove(field);
        assert!(matches!(read(&value), Err(Error::Field(_))), "{field}");
    }
}

#[test]
fn names_that_are_none() {
    for name in ["", "-a", "a b", "a\"b", "a/../b", "ä", "a\n"] {
        for (field, key) in [("group", ""), ("kind", "names"), ("plural", "names")] {
            let mut value = definition(deep(1));
            match key {
                "" => value["spec"][field] = json!(name),
                key => value["spec"][key][field] = json!(name),
            }
            assert!(read(&value).is_err(), "{field} {name:?}");
        }
    }
}

#[test]
fn schemas_that_are_none() {
    for schema in [
        json!(true),
        json!({ "type": "string" }),
        json!({ "$ref": "#" }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/properties/a" } } }),
        json!({ "type": "object", "properties": { "a": true } }),
        json!({ "type": "object", "properties": [] }),
        json!({ "type": ["object"] }),
        json!({ "type": "object", "required": "a" }),
        json!({ "type": "object", "properties": { "a": { "type": "array", "items": [] } } }),
        json!({ "type": "object", "oneOf": {} }),
    ] {
        assert!(
            matches!(read(&definition(schema.clone())), Err(Error::Schema { .. })),
            "{schema}"
        );
    }
}

#[test]
fn deep_and_large_schemas() {
    assert!(matches!(read(&definition(deep(200))), Err(Error::Deep(_))));
    let start = Instant::now();
    let crd = read(&definition(deep(90))).unwrap();
    generate(&crd, "v1", &Options::default()).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5));
    let many: serde_json::Map<_, _> = (0..200_001)
        .map(|index| (format!("a{index}"), json!({ "type": "string" })))
        .collect();
    let large = json!({ "type": "object", "properties": many });
    let large = definition(large);
    assert!(matches!(read(&large), Err(Error::Large)));
}

#[test]
fn a_version_that_is_missing() {
    let crd = read(&definition(deep(1))).unwrap();
    let missing = generate(&crd, "v2", &Options::default());
    assert!(matches!(missing, Err(Error::Version(_))));
}

#[test]
fn losses_are_named() {
    let schema = json!({
        "type": "object",
        "properties": { "spec": { "type": "object", "properties": {
            "a": { "type": "integer", "format": "uint32" },
            "b": { "type": "string", "x-unknown": 1 },
        } } },
    });
    let crd = read(&definition(schema)).unwrap();
    let generated = generate(&crd, "v1", &Options::default()).unwrap();
    let losses: Vec<_> = generated
        .losses
        .iter()
        .map(|loss| (loss.path.as_str(), loss.keyword.as_str()))
        .collect();
    assert_eq!(
        losses,
        [
            ("v1 .spec.b", "x-unknown"),
            ("v1 .spec.a", "format: uint32")
        ]
    );
}
