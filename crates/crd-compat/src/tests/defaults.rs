//! Defaults, where what is around the field judges by it.

use serde_json::{Value, json};

use super::Fields;

/// An object with the fields `a`, which has that default, and `b`, and with what is around them.
fn object(default: Value, mut around: Value) -> Value {
    around["type"] = json!("object");
    around["properties"]["a"] = json!({ "type": "string" });
    around["properties"]["b"] = json!({ "type": "string" });
    if !default.is_null() {
        around["properties"]["a"]["default"] = default;
    }
    around
}

/// The default of `a` and then another one, in an object of these.
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
        // A field that is there now may be one too many, or have a value that is refused.
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
        // As many as may be there are allowed, and one that may be absent may be asked for.
        appears(
            json!({ "maxProperties": 2, "oneOf": [{ "maxProperties": 2 }] }),
            &[APPEARED],
        ),
        appears(
            json!({ "anyOf": either(), "minProperties": 1 }),
            &[APPEARED],
        ),
        // A field that was always there changes nothing by a default.
        appears(
            json!({ "required": ["a"], "maxProperties": 1, "oneOf": either() }),
            &[APPEARED],
        ),
        // A field that is no longer there may be missed.
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
        // Another value may be refused.
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
        // What is around an object judges by the fields in it.
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
