//! Soundness: if a value is valid in the old schema, and rejected or pruned by the new one, there is a breaking finding.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{release, schema};
use crate::{Finding, Severity, compare};

/// A value of one of the types in the schemas.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop_oneof![Just("a"), Just("b"), Just("c.d"), Just(""), Just("aaa")]
            .prop_map(|text| json!(text)),
        (0..5_i64).prop_map(|number| json!(number)),
        Just(json!(1.5)),
        Just(json!(true)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let word = prop_oneof![
            Just("a".to_owned()),
            Just("b".to_owned()),
            Just("c.d".to_owned())
        ];
        prop_oneof![
            proptest::collection::btree_map(word, inner.clone(), 0..3).prop_map(|map| json!(map)),
            proptest::collection::vec(inner, 0..3).prop_map(|list| json!(list)),
        ]
    })
}

/// An object for [`combined`].
fn fields() -> impl Strategy<Value = Value> {
    let name = || proptest::sample::select(&["a", "b"][..]);
    proptest::collection::btree_map(name(), name(), 0..3).prop_map(|fields| json!(fields))
}

/// Whether `schema` accepts and keeps `value`, for the part of OpenAPI that the strategies generate. The CEL rules here are not
/// programs: no value satisfies one.
fn accepts(schema: &Value, value: &Value) -> bool {
    let of_type = match (&schema["type"], value) {
        (Value::String(name), value) => match name.as_str() {
            "string" => value.is_string(),
            "integer" => value.is_i64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            _ => value.is_array(),
        },
        _ if schema["x-kubernetes-int-or-string"] == true => value.is_string() || value.is_i64(),
        _ => true,
    };
    of_type && within_limits(schema, &with_defaults(schema, value)) && keeps(schema, value)
}

/// `value` with its defaults, one level deep: each level is validated by itself.
fn with_defaults(schema: &Value, value: &Value) -> Value {
    let mut value = value.clone();
    let fields = schema["properties"].as_object().into_iter().flatten();
    for (name, field) in fields.filter(|(_, field)| !field["default"].is_null()) {
        if let Some(object) = value.as_object_mut() {
            object
                .entry(name)
                .or_insert_with(|| field["default"].clone());
        }
    }
    value
}

fn within_limits(schema: &Value, value: &Value) -> bool {
    let limit = |name: &str| schema[name].as_f64();
    let between = |least: &str, most: &str, size: Option<usize>| {
        size.is_none_or(|size| {
            let size = size as f64;
            limit(least).is_none_or(|least| size >= least)
                && limit(most).is_none_or(|most| size <= most)
        })
    };
    let open = schema["exclusiveMaximum"] == true;
    let number = value.as_f64().is_none_or(|number| {
        limit("minimum").is_none_or(|least| number >= least)
            && limit("maximum").is_none_or(|most| number < most || (number == most && !open))
            && limit("multipleOf").is_none_or(|of| number % of == 0.0)
    });
    let text = value.as_str();
    number
        && between("minLength", "maxLength", text.map(str::len))
        && between("minItems", "maxItems", value.as_array().map(Vec::len))
        && between(
            "minProperties",
            "maxProperties",
            value.as_object().map(serde_json::Map::len),
        )
        && schema["pattern"]
            .as_str()
            .is_none_or(|pattern| text.is_none_or(|text| text.contains(pattern)))
        && schema["enum"]
            .as_array()
            .is_none_or(|values| values.contains(value))
        && schema["x-kubernetes-validations"].is_null()
        && schema["anyOf"]
            .as_array()
            .is_none_or(|any| any.iter().any(|one| accepts(one, value)))
        && schema["oneOf"]
            .as_array()
            .is_none_or(|all| all.iter().filter(|one| accepts(one, value)).count() == 1)
        && (schema["not"].is_null() || !accepts(&schema["not"], value))
}

/// Whether `schema` accepts the fields and items of `value`, and prunes nothing.
fn keeps(schema: &Value, value: &Value) -> bool {
    let none = BTreeMap::new();
    match value {
        Value::Array(items) => {
            let distinct = (1..items.len()).all(|at| !items[..at].contains(&items[at]));
            (schema["x-kubernetes-list-type"] != "set" || distinct)
                && (schema["items"].is_null()
                    || items.iter().all(|item| accepts(&schema["items"], item)))
        }
        Value::Object(fields) => {
            let named: BTreeMap<&str, &Value> =
                schema["properties"].as_object().map_or(none, |named| {
                    named
                        .iter()
                        .map(|(name, schema)| (name.as_str(), schema))
                        .collect()
                });
            let others = &schema["additionalProperties"];
            let kept = schema["x-kubernetes-preserve-unknown-fields"] == true || *others == true;
            let required = schema["required"].as_array();
            fields
                .iter()
                .all(|(name, value)| match named.get(name.as_str()) {
                    Some(schema) => accepts(schema, value),
                    None if others.is_object() => accepts(others, value),
                    None => kept,
                })
                && required.is_none_or(|names| {
                    names.iter().all(|name| {
                        let name = name.as_str().unwrap();
                        // The default is applied first.
                        fields.contains_key(name)
                            || named
                                .get(name)
                                .is_some_and(|schema| !schema["default"].is_null())
                    })
                })
        }
        _ => true,
    }
}

/// The JSON pointers of all schemas in a schema.
fn places(schema: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let fields = schema["properties"].as_object().into_iter().flatten();
    let below = fields.map(|(name, schema)| (format!("/properties/{name}"), schema));
    let any = schema["anyOf"].as_array().into_iter().flatten().enumerate();
    let below = below.chain(any.map(|(index, schema)| (format!("/anyOf/{index}"), schema)));
    let one =
        ["items", "additionalProperties", "not"].map(|name| (format!("/{name}"), &schema[name]));
    for (step, schema) in below.chain(one).filter(|(_, schema)| schema.is_object()) {
        places(schema, &format!("{at}{step}"), found);
    }
}

/// A schema, and a copy with a few keywords of one place changed or removed.
fn edited() -> impl Strategy<Value = (Value, Value)> {
    (
        schema(),
        schema(),
        any::<prop::sample::Index>(),
        any::<bool>(),
    )
        .prop_map(|(before, words, at, add)| {
            let mut found = Vec::new();
            places(&before, "", &mut found);
            let mut after = before.clone();
            let place = after.pointer_mut(&found[at.index(found.len())]);
            let place = place.and_then(Value::as_object_mut).unwrap();
            for (word, value) in words.as_object().unwrap() {
                match add {
                    true => _ = place.insert(word.clone(), value.clone()),
                    false => _ = place.remove(word),
                }
            }
            // The API server rejects a definition with both.
            if place.contains_key("x-kubernetes-int-or-string") {
                place.remove("type");
            }
            (before, after)
        })
}

/// Two schemas of an object: they differ in the defaults of its fields, or in the combinations around them.
fn combined() -> impl Strategy<Value = (Value, Value)> {
    let name = || proptest::sample::select(&["a", "b"][..]);
    // Combinations prune nothing.
    let open = |mut schema: Value| {
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
        schema
    };
    let atom = prop_oneof![
        name().prop_map(|name| json!({ "required": [name] })),
        (name(), name())
            .prop_map(|(name, word)| json!({ "properties": { name: { "enum": [word] } } })),
        (0..3).prop_map(|count| json!({ "minProperties": count })),
        (0..3).prop_map(|count| json!({ "maxProperties": count })),
    ];
    let part = atom.prop_map(open).prop_recursive(2, 6, 3, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({ "anyOf": all })),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({ "oneOf": all })),
            inner.prop_map(|one| json!({ "not": one })),
        ]
        .prop_map(open)
    });
    let default = || proptest::option::of(name());
    let object = |part: &Value, defaults: [Option<&str>; 2]| {
        let mut schema = part.clone();
        schema["type"] = json!("object");
        schema
            .as_object_mut()
            .unwrap()
            .remove("x-kubernetes-preserve-unknown-fields");
        if part.get("properties").is_some() {
            schema = json!({ "type": "object", "anyOf": [part] });
        }
        schema["properties"] = json!({ "a": { "type": "string" }, "b": { "type": "string" } });
        for (name, default) in ["a", "b"].into_iter().zip(defaults) {
            if let Some(default) = default {
                schema["properties"][name]["default"] = json!(default);
            }
        }
        schema
    };
    let defaults = || [default(), default()];
    // The same part, a copy with a duplicate alternative, or another part.
    let after = (part.clone(), part, 0..3_usize).prop_map(|(one, other, which)| {
        let mut twice = one.clone();
        if let Some(all) = twice.get_mut("oneOf").and_then(Value::as_array_mut) {
            all.push(all[0].clone());
        }
        let after: Value = [&one, &twice, &other][which].clone();
        (one, after)
    });
    (after, defaults(), defaults())
        .prop_map(move |((before, after), old, new)| (object(&before, old), object(&after, new)))
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 1_000_000, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_value_that_is_rejected_or_pruned_has_a_finding((before, after) in prop_oneof![(schema(), schema()), edited()], value in value()) {
        check(&before, &after, &value)?;
    }

    #[test]
    fn an_object_that_is_rejected_for_a_default_has_a_finding((before, after) in combined(), value in fields()) {
        check(&before, &after, &value)?;
    }
}

fn check(before: &Value, after: &Value, value: &Value) -> Result<(), TestCaseError> {
    prop_assume!(accepts(before, value) && !accepts(after, value));
    let findings = compare(&release(before, true, "v1"), &release(after, true, "v1"));
    let is_breaking = |finding: &Finding| finding.rule.severity == Severity::Breaking;
    let breaks = findings.iter().any(is_breaking);
    prop_assert!(
        breaks,
        "{value} is valid in {before}, and not in {after}: {findings:?}"
    );
    Ok(())
}
