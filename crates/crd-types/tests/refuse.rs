//! Definitions that nobody should write: an error, or types that compile, but no panic and no endless run.

use std::time::{Duration, Instant};

use crd_types::{Error, Options, generate, read};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Map, Value, json};

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
        json!({ "type": "object", "required": [1] }),
        json!({ "type": "object", "externalDocs": { "url": 1 } }),
        json!({ "type": "object", "x-kubernetes-map-type": true }),
        json!({ "type": "object", "x-kubernetes-validations": { "rule": "true" } }),
        json!({ "type": "object", "x-kubernetes-validations": ["true"] }),
        json!({ "type": "object", "x-kubernetes-validations": [{ "rule": "true", "message": 5 }] }),
        json!({ "type": "object", "x-kubernetes-validations": [{ "rule": "true", "optionalOldSelf": "yes" }] }),
    ] {
        assert!(
            matches!(read(&definition(schema.clone())), Err(Error::Schema { .. })),
            "{schema}"
        );
    }
}

/// Every value of the definition with every keyword, as another type: what the API server's types cannot hold is refused.
#[test]
fn values_of_other_types() {
    let whole: Value = serde_yaml::from_str(include_str!("crds/every.yaml")).unwrap();
    let mut paths = Vec::new();
    pointers(&whole["spec"], "/spec", &mut paths);
    let mut accepted = Vec::new();
    for path in &paths {
        for other in [
            json!(5),
            json!(1.5),
            json!("a"),
            json!(true),
            json!([]),
            json!([5]),
            json!(99_999_999_999_i64),
            json!({}),
        ] {
            let mut value = whole.clone();
            *value.pointer_mut(path).unwrap() = other.clone();
            let decoded = serde_json::from_value::<CustomResourceDefinition>(value.clone());
            if let (Ok(_), Err(error)) = (read(&value), decoded) {
                accepted.push(format!("{path} {other}: {error}"));
            }
        }
    }
    assert_eq!(accepted, [""; 0], "of {}", paths.len());
}

/// The JSON pointer of each value inside of a value.
fn pointers(value: &Value, path: &str, into: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(values) => values
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (key, value) in inner {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        pointers(value, &path, into);
        into.push(path);
    }
}

/// How long a function takes, which has to be little even in a debug build on a busy machine.
fn in_time<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{what}: {:?}",
        start.elapsed()
    );
    result
}

#[test]
fn deep_and_large_schemas() {
    let deepest = definition(deep(200));
    assert!(matches!(
        in_time("deep", || read(&deepest)),
        Err(Error::Deep(_))
    ));
    let many: Map<_, _> = (0..200_001)
        .map(|index| (format!("a{index}"), json!({})))
        .collect();
    let many = definition(json!({ "type": "object", "properties": many }));
    assert!(matches!(in_time("many", || read(&many)), Err(Error::Large)));
    let text = definition(json!({ "type": "object", "description": "a".repeat(10 << 20) }));
    assert!(matches!(
        in_time("large", || read(&text)),
        Err(Error::Large)
    ));
}

/// What is just small enough takes no time that grows with its square.
#[test]
fn schemas_at_the_limit() {
    let equal_names = (0..20_000).map(|index| {
        (
            format!("a{}", "-".repeat(index % 150) + &" ".repeat(index / 150)),
            json!({ "type": "string" }),
        )
    });
    let lists = (0..10_000).map(|index| {
        let items = json!({ "type": "object", "description": index.to_string(), "properties": { "a": { "type": "string" } } });
        (format!("a{index}"), json!({ "type": "array", "items": items }))
    });
    let kept = (0..10_000).map(|index| {
        let alternatives: Vec<_> = (0..30)
            .map(|other| json!({ "pattern": format!("{index} {other}") }))
            .collect();
        (
            format!("a{index}"),
            json!({ "type": "string", "anyOf": alternatives }),
        )
    });
    let names: Vec<_> = (0..20_000).map(|index| format!("a{index}")).collect();
    let required = names
        .iter()
        .map(|name| (name.clone(), json!({ "type": "string" })));
    let depth: Map<_, _> = [("spec".to_owned(), deep(90))].into_iter().collect();
    for (what, properties) in [
        ("equal names", equal_names.collect()),
        ("lists", lists.collect()),
        ("kept", kept.take(1_500).collect()),
        ("required", required.collect::<Map<_, _>>()),
        ("depth", depth),
    ] {
        let spec = json!({ "type": "object", "properties": properties, "required": names });
        let definition = definition(json!({ "type": "object", "properties": { "spec": spec } }));
        in_time(what, || {
            let crd = read(&definition).unwrap();
            generate(&crd, "v1", &Options::default()).unwrap()
        });
    }
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
            "c": { "type": "string", "x-kubernetes-validations": [{ "rule": "true", "massage": "none" }] },
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
            ("v1 .spec.c", "x-kubernetes-validations[].massage"),
        ]
    );
}
