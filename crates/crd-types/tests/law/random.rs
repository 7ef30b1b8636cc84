//! Random definitions: what is generated is Rust, has the CRD that it comes from, and nothing panics or takes long.

use std::env;

use crate::package::{Outcome, Run, Source};
use crd_types::{Options, generate, read};
use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Map, Value, json};

/// How many definitions are compiled at once.
const BATCH: usize = 200;

/// Property names, some of which are no identifiers.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z][a-zA-Z]{0,8}",
        1 => prop::sample::select(vec!["type", "self", "Self", "crate", "$ref", "-", "", "spec", "status", "metadata", "1", "é", "a\"b", "\\", "a\nb", "*/", "r#x", "_", "__"]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// A description with anything in it.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z .]{0,200}",
        any::<String>(),
        prop::sample::select(vec![
            "```\ncode\n```",
            "# title",
            "    indented",
            "a\n\n\nb",
            " a",
            "a ",
            "/// a",
            "*/",
            "\"#\"##",
            "\r\n",
            "- a\n  b",
            "[a]: b",
            "1. a"
        ])
        .prop_map(str::to_owned),
    ]
}

/// A number with few digits: serde_json reads others as one of their neighbours.
fn float() -> impl Strategy<Value = f64> {
    any::<i32>().prop_map(|number| f64::from(number) / 8.0)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "type": "string" })),
        (any::<u32>(), text()).prop_map(|(max, text)| json!({ "type": "string", "maxLength": max, "pattern": text, "default": text })),
        prop::collection::vec(name(), 1..4).prop_map(|values| json!({ "type": "string", "enum": values })),
        (any::<i64>(), float()).prop_map(|(min, max)| json!({ "type": "integer", "minimum": min, "maximum": max })),
        Just(json!({ "type": "integer", "format": "int32", "nullable": true })),
        float().prop_map(|min| json!({ "type": "number", "minimum": min, "default": min })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": "string", "format": "date-time" })),
        Just(json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] })),
        Just(json!({ "x-kubernetes-preserve-unknown-fields": true })),
        Just(json!({ "type": "object" })),
        Just(json!({})),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 60, 6, |inner| {
        let properties = prop::collection::vec((name(), inner.clone()), 0..6);
        prop_oneof![
            (properties, any::<[bool; 4]>(), text()).prop_map(|(properties, flags, text)| {
                let required: Vec<_> = properties
                    .iter()
                    .map(|(name, _)| name.clone())
                    .filter(|name| name.len() % 2 == 0)
                    .collect();
                let properties: Map<_, _> = properties.into_iter().collect();
                let mut schema =
                    json!({ "type": "object", "properties": properties, "required": required });
                if flags[0] {
                    schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
                }
                if flags[1] {
                    schema["description"] = json!(text);
                }
                if flags[2] {
                    schema["nullable"] = json!(true);
                }
                if flags[3] {
                    schema["oneOf"] = json!([{ "required": [text] }]);
                }
                schema
            }),
            (inner.clone(), text()).prop_map(
                |(items, text)| json!({ "type": "array", "items": items, "description": text })
            ),
            inner.prop_map(|values| json!({ "type": "object", "additionalProperties": values })),
        ]
    })
}

fn definition(kind: &str, spec: Value, others: Vec<(String, Value)>, status: bool) -> Value {
    let mut properties: Map<_, _> = others.into_iter().collect();
    properties.insert("spec".to_owned(), spec);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "kind": kind, "plural": "things" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": if status { json!({ "status": {} }) } else { json!(null) },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": properties } },
            }],
        },
    })
}

proptest! {
    #[test]
    fn what_is_generated_is_rust(
        kind in prop::sample::select(vec!["Thing", "Option", "Condition", "Pod", "String", "Self", "a-b"]),
        spec in schema(),
        others in prop::collection::vec((name(), schema()), 0..2),
        status in any::<bool>(),
    ) {
        let crd = read(&definition(kind, spec, others, status)).unwrap();
        let generated = generate(&crd, "v1", &Options::default()).unwrap();
        if let Err(error) = syn::parse_file(&generated.source) {
            panic!("{error}:\n{}", generated.source);
        }
        if let Some(schemas) = generated.schemas {
            serde_json::from_str::<Map<String, Value>>(&schemas).unwrap();
        }
    }
}

/// The law for compiled types; `CASES` sets how many.
#[test]
fn random_definitions_are_kept() {
    let cases = env::var("CASES").map_or(40, |cases| cases.parse().unwrap());
    let mut runner = TestRunner::deterministic();
    let spec = (
        schema(),
        prop::collection::vec((name(), schema()), 0..2),
        any::<bool>(),
    );
    for first in (0..cases).step_by(BATCH) {
        let last = cases.min(first + BATCH);
        let sources = (first..last).map(|index| {
            let (spec, others, status) = spec.new_tree(&mut runner).unwrap().current();
            Source {
                id: format!("kind{index}"),
                name: format!("random {index}"),
                definition: definition("Thing", spec, others, status),
            }
        });
        let sources: Vec<_> = sources.collect();
        let run = Run::of("random", &sources, None);
        println!("{}", run.line());
        for (name, outcome) in &run.outcomes {
            let lines = match outcome {
                Outcome::Whole => continue,
                Outcome::Differs(lines) | Outcome::Loses(lines) => lines.join("\n"),
                Outcome::Refused(why) => why.clone(),
            };
            let source = sources.iter().find(|source| source.name == *name);
            panic!("{name}: {lines}\n{}", source.unwrap().definition);
        }
    }
}
