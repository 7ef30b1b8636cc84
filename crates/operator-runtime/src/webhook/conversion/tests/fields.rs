//! Tests of the preserved fields.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{types::*, *};
use crate::webhook::conversion::{
    node::{Json, Node},
    take::take,
    unknown::carry_object,
};

#[test]
fn unknown_fields_are_carried_and_known_ones_are_not() {
    let cases = [
        (
            json!({ "name": "a", "title2": 5, "deep": { "x": [1, null, { "y": null }] }, "none": null }),
            json!({ "displayName": "a", "title2": 5, "deep": { "x": [1, null, {}] } }),
        ),
        // Known under another name, or dropped by the conversion.
        (json!({ "title": "a" }), json!({ "displayName": "a" })),
        (
            json!({ "name": "a", "legacy": { "mode": "m" } }),
            json!({ "displayName": "a" }),
        ),
        (
            json!({ "name": "a", "legacy": { "mode": "m", "new": 1 } }),
            json!({ "displayName": "a" }),
        ),
        (
            json!({ "name": "a", "parts": [] }),
            json!({ "displayName": "a" }),
        ),
        // Existing values are not replaced.
        (
            json!({ "name": "a", "displayName": "b" }),
            json!({ "displayName": "a" }),
        ),
        (
            json!({ "name": "a", "parts": [{ "name": "x", "new": 1 }, { "name": "y", "new": 2 }] }),
            json!({ "displayName": "a", "parts": [{ "name": "x", "new": 1 }, { "name": "y", "new": 2 }] }),
        ),
    ];
    for (spec, expected) in cases {
        let converted = one(all(), "v1", &widget("v1alpha1", &spec));
        assert_eq!(converted, Ok(widget("v1", &expected)), "{spec}");
    }
    let mut source = widget("v2", &json!({ "number": 1 }));
    source["status"] = json!({ "ready": true });
    source["more"] = json!(1);
    let mut expected = widget("v1", &json!({ "displayName": "1" }));
    expected["status"] = json!({ "ready": true });
    expected["more"] = json!(1);
    assert_eq!(
        one(all(), "v1", &source),
        Ok(expected),
        "a version without a status"
    );
}

/// The parts of `source` that are preserved in `output` when a `T` was read.
fn carried<T: DeserializeOwned + Serialize>(source: &Value, mut output: Value) -> Value {
    let text = source.to_string();
    let node: Node = serde_json::from_str(&text).unwrap();
    let node = Node::new(Json::Map(vec![("spec".into(), node)]));
    #[derive(Deserialize, Serialize)]
    struct Object<T> {
        spec: T,
    }
    let (value, missed) = take::<Object<T>>(&node).unwrap();
    if missed {
        output = json!({ "spec": output });
        carry_object(&node, &json!(value), &mut output);
        output = output["spec"].take();
    }
    output
}

#[test]
fn flattened_and_untagged_types_are_searched() {
    #[derive(Deserialize, Serialize)]
    struct Outer {
        own: u8,
        #[serde(flatten)]
        inner: Inner,
    }
    #[derive(Deserialize, Serialize)]
    struct Inner {
        #[serde(skip_serializing_if = "Option::is_none")]
        flat: Option<Box<Inner>>,
    }
    let source = json!({ "own": 1, "flat": { "flat": {}, "new": 2 }, "new": 3 });
    assert_eq!(
        carried::<Outer>(&source, json!({ "flat": {} })),
        json!({ "flat": { "new": 2 }, "new": 3 })
    );

    #[derive(Deserialize, Serialize)]
    #[serde(untagged)]
    enum Untagged {
        A { a: u8 },
        B { b: u8 },
    }
    assert_eq!(
        carried::<Untagged>(&json!({ "b": 1, "x": 2 }), json!({})),
        json!({ "x": 2 })
    );

    #[derive(Deserialize, Serialize)]
    #[serde(tag = "type")]
    enum Tagged {
        A { a: u8 },
    }
    let source = json!({ "type": "A", "a": 1, "x": 2 });
    assert_eq!(carried::<Tagged>(&source, json!({})), json!({ "x": 2 }));

    // These types take everything.
    for source in [json!({ "a": { "b": 1 } }), json!({})] {
        assert_eq!(
            carried::<BTreeMap<String, Value>>(&source, json!({})),
            json!({})
        );
        assert_eq!(carried::<Value>(&source, json!({})), json!({}));
    }
}

#[test]
fn only_parts_that_may_be_dropped_are_searched() {
    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Plain {
        #[serde(default)]
        ports: Vec<IntOrString>,
        #[serde(default)]
        limits: BTreeMap<String, Quantity>,
        #[serde(default)]
        any: Value,
    }
    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Flat {
        #[serde(flatten)]
        plain: Plain,
    }
    fn missed<T: DeserializeOwned>(text: &str) -> bool {
        take::<T>(&serde_json::from_str(text).unwrap()).unwrap().1
    }
    let full = r#"{"ports": ["http", 80], "limits": {"cpu": "1", "pods": 2}, "any": 3}"#;
    for (text, plain) in [
        (full, false),
        (r#"{"x": null}"#, false),
        (r#"{"x": 1}"#, true),
        (r#"{"any": {}}"#, true),
        (r#"{"any": [1]}"#, true),
    ] {
        assert_eq!(missed::<Plain>(text), plain, "{text}");
        assert!(missed::<Flat>(text), "{text}");
    }
}

#[test]
fn fields_are_carried_into_enums_and_maps_and_lists() {
    #[derive(Deserialize, Serialize)]
    enum Choice {
        Unit,
        New(Known),
        Named { known: u8 },
        Pair(u8, u8),
    }
    #[derive(Deserialize, Serialize)]
    struct Known {
        known: u8,
    }
    for name in ["New", "Named"] {
        let source = json!({ name: { "known": 1, "x": 2 } });
        assert_eq!(
            carried::<Choice>(&source, json!({ name: {} })),
            json!({ name: { "x": 2 } })
        );
    }
    assert_eq!(
        carried::<Choice>(&json!("Unit"), json!("Unit")),
        json!("Unit")
    );
    assert_eq!(
        carried::<Choice>(&json!({ "Pair": [1, 2] }), json!({})),
        json!({})
    );

    let source = json!({ "1": { "known": 1, "x": 2 } });
    assert_eq!(
        carried::<BTreeMap<u32, Known>>(&source, json!({ "1": {} })),
        json!({ "1": { "x": 2 } })
    );

    // Without names, elements match by index if the lengths are equal.
    let source = json!([{ "known": 1, "x": 2 }, { "known": 1 }]);
    assert_eq!(
        carried::<Vec<Known>>(&source, json!([{}, {}])),
        json!([{ "x": 2 }, {}])
    );
    assert_eq!(carried::<Vec<Known>>(&source, json!([{}])), json!([{}]));
    #[derive(Deserialize, Serialize)]
    struct Named {
        name: String,
    }
    let source = json!([{ "name": "a", "x": 1 }, { "name": "b", "x": 2 }]);
    assert_eq!(
        carried::<Vec<Named>>(&source, json!([{ "name": "b" }, { "name": "c" }])),
        json!([{ "name": "b", "x": 2 }, { "name": "c" }])
    );

    // A parent that the type omits because it is empty is created again.
    #[derive(Deserialize, Serialize)]
    struct Parent {
        #[serde(default, skip_serializing_if = "Option::is_some")]
        child: Option<Known>,
    }
    let source = json!({ "child": { "known": 1, "x": 2 } });
    assert_eq!(
        carried::<Parent>(&source, json!({})),
        json!({ "child": { "x": 2 } })
    );
}
