//! Random CRDs, about half of which the API server accepts.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// The deepest schema below a field of the object.
const DEPTH: u32 = 4;

/// Random CRDs: the same for the same seed.
pub fn crds(seed: u64, count: usize) -> Vec<Value> {
    let mut rng = Rng::with_seed(seed);
    (0..count).map(|_| one(&mut rng)).collect()
}

/// A valid CRD around a schema.
pub fn crd(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.test.example.com" },
        "spec": {
            "group": "test.example.com",
            "names": { "kind": "Widget", "plural": "widgets" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": schema },
            }],
        },
    })
}

fn one(rng: &mut Rng) -> Value {
    let mut schema = json!({ "type": "object", "properties": { "spec": object(rng, DEPTH) } });
    // Two of three CRDs have one to three keywords that may be in a wrong place.
    if rng.u8(..3) > 0 {
        for _ in 0..rng.usize(1..4) {
            disturb(rng, &mut schema);
        }
    }
    crd(&schema)
}

fn object(rng: &mut Rng, depth: u32) -> Value {
    let mut fields = Map::new();
    for name in ["a", "b", "c"] {
        if rng.bool() {
            fields.insert(name.to_owned(), schema(rng, depth - 1));
        }
    }
    let mut object = json!({ "type": "object", "properties": fields });
    if rng.bool() {
        object["required"] = json!([pick(rng, &["a", "b"])]);
    }
    object
}

fn schema(rng: &mut Rng, depth: u32) -> Value {
    let mut schema = match rng.u8(..if depth == 0 { 5 } else { 9 }) {
        0 => json!({ "type": "string", "maxLength": rng.u8(..4) }),
        1 => json!({ "type": "integer", "minimum": rng.u8(..4) }),
        2 => json!({ "type": pick(rng, &["boolean", "number"]) }),
        3 => json!({ "x-kubernetes-int-or-string": true }),
        4 => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        5 => json!({ "type": "array", "items": schema(rng, depth - 1) }),
        6 => json!({ "type": "object", "additionalProperties": schema(rng, depth - 1) }),
        7 => json!({
            "type": "array",
            "x-kubernetes-list-type": pick(rng, &["atomic", "map", "set"]),
            "items": object(rng, depth),
        }),
        _ => object(rng, depth),
    };
    match rng.u8(..6) {
        0 => schema["default"] = value(rng, 2),
        1 => schema["nullable"] = json!(true),
        2 => schema[pick(rng, &["allOf", "anyOf", "oneOf"])] = json!([branch(rng), branch(rng)]),
        _ => {}
    }
    schema
}

/// A schema for a branch of `oneOf` and the like, mostly a valid one.
fn branch(rng: &mut Rng) -> Value {
    match rng.u8(..8) {
        0 => json!({ "properties": { pick(rng, &["a", "b"]): { "maxLength": 2 } } }),
        1 => json!({ "items": { "minimum": 2 } }),
        2 => json!({ "not": { "required": ["b"] } }),
        3 => json!({ "type": pick(rng, &["string", "integer"]) }),
        _ => json!({ "required": [pick(rng, &["a", "b", "c"])] }),
    }
}

fn value(rng: &mut Rng, depth: u32) -> Value {
    match rng.u8(..if depth == 0 { 5 } else { 7 }) {
        0 => json!(rng.u8(..5)),
        1 => json!(pick(rng, &["", "a", "abcd", "é"])),
        2 => json!(rng.bool()),
        3 => json!(1.5),
        4 => json!({}),
        5 => json!([value(rng, depth - 1)]),
        _ => json!({ pick(rng, &["a", "b", "d"]): value(rng, depth - 1) }),
    }
}

/// Sets a keyword somewhere.
fn disturb(rng: &mut Rng, schema: &mut Value) {
    let count = places(schema);
    let mut index = rng.usize(..count);
    let keyword = keyword(rng);
    set(schema, &mut index, &keyword);
}

fn keyword(rng: &mut Rng) -> (&'static str, Value) {
    let text = json!({ "type": "string" });
    match rng.u8(..24) {
        0 => (
            "type",
            json!(pick(
                rng,
                &["string", "object", "array", "null", "text", ""]
            )),
        ),
        1 => ("nullable", json!(rng.bool())),
        2 => ("default", value(rng, 2)),
        3 => (
            "x-kubernetes-list-type",
            json!(pick(rng, &["atomic", "map", "set", "list"])),
        ),
        4 => (
            "x-kubernetes-list-map-keys",
            json!([pick(rng, &["a", "b"])]),
        ),
        5 => (
            "x-kubernetes-map-type",
            json!(pick(rng, &["atomic", "granular", "set"])),
        ),
        6 => (
            "x-kubernetes-preserve-unknown-fields",
            json!(rng.u8(..4) > 0),
        ),
        7 => ("x-kubernetes-embedded-resource", json!(rng.bool())),
        8 => ("x-kubernetes-int-or-string", json!(rng.bool())),
        9 => (
            "additionalProperties",
            if rng.bool() { json!(rng.bool()) } else { text },
        ),
        10 => ("items", if rng.bool() { text } else { json!([text]) }),
        11 => (
            "properties",
            json!({ pick(rng, &["a", "metadata", "kind"]): text }),
        ),
        12 => (
            "pattern",
            json!(pick(rng, &["^a$", "(", "a**", "[a-c]{2}"])),
        ),
        13 => ("enum", json!([value(rng, 1), value(rng, 1)])),
        14 => ("uniqueItems", json!(rng.bool())),
        15 => ("oneOf", json!([branch(rng), branch(rng)])),
        16 => ("not", branch(rng)),
        17 => ("required", json!([pick(rng, &["a", "b", "c"])])),
        18 => ("description", json!("what it is")),
        19 => ("title", json!("What")),
        20 => ("$ref", json!("#/definitions/a")),
        21 => ("maxItems", json!(rng.u8(..3))),
        22 => ("minProperties", json!(rng.u8(..3))),
        _ => (
            "anyOf",
            json!([{ "type": "integer" }, { "type": "string" }]),
        ),
    }
}

/// The number of schemas in a schema, with itself and its branches.
fn places(schema: &Value) -> usize {
    let mut count = 1;
    below(&mut schema.clone(), &mut |schema| count += places(schema));
    count
}

/// Sets the keyword in the schema number `index`.
fn set(schema: &mut Value, index: &mut usize, keyword: &(&'static str, Value)) {
    if *index == 0 {
        schema[keyword.0] = keyword.1.clone();
    }
    *index = index.wrapping_sub(1);
    below(schema, &mut |schema| {
        if *index < usize::MAX / 2 {
            set(schema, index, keyword);
        }
    });
}

/// Visits the schemas directly below.
fn below(schema: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => fields.values_mut().for_each(&mut *visit),
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                all.iter_mut().for_each(&mut *visit)
            }
            ("items" | "additionalProperties" | "not", inner @ Value::Object(_)) => visit(inner),
            _ => {}
        }
    }
}

fn pick(rng: &mut Rng, texts: &[&'static str]) -> &'static str {
    texts[rng.usize(..texts.len())]
}
