//! Limits of values, CEL rules and combinations.

use serde_json::{Value, json};

use super::Fields;

pub fn all() -> Vec<Fields> {
    let limit = |name: &str, value: Value| json!({ name: value });
    vec![
        Fields(
            json!({}),
            limit("enum", json!(["a", "b"])),
            &["enum-added v1 .spec: must now be one of `\"a\"`, `\"b\"`"],
        ),
        Fields(
            limit("enum", json!(["a", "b"])),
            limit("enum", json!(["c", "b"])),
            &[
                "enum-value-removed v1 .spec: may no longer be `\"a\"`",
                "enum-value-added v1 .spec: may now be `\"c\"`",
            ],
        ),
        Fields(
            limit("enum", json!(["a", "b"])),
            limit("enum", json!(["b", "a"])),
            &[],
        ),
        Fields(
            limit("enum", json!(["a"])),
            json!({}),
            &["enum-value-added v1 .spec: may now have any value"],
        ),
        // The API server omits empty values.
        Fields(
            limit("enum", json!([])),
            limit("enum", json!(["a"])),
            &["enum-added v1 .spec: must now be one of `\"a\"`"],
        ),
        Fields(json!({}), json!({ "enum": [], "pattern": "" }), &[]),
        Fields(
            limit("maximum", json!(9)),
            limit("maximum", json!(8.5)),
            &["maximum-lowered v1 .spec: maximum was 9, now 8.5"],
        ),
        Fields(
            limit("maximum", json!(9_223_372_036_854_775_807_i64)),
            limit("maximum", json!(9_223_372_036_854_775_806_i64)),
            &["maximum-lowered v1 .spec: maximum was 9223372036854775807, now 9223372036854775806"],
        ),
        Fields(
            limit("maximum", json!(9)),
            json!({ "maximum": 9, "exclusiveMaximum": true }),
            &["maximum-lowered v1 .spec: maximum was 9, now 9 (exclusive)"],
        ),
        Fields(
            json!({ "maximum": 9, "exclusiveMaximum": true }),
            limit("maximum", json!(9)),
            &[],
        ),
        Fields(
            limit("minimum", json!(1)),
            limit("minimum", json!(2)),
            &["minimum-raised v1 .spec: minimum was 1, now 2"],
        ),
        Fields(limit("minimum", json!(1)), limit("minimum", json!(0)), &[]),
        // For integers, an exclusive bound equals the next integer; for other numbers, it does not.
        Fields(
            json!({ "type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 4 }),
            json!({ "type": "integer", "minimum": 1, "maximum": 5, "exclusiveMaximum": true }),
            &[],
        ),
        Fields(
            json!({ "type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 4 }),
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 4, "exclusiveMaximum": true }),
            &[
                "maximum-lowered v1 .spec: maximum was 4, now 4 (exclusive)",
                "minimum-raised v1 .spec: minimum was 0 (exclusive), now 1 (exclusive)",
            ],
        ),
        Fields(
            json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true }),
            json!({ "type": "number", "minimum": 1 }),
            &["minimum-raised v1 .spec: minimum was 0 (exclusive), now 1"],
        ),
        Fields(
            json!({}),
            limit("minimum", json!(0)),
            &["minimum-raised v1 .spec: minimum was none, now 0"],
        ),
        Fields(
            json!({}),
            limit("maxLength", json!(9)),
            &["max-length-lowered v1 .spec: maxLength was none, now 9"],
        ),
        Fields(
            limit("maxLength", json!(9)),
            limit("maxLength", json!(10)),
            &[],
        ),
        Fields(limit("maxLength", json!(9)), json!({}), &[]),
        Fields(
            limit("minLength", json!(0)),
            limit("minLength", json!(1)),
            &["min-length-raised v1 .spec: minLength was 0, now 1"],
        ),
        Fields(json!({}), limit("minLength", json!(0)), &[]),
        Fields(
            limit("maxItems", json!(9)),
            limit("maxItems", json!(8)),
            &["max-items-lowered v1 .spec: maxItems was 9, now 8"],
        ),
        Fields(
            json!({}),
            limit("minItems", json!(1)),
            &["min-items-raised v1 .spec: minItems was none, now 1"],
        ),
        Fields(
            limit("maxProperties", json!(9)),
            limit("maxProperties", json!(8)),
            &["max-properties-lowered v1 .spec: maxProperties was 9, now 8"],
        ),
        Fields(
            limit("minProperties", json!(1)),
            limit("minProperties", json!(2)),
            &["min-properties-raised v1 .spec: minProperties was 1, now 2"],
        ),
        Fields(
            limit("multipleOf", json!(2)),
            limit("multipleOf", json!(3)),
            &["multiple-of-changed v1 .spec: must now be a multiple of 3"],
        ),
        Fields(
            limit("multipleOf", json!(6)),
            limit("multipleOf", json!(3)),
            &[],
        ),
        Fields(
            limit("multipleOf", json!(0.1)),
            limit("multipleOf", json!(0.01)),
            &["multiple-of-changed v1 .spec: must now be a multiple of 0.01"],
        ),
        Fields(
            limit("multipleOf", json!(3)),
            limit("multipleOf", json!(0)),
            &["multiple-of-changed v1 .spec: must now be a multiple of 0"],
        ),
        // `1.0` equals `1`.
        Fields(
            json!({ "enum": [1, { "a": [-2.0] }], "default": 1.0, "maximum": 3 }),
            json!({ "enum": [1.0, { "a": [-2] }], "default": 1, "maximum": 3.0 }),
            &[],
        ),
        Fields(
            limit("enum", json!([1])),
            limit("enum", json!([1.5])),
            &[
                "enum-value-removed v1 .spec: may no longer be `1`",
                "enum-value-added v1 .spec: may now be `1.5`",
            ],
        ),
        Fields(
            limit("pattern", json!("^a$")),
            limit("pattern", json!("^b$")),
            &["pattern-changed v1 .spec: pattern was `^a$`, now `^b$`"],
        ),
        Fields(
            json!({}),
            limit("pattern", json!("^b$")),
            &["pattern-changed v1 .spec: must now match `^b$`"],
        ),
        Fields(limit("pattern", json!("^b$")), json!({}), &[]),
        Fields(
            limit("format", json!("uri")),
            limit("format", json!("ipv4")),
            &["format-changed v1 .spec: format was `uri`, now `ipv4`"],
        ),
        Fields(
            limit("format", json!("int64")),
            limit("format", json!("int32")),
            &["format-changed v1 .spec: format was `int64`, now `int32`"],
        ),
        Fields(
            limit("format", json!("int32")),
            limit("format", json!("int64")),
            &["type-widened v1 .spec: format was `int32`, now `int64`"],
        ),
        Fields(
            limit("format", json!("uint16")),
            limit("format", json!("nobody-knows")),
            &[],
        ),
        Fields(
            json!({}),
            limit("uniqueItems", json!(true)),
            &["unique-items-added v1 .spec: must no longer contain duplicates"],
        ),
        Fields(
            limit("anyOf", json!([{ "pattern": "a" }])),
            limit("anyOf", json!([{ "pattern": "a" }, { "pattern": "b" }])),
            &[],
        ),
        Fields(
            limit("anyOf", json!([{ "pattern": "a" }, { "pattern": "b" }])),
            limit("anyOf", json!([{ "pattern": "a" }])),
            &["combination-tightened v1 .spec: `anyOf` is new or changed"],
        ),
        Fields(
            json!({}),
            limit("allOf", json!([{ "pattern": "a" }])),
            &["combination-tightened v1 .spec: `allOf` is new or changed"],
        ),
        Fields(
            limit("oneOf", json!([{ "pattern": "a" }])),
            limit("oneOf", json!([{ "pattern": "a" }, { "pattern": "b" }])),
            &["combination-tightened v1 .spec: `oneOf` is new or changed"],
        ),
        // A duplicate alternative accepts nothing, and a third copy changes nothing.
        Fields(
            limit("oneOf", json!([{ "minLength": 2 }, { "maxLength": 1 }])),
            limit(
                "oneOf",
                json!([{ "minLength": 2 }, { "maxLength": 1 }, { "minLength": 2 }]),
            ),
            &["combination-tightened v1 .spec: `oneOf` is new or changed"],
        ),
        Fields(
            limit("oneOf", json!([{ "required": ["c"] }])),
            limit(
                "oneOf",
                json!([{ "required": ["c"] }, { "required": ["c"] }]),
            ),
            &["combination-tightened v1 .spec: `oneOf` is new or changed"],
        ),
        Fields(
            limit(
                "oneOf",
                json!([{ "pattern": "a" }, { "pattern": "b" }, { "pattern": "a" }]),
            ),
            limit("oneOf", json!([{ "pattern": "b" }, { "pattern": "a" }])),
            &[],
        ),
        Fields(
            json!({}),
            limit("not", json!({ "pattern": "a" })),
            &["combination-tightened v1 .spec: `not` is new or changed"],
        ),
        Fields(limit("not", json!({ "pattern": "a" })), json!({}), &[]),
        Fields(
            limit(
                "x-kubernetes-validations",
                json!([{ "rule": "self.a == self.b\n", "message": "m" }]),
            ),
            limit(
                "x-kubernetes-validations",
                json!([{ "rule": "self.a == self.b" }, { "rule": "true" }]),
            ),
            &["cel-rule-added v1 .spec: must now satisfy `true`"],
        ),
        Fields(
            limit(
                "x-kubernetes-validations",
                json!([{ "rule": "'a b' == 'a b'" }, { "rule": "true // x" }]),
            ),
            limit(
                "x-kubernetes-validations",
                json!([{ "rule": "'a b' == 'a  b'" }, { "rule": "true // x\n&& self.a > 5" }]),
            ),
            &[
                "cel-rule-added v1 .spec: must now satisfy `'a b' == 'a  b'`",
                "cel-rule-added v1 .spec: must now satisfy `true // x && self.a > 5`",
            ],
        ),
    ]
}
