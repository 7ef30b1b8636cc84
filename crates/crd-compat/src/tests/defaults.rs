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
    let validations = || json!([{ "rule": "self.a != ''" }]);
    const APPEARED: &str = "default-changed v1 .spec.a: now has the default `\"x\"`";
    const GONE: &str = "default-changed v1 .spec.a: no longer has a default; it was `\"x\"`";
    const DIFFERS: &str = "default-changed v1 .spec.a: default was `\"x\"`, now `\"y\"`";
    let below = |default: Value| {
        let item = object(default, json!({}));
        let properties = json!({ "c": { "type": "array", "items": item } });
        json!({ "type": "object", "properties": properties, "x-kubernetes-validations": validations() })
    };
    vec![
        appears(
            json!({ "oneOf": either() }),
            &[
                "combination-tightened v1 .spec.a: now has a default, which a check of the object or around it may reject",
                APPEARED,
            ],
        ),
        appears(
            json!({ "maxProperties": 1 }),
            &[
                "max-properties-lowered v1 .spec.a: now has a default, which a check of the object or around it may reject",
                APPEARED,
            ],
        ),
        appears(json!({ "minProperties": 1 }), &[APPEARED]),
        appears(json!({}), &[APPEARED]),
        goes(
            json!({ "minProperties": 1 }),
            &[
                "min-properties-raised v1 .spec.a: no longer has a default, which a check of the object or around it may reject",
                GONE,
            ],
        ),
        goes(
            json!({ "x-kubernetes-validations": validations() }),
            &[
                "cel-rule-added v1 .spec.a: no longer has a default, which a check of the object or around it may reject",
                GONE,
            ],
        ),
        goes(json!({ "maxProperties": 1 }), &[GONE]),
        differs(
            json!({ "not": { "required": ["b"] } }),
            &[
                "combination-tightened v1 .spec.a: now has another default, which a check of the object or around it may reject",
                DIFFERS,
            ],
        ),
        differs(json!({}), &[DIFFERS]),
        // A check around the object.
        Fields(
            below(json!("x")),
            below(json!(null)),
            &[
                "cel-rule-added v1 .spec.c[].a: no longer has a default, which a check of the object or around it may reject",
                "default-changed v1 .spec.c[].a: no longer has a default; it was `\"x\"`",
            ],
        ),
    ]
}
