//! Changes of definitions, and of versions besides their schemas.

use serde_json::{Value, json};

use super::{Whole, nothing, versions::second};

pub fn versions(definition: &mut Value) -> &mut Vec<Value> {
    definition["spec"]["versions"].as_array_mut().unwrap()
}

fn metadata(definition: &mut Value) -> &mut Value {
    &mut versions(definition)[0]["schema"]["openAPIV3Schema"]["properties"]["metadata"]
}

fn scale(paths: Value) -> Value {
    json!({ "scale": paths })
}

pub fn all() -> Vec<Whole> {
    vec![
        Whole(
            nothing,
            |d| d["kind"] = json!("ConfigMap"),
            &["crd-removed: was removed"],
        ),
        Whole(
            nothing,
            |d| {
                d["metadata"]["name"] = json!("caches.example.com");
                d["spec"]["group"] = json!("example.com");
                d["spec"]["names"]["plural"] = json!("caches");
            },
            &[
                "group-changed: group was `cache.example.com`, now `example.com`",
                "plural-changed: plural was `memcacheds`, now `caches`",
            ],
        ),
        Whole(
            nothing,
            |d| d["spec"]["names"]["kind"] = json!("Cache"),
            &[
                "kind-changed: kind was `Memcached`, now `Cache`",
                "list-kind-changed: list kind was `MemcachedList`, now `CacheList`",
                "singular-changed: singular was `memcached`, now `cache`",
            ],
        ),
        Whole(
            nothing,
            |d| d["spec"]["names"]["listKind"] = json!("MemcachedList"),
            &[],
        ),
        Whole(
            nothing,
            |d| d["spec"]["scope"] = json!("Cluster"),
            &["scope-changed: scope was `Namespaced`, now `Cluster`"],
        ),
        Whole(
            |d| d["spec"]["names"]["shortNames"] = json!(["mc", "m"]),
            |d| d["spec"]["names"]["shortNames"] = json!(["m", "memc"]),
            &["short-name-removed: short name `mc` was removed"],
        ),
        Whole(
            |d| d["spec"]["names"]["categories"] = json!(["all"]),
            nothing,
            &["category-removed: category `all` was removed"],
        ),
        Whole(
            |d| d["spec"]["preserveUnknownFields"] = json!(true),
            nothing,
            &["preserve-unknown-removed: `preserveUnknownFields` was removed"],
        ),
        Whole(
            |d| {
                second(d);
                d["spec"]["conversion"] = json!({ "strategy": "Webhook" });
            },
            |d| {
                second(d);
                d["spec"]["conversion"] = json!({ "strategy": "None" });
            },
            &["conversion-removed: is no longer converted between its versions"],
        ),
        // Fields that every object has are kept, whatever the schema says.
        Whole(
            |d| {
                let schema = &mut versions(d)[0]["schema"]["openAPIV3Schema"];
                schema["properties"]["metadata"] = json!({ "type": "object" });
            },
            nothing,
            &[],
        ),
        // The name is one of these fields, and a schema may restrict it.
        Whole(
            nothing,
            |d| *metadata(d) = json!({ "type": "object", "properties": { "name": { "type": "string", "maxLength": 9 } } }),
            &["max-length-lowered v1 .metadata.name: maxLength was none, now 9"],
        ),
        Whole(
            |d| *metadata(d) = json!({ "type": "object", "properties": { "name": { "type": "string", "maxLength": 9 } } }),
            |d| *metadata(d) = json!({ "type": "object", "properties": { "name": { "type": "string", "maxLength": 8 } } }),
            &["max-length-lowered v1 .metadata.name: maxLength was 9, now 8"],
        ),
        Whole(
            |d| *metadata(d) = json!({ "type": "object", "properties": { "name": { "type": "string", "maxLength": 9 } } }),
            |d| *metadata(d) = json!({ "type": "object" }),
            &[],
        ),
        Whole(
            |d| *metadata(d) = json!({ "type": "object", "properties": { "generateName": { "type": "string", "pattern": "^a" } } }),
            nothing,
            &[],
        ),
        // A schema that is removed.
        Whole(
            |d| {
                versions(d)[0]["schema"]["openAPIV3Schema"]["required"] = json!(["spec"]);
                *metadata(d) = json!({ "type": "object", "properties": { "name": { "type": "string", "maxLength": 9 } } });
            },
            |d| {
                versions(d)[0]["schema"]["openAPIV3Schema"] =
                    json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
            },
            &["type-widened v1 .spec: was `object`, now of any type"],
        ),
        // Subresources, selectable fields and printer columns.
        Whole(
            |d| {
                versions(d)[0]["subresources"] =
                    json!({ "status": {}, "scale": { "specReplicasPath": ".spec.a" } })
            },
            nothing,
            &[
                "status-subresource-removed v1: no longer has `/status`",
                "scale-subresource-removed v1: no longer has `/scale`",
            ],
        ),
        Whole(
            |d| {
                versions(d)[0]["subresources"] =
                    json!({ "scale": { "specReplicasPath": ".spec.a" } })
            },
            |d| {
                versions(d)[0]["subresources"] =
                    json!({ "status": {}, "scale": { "specReplicasPath": ".spec.b" } })
            },
            &[
                "status-subresource-added v1: now has `/status`",
                "scale-subresource-changed v1: `/scale` now uses different fields",
            ],
        ),
        Whole(
            |d| versions(d)[0]["subresources"] = scale(json!({ "specReplicasPath": ".spec.a" })),
            |d| {
                versions(d)[0]["subresources"] = scale(
                    json!({ "specReplicasPath": ".spec.a", "labelSelectorPath": ".status.b" }),
                )
            },
            &[],
        ),
        Whole(
            |d| {
                versions(d)[0]["subresources"] = scale(
                    json!({ "specReplicasPath": ".spec.a", "labelSelectorPath": ".status.b" }),
                )
            },
            |d| versions(d)[0]["subresources"] = scale(json!({ "specReplicasPath": ".spec.a" })),
            &["scale-subresource-changed v1: `/scale` now uses different fields"],
        ),
        Whole(
            |d| versions(d)[0]["selectableFields"] = json!([{ "jsonPath": ".spec.a" }]),
            nothing,
            &["selectable-field-removed v1: `.spec.a` is no longer a selectable field"],
        ),
        Whole(
            nothing,
            |d| versions(d)[0]["additionalPrinterColumns"] = json!([{ "name": "A" }]),
            &["printer-columns-changed v1: has different columns in `kubectl get`"],
        ),
    ]
}
