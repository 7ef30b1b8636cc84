//! Changed defaults of fields that limits, CEL rules or combinations apply to.

use serde_json::{Value, json};

use super::Fields;

/// The schema of an object with the fields `a`, which has a default, and `b`; `around` has its other keywords.
fn object(default: Value, mut around: Value) -> Value {
    around["type"] = json!("object");
    around["properties"]["a"] = json!({ "type": "string" });
    around["properties"]["b"] = json!({ "type": "string" });
    if !default.is_null() {
        around["properties"]["a"]["default"] = default;
    }
    around
}

/// A change of the default of `a`.
fn change(before: Value, after: Value, around: Value, found: &'static [&'static str]) -> Fields {
    Fields(object(before, around.clone()), object(after, around), found)
}

pub fn all() -> Vec<Fields> {
    let appears = |around, found| change(json!(null), json!("x"), around, found);
    let goes = |around, found| change(json!("x"), json!(null), around, found);
    let differs = |around, found| change(json!("x"), json!("y"), around, found);
    let either = || json!([{ "required": ["a"] }, { "required": ["b"] }]);
    const APPEARED: &str = "default-changed v1 .spec.a: now has the default `\"x\"`";
    const GONE: &str = "default-changed v1 .spec.a: no longer has a default; it was `\"x\"`";
    const DIFFERS: &str = "default-changed v1 .spec.a: default was `\"x\"`, now `\"y\"`";
    vec![
        // A field that appears may be one too many, or have an invalid value.
        appears(
            json!({ "oneOf": either() }),
            &[
                "combination-tightened v1 .spec.a: now has a default, which `oneOf` checks",
                APPEARED,
            ],
        ),
        appears(
            json!({ "allOf": [{ "not": { "anyOf": [{ "required": ["a", "b"] }] } }] }),
            &[
                "combination-tightened v1 .spec.a: now has a default, which `allOf` checks",
                APPEARED,
            ],
        ),
        appears(
            json!({ "oneOf": [{ "required": ["b"] }, { "maxProperties": 1 }] }),
            &[
                "combination-tightened v1 .spec.a: now has a default, which `oneOf` checks",
                APPEARED,
            ],
        ),
        appears(
            json!({ "anyOf": [{ "not": { "required": ["a"] } }, { "properties": { "a": { "enum": ["y"] } } }] }),
            &[
                "combination-tightened v1 .spec.a: now has a default, which `anyOf` checks",
                APPEARED,
            ],
        ),
        appears(
            json!({ "anyOf": [{ "properties": { "a": { "enum": ["y"] } } }, { "required": ["b"] }] }),
            &[
                "combination-tightened v1 .spec.a: now has a default, which `anyOf` checks",
                APPEARED,
            ],
        ),
        appears(
            json!({ "maxProperties": 1 }),
            &[
                "max-properties-lowered v1 .spec.a: now has a default, and counts toward `maxProperties`",
                APPEARED,
            ],
        ),
        // A limit that no object exceeds, and one that objects without the field meet.
        appears(
            json!({ "maxProperties": 2, "oneOf": [{ "maxProperties": 2 }] }),
            &[APPEARED],
        ),
        appears(
            json!({ "anyOf": either(), "minProperties": 1 }),
            &[APPEARED],
        ),
        // The default of a required field changes no object.
        appears(
            json!({ "required": ["a"], "maxProperties": 1, "oneOf": either() }),
            &[APPEARED],
        ),
        // A field that disappears may be required.
        goes(
            json!({ "anyOf": either() }),
            &[
                "combination-tightened v1 .spec.a: no longer has a default, which `anyOf` checks",
                GONE,
            ],
        ),
        goes(
            json!({ "allOf": [{ "required": ["a"] }] }),
            &[
                "combination-tightened v1 .spec.a: no longer has a default, which `allOf` checks",
                GONE,
            ],
        ),
        goes(
            json!({ "oneOf": either() }),
            &[
                "combination-tightened v1 .spec.a: no longer has a default, which `oneOf` checks",
                GONE,
            ],
        ),
        goes(
            json!({ "not": { "properties": { "a": { "enum": ["y"] } } } }),
            &[
                "combination-tightened v1 .spec.a: no longer has a default, which `not` checks",
                GONE,
            ],
        ),
        goes(
            json!({ "minProperties": 1 }),
            &[
                "min-properties-raised v1 .spec.a: no longer has a default, and counts toward `minProperties`",
                GONE,
            ],
        ),
        goes(
            json!({ "minProperties": 1, "required": ["b"], "not": { "required": ["a"] } }),
            &[GONE],
        ),
        goes(
            json!({ "required": ["a"], "anyOf": either() }),
            &[
                "required-added v1 .spec.a: is required, and no longer has a default",
                GONE,
            ],
        ),
        goes(
            json!({ "x-kubernetes-validations": [{ "rule": "has(self.b)" }, { "rule": "self.a != ''" }] }),
            &[
                "required-added v1 .spec.a: no longer has a default, and `self.a != ''` names it",
                GONE,
            ],
        ),
        // A different value may be invalid.
        differs(
            json!({ "anyOf": [{ "properties": { "a": { "enum": ["x"] } } }, { "required": ["b"] }] }),
            &[
                "combination-tightened v1 .spec.a: now has another default, which `anyOf` checks",
                DIFFERS,
            ],
        ),
        differs(
            json!({ "oneOf": either(), "minProperties": 1, "maxProperties": 1 }),
            &[DIFFERS],
        ),
        // Combinations and rules apply to nested fields.
        Fields(
            json!({
                "anyOf": [{ "properties": { "c": { "items": { "required": ["a"] } } } }, { "required": ["d"] }],
                "properties": { "c": { "items": object(json!("x"), json!({})) } },
                "x-kubernetes-validations": [{ "rule": "self.c.all(one, one.a != '') && self.b" }],
            }),
            json!({
                "anyOf": [{ "properties": { "c": { "items": { "required": ["a"] } } } }, { "required": ["d"] }],
                "properties": { "c": { "items": object(json!(null), json!({})) } },
                "x-kubernetes-validations": [{ "rule": "self.c.all(one, one.a != '') && self.b" }],
            }),
            &[
                "combination-tightened v1 .spec.c[].a: no longer has a default, which `anyOf` checks",
                "required-added v1 .spec.c[].a: no longer has a default, and `self.c.all(one, one.a != '') && self.b` names it",
                "default-changed v1 .spec.c[].a: no longer has a default; it was `\"x\"`",
            ],
        ),
    ]
}
