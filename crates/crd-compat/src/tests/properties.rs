//! Random schemas: no panic, no findings without a change, and findings for a change or its inverse.

mod soundness;

use proptest::{collection, prelude::*};
use serde_json::{Value, json};

use super::{Definition, Release, compare};

/// A schema of a few levels, structural or not.
fn schema() -> impl Strategy<Value = Value> {
    let word = prop_oneof![Just("a"), Just("b"), Just("c.d")];
    let small = 0..4_u64;
    let leaf = prop_oneof![
        Just(json!({})),
        prop_oneof![
            Just("string"),
            Just("integer"),
            Just("number"),
            Just("boolean"),
            Just("object"),
            Just("array")
        ]
        .prop_map(|name| json!({ "type": name })),
        Just(json!({ "x-kubernetes-int-or-string": true })),
        Just(json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })),
        Just(json!({ "type": "object", "additionalProperties": true })),
        Just(json!({ "nullable": true })),
    ];
    const LIMITS: [&str; 9] = [
        "maximum",
        "minimum",
        "maxLength",
        "minLength",
        "maxItems",
        "minItems",
        "maxProperties",
        "minProperties",
        "multipleOf",
    ];
    let with_limit = (
        leaf,
        proptest::sample::select(&LIMITS[..]),
        small,
        word.clone(),
        any::<bool>(),
    )
        .prop_map(|(mut schema, limit, value, word, flag)| {
            schema[limit] = json!(value);
            if flag {
                schema["enum"] = json!([word]);
                schema["default"] = json!(word);
                schema["exclusiveMaximum"] = json!(true);
                schema["pattern"] = json!(word);
                schema["x-kubernetes-validations"] = json!([{ "rule": word }]);
            }
            schema
        });
    with_limit.prop_recursive(5, 40, 4, move |inner| {
        let fields = collection::btree_map(word.clone(), inner.clone(), 0..4);
        let names = collection::vec(word.clone(), 0..3);
        prop_oneof![
            (fields, names).prop_map(|(fields, names)| json!({ "type": "object", "properties": fields, "required": names })),
            inner.clone().prop_map(|inner| json!({ "type": "array", "items": inner, "x-kubernetes-list-type": "set" })),
            inner.clone().prop_map(|inner| json!({ "type": "object", "additionalProperties": inner })),
            collection::vec(inner.clone(), 1..3).prop_map(|inner| json!({ "anyOf": inner })),
            inner.prop_map(|inner| json!({ "not": inner })),
        ]
    })
}

fn release(schema: &Value, served: bool, name: &str) -> Release {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "a.b" },
        "spec": { "versions": [{ "name": name, "served": served, "storage": true, "schema": { "openAPIV3Schema": schema } }] },
    });
    [serde_json::from_value::<Definition>(definition).unwrap()]
        .into_iter()
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_change_has_no_findings(schema in schema()) {
        let release = release(&schema, true, "v1");
        prop_assert_eq!(compare(&release, &release), vec![]);
    }

    /// Schemas of different types have findings in at least one direction.
    #[test]
    fn a_difference_is_found_in_one_direction(before in schema(), after in schema()) {
        let (old, new) = (release(&before, true, "v1"), release(&after, true, "v1"));
        let found = compare(&old, &new);
        let back = compare(&new, &old);
        prop_assert!(found.is_sorted_by(|a, b| a.place <= b.place));
        if before.get("type") != after.get("type") {
            prop_assert!(!found.is_empty() || !back.is_empty(), "{} {}", before, after);
        }
    }

    #[test]
    fn any_value_in_any_place_is_read_or_rejected(value in schema(), at in 0..3_usize) {
        let mut document = json!({});
        document[["metadata", "spec", "status"][at]] = value;
        let _ = serde_json::from_value::<Definition>(document);
    }
}
