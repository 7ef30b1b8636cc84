//! Random schemas with random rules, about three of four of which compile.

#[path = "random/made.rs"]
mod made;
#[path = "random/rules.rs"]
mod rules;

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// A type of a value in a rule.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Duration,
    Time,
    Dyn,
    Named(&'static str),
    List(Box<Kind>),
    Map(Box<Kind>),
    Optional(Box<Kind>),
    Object(Value),
}

use Kind::{Bool, Bytes, Double, Duration, Dyn, Int, List, Text, Time};

/// Schemas, each with some rules: the same for the same seed.
pub(crate) fn schemas(seed: u64, count: usize, rules: usize) -> impl Iterator<Item = Value> {
    let mut rng = Rng::with_seed(seed);
    (0..count).map(move |_| one(&mut rng, rules))
}

fn one(rng: &mut Rng, rules: usize) -> Value {
    let spec = object(rng, 3);
    let mut schema = json!({ "type": "object", "properties": { "spec": spec } });
    if rng.u8(..4) == 0 {
        let names = json!({ "name": { "type": "string", "maxLength": 63 } });
        schema["properties"]["metadata"] = json!({ "type": "object", "properties": names });
    }
    let count = places(&schema);
    for _ in 0..rng.usize(1..4) {
        let mut index = rng.usize(..count);
        add_rules(rng, &mut schema, &mut index, rules);
    }
    schema
}

fn pick<T: Clone>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())].clone()
}

fn object(rng: &mut Rng, depth: u32) -> Value {
    const NAMES: [&str; 10] = [
        "a",
        "b",
        "c",
        "name",
        "in",
        "namespace",
        "x-y",
        "e.f/g",
        "d__e",
        "9",
    ];
    let mut fields = Map::new();
    for _ in 0..rng.usize(2..7) {
        fields.insert(
            pick(rng, &NAMES).to_owned(),
            schema(rng, depth.saturating_sub(1)),
        );
    }
    let mut object = json!({ "type": "object", "properties": fields });
    if rng.bool() {
        object["required"] = json!([pick(rng, &["a", "b", "x-y"])]);
    }
    if rng.u8(..12) == 0 {
        object["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    if rng.u8(..16) == 0 {
        object["x-kubernetes-embedded-resource"] = json!(true);
    }
    object
}

fn schema(rng: &mut Rng, depth: u32) -> Value {
    let mut schema = match rng.u8(..if depth == 0 { 11 } else { 18 }) {
        0..4 => json!({ "type": "string" }),
        4 => json!({ "type": "string", "enum": ["a", "bcd"] }),
        5 => {
            let format = pick(rng, &["byte", "date", "date-time", "duration", "uuid"]);
            json!({ "type": "string", "format": format })
        }
        6 | 7 => json!({ "type": "integer" }),
        8 => json!({ "type": pick(rng, &["boolean", "number"]) }),
        9 => json!({ "x-kubernetes-int-or-string": true }),
        10 => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        11..14 => json!({ "type": "array", "items": schema(rng, depth - 1) }),
        14 => {
            json!({ "type": "array", "items": object(rng, depth), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] })
        }
        15 | 16 => json!({ "type": "object", "additionalProperties": schema(rng, depth - 1) }),
        _ => object(rng, depth),
    };
    let most = pick(rng, &[0, 1, 3, 10, 63, 253, 1000]);
    let limit = match (schema["type"].as_str(), schema.get("additionalProperties")) {
        (Some("array"), _) => "maxItems",
        (Some("object"), Some(_)) => "maxProperties",
        (Some("object"), None) => return schema,
        _ => "maxLength",
    };
    if rng.bool() {
        schema[limit] = json!(most);
    }
    if rng.u8(..8) == 0 {
        schema["nullable"] = json!(true);
    }
    schema
}

fn places(schema: &Value) -> usize {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let below = properties.map(|(_, field)| field);
    let below = below
        .chain(schema.get("items"))
        .chain(schema.get("additionalProperties"));
    1 + below.map(places).sum::<usize>()
}

fn add_rules(rng: &mut Rng, schema: &mut Value, index: &mut usize, count: usize) {
    if *index == 0 {
        *index = usize::MAX;
        let kind = kind(schema);
        let rules: Vec<_> = (0..rng.usize(1..=count))
            .map(|_| rules::rule(rng, &kind))
            .collect();
        schema["x-kubernetes-validations"] = json!(rules);
        return;
    }
    if *index == usize::MAX {
        return;
    }
    *index -= 1;
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    for (keyword, below) in schema {
        match (keyword.as_str(), below) {
            ("properties", Value::Object(fields)) => {
                for (_, field) in fields {
                    add_rules(rng, field, index, count);
                }
            }
            ("items" | "additionalProperties", below) => add_rules(rng, below, index, count),
            _ => {}
        }
    }
}

/// The type that a rule sees of a schema.
fn kind(schema: &Value) -> Kind {
    if schema["x-kubernetes-int-or-string"] == true {
        return Dyn;
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), Some("byte")) => Bytes,
        (Some("string"), Some("duration")) => Duration,
        (Some("string"), Some("date" | "date-time")) => Time,
        (Some("string"), _) => Text,
        (Some("integer"), _) => Int,
        (Some("number"), _) => Double,
        (Some("boolean"), _) => Bool,
        (Some("array"), _) => List(Box::new(kind(&schema["items"]))),
        _ => match schema.get("additionalProperties") {
            Some(values) => Kind::Map(Box::new(kind(values))),
            None => Kind::Object(schema.clone()),
        },
    }
}
