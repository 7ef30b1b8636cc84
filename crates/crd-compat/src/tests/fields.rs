//! Changes of fields: names, types, unknown fields, merge strategies.

use serde_json::{Value, json};

use super::Fields;

pub fn all() -> Vec<Fields> {
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    vec![
        Fields(
            object(json!({ "a": { "type": "string" }, "b": {} })),
            object(json!({ "b": {} })),
            &["field-removed v1 .spec.a: was removed"],
        ),
        Fields(
            object(json!({ "a": { "type": "string" } })),
            object(json!({ "b.c": { "type": "string", "description": "new" } })),
            &["field-removed v1 .spec.a: was removed, or renamed to `b.c`"],
        ),
        Fields(
            object(json!({ "a": {} })),
            object(json!({ "a": {}, "b": { "type": "object", "required": ["c"] } })),
            &[],
        ),
        Fields(
            object(json!({ "a": {} })),
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
            &[],
        ),
        // A schema that preserves everything loses and rejects nothing.
        Fields(
            object(json!({
                "a": { "type": "object", "nullable": true, "required": ["b"], "properties": { "b": { "maximum": 1 } } },
                "b": { "type": "object", "x-kubernetes-embedded-resource": true },
            })),
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
            &[
                "type-widened v1 .spec.a: was `object`, now of any type",
                "type-widened v1 .spec.b: was `object`, now of any type",
            ],
        ),
        Fields(
            object(json!({ "a.b": { "type": "array", "items": { "type": "string" } } })),
            object(json!({ "a.b": { "type": "array", "items": { "type": "integer" } } })),
            &["type-changed v1 .spec['a.b'][]: was `string`, now `integer`"],
        ),
        Fields(
            json!({ "type": "string" }),
            json!({ "type": "object", "required": ["a"] }),
            &["type-changed v1 .spec: was `string`, now `object`"],
        ),
        Fields(
            json!({}),
            json!({ "type": "object" }),
            &["type-changed v1 .spec: was of any type, now `object`"],
        ),
        Fields(
            json!({ "type": "object" }),
            json!({}),
            &["type-widened v1 .spec: was `object`, now of any type"],
        ),
        Fields(
            json!({ "type": "integer" }),
            json!({ "type": "number" }),
            &["type-widened v1 .spec: was `integer`, now `number`"],
        ),
        Fields(
            json!({ "type": "number" }),
            json!({ "type": "integer" }),
            &["type-changed v1 .spec: was `number`, now `integer`"],
        ),
        Fields(
            json!({ "type": "string" }),
            json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
            &["type-widened v1 .spec: was `string`, now `integer` or `string`"],
        ),
        Fields(
            json!({ "x-kubernetes-int-or-string": true }),
            json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
            &[],
        ),
        Fields(
            json!({ "x-kubernetes-int-or-string": true }),
            json!({ "x-kubernetes-int-or-string": true, "allOf": [{ "anyOf": [{ "type": "integer" }, { "type": "string" }] }] }),
            &[],
        ),
        Fields(
            json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
            json!({ "x-kubernetes-int-or-string": true, "allOf": [{ "anyOf": [{ "type": "integer" }, { "type": "string" }] }, { "pattern": "a" }] }),
            &["combination-tightened v1 .spec: `allOf` is new or changed"],
        ),
        Fields(
            json!({ "x-kubernetes-int-or-string": true }),
            json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }] }),
            &["combination-tightened v1 .spec: `anyOf` is new or changed"],
        ),
        Fields(
            object(json!({ "a": {}, "b": { "default": 1 } })),
            json!({ "type": "object", "properties": { "a": {}, "b": { "default": 1 } }, "required": ["a", "b"] }),
            &["required-added v1 .spec.a: is now required"],
        ),
        Fields(
            json!({ "type": "object", "properties": { "a": { "default": 1 } }, "required": ["a"] }),
            json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] }),
            &[
                "required-added v1 .spec.a: is required, and no longer has a default",
                "default-changed v1 .spec.a: no longer has a default; it was `1`",
            ],
        ),
        Fields(
            json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] }),
            object(json!({ "a": {} })),
            &["required-removed v1 .spec.a: is no longer required"],
        ),
        Fields(
            json!({ "default": { "a": 1 } }),
            json!({ "default": { "a": 2 } }),
            &["default-changed v1 .spec: default was `{\"a\":1}`, now `{\"a\":2}`"],
        ),
        Fields(
            json!({}),
            json!({ "default": "a" }),
            &["default-changed v1 .spec: now has the default `\"a\"`"],
        ),
        Fields(
            json!({ "nullable": true }),
            json!({}),
            &["null-dropped v1 .spec: may no longer be `null`"],
        ),
        Fields(
            object(json!({ "a": { "nullable": true } })),
            object(json!({ "a": {}, "b": {} })),
            &["null-dropped v1 .spec.a: may no longer be `null`"],
        ),
        Fields(
            object(json!({ "a": { "nullable": true, "default": "b" } })),
            object(json!({ "a": { "default": "b" } })),
            &["nullable-removed v1 .spec.a: may no longer be `null`"],
        ),
        Fields(
            json!({ "type": "object", "properties": { "a": { "nullable": true } }, "required": ["a"] }),
            json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] }),
            &["nullable-removed v1 .spec.a: may no longer be `null`"],
        ),
        Fields(
            json!({ "type": "array", "items": { "nullable": true } }),
            json!({ "type": "array", "items": {} }),
            &["nullable-removed v1 .spec[]: may no longer be `null`"],
        ),
        Fields(
            json!({}),
            json!({ "nullable": true }),
            &["nullable-added v1 .spec: may now be `null`"],
        ),
        // Unknown fields.
        Fields(
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            object(json!({ "a": { "type": "string" } })),
            &["additional-properties-removed v1 .spec: is no longer a map"],
        ),
        Fields(
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            json!({ "type": "object", "additionalProperties": { "type": "integer" }, "properties": { "a": { "type": "integer" } } }),
            &[
                "type-changed v1 .spec.a: was `string`, now `integer`",
                "type-changed v1 .spec[*]: was `string`, now `integer`",
            ],
        ),
        Fields(
            object(json!({ "a": { "type": "string" } })),
            json!({ "type": "object", "additionalProperties": { "type": "string" } }),
            &[],
        ),
        Fields(
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
            object(json!({ "a": { "type": "string" } })),
            &[
                "preserve-unknown-removed v1 .spec: no longer preserves unknown fields",
                "type-changed v1 .spec.a: was of any type, now `string`",
            ],
        ),
        Fields(
            json!({ "type": "object", "additionalProperties": true }),
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
            &[],
        ),
        Fields(
            json!({ "type": "object" }),
            json!({ "type": "object", "x-kubernetes-embedded-resource": true }),
            &["embedded-resource-changed v1 .spec: is now an embedded resource"],
        ),
        Fields(
            json!({ "type": "object", "x-kubernetes-embedded-resource": true }),
            json!({
                "type": "object",
                "x-kubernetes-embedded-resource": true,
                "required": ["apiVersion", "kind", "metadata"],
            }),
            &["required-added v1 .spec.metadata: is now required"],
        ),
        // Merge strategies.
        Fields(
            json!({ "type": "array" }),
            json!({ "type": "array", "x-kubernetes-list-type": "set" }),
            &["list-type-changed v1 .spec: list type was `atomic`, now `set`"],
        ),
        Fields(
            json!({ "type": "array", "x-kubernetes-list-type": "set" }),
            json!({ "type": "array", "x-kubernetes-list-type": "atomic" }),
            &["merge-strategy-changed v1 .spec: list type was `set`, now `atomic`"],
        ),
        Fields(
            json!({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"] }),
            json!({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] }),
            &["list-map-keys-changed v1 .spec: list map keys were `a`, `b`, now `a`"],
        ),
        Fields(
            json!({ "x-kubernetes-map-type": "atomic" }),
            json!({}),
            &["merge-strategy-changed v1 .spec: map type was `atomic`, now `granular`"],
        ),
    ]
}
