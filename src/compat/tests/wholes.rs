//! Whole definitions and their versions.

use serde_json::{Value, json};

use super::{Whole, nothing};

fn versions(definition: &mut Value) -> &mut Vec<Value> {
    definition["spec"]["versions"].as_array_mut().unwrap()
}

/// A second version beside `v1`, which stays the stored one.
fn second(definition: &mut Value) -> &mut Value {
    let mut version = versions(definition)[0].clone();
    version["name"] = json!("v2");
    version["storage"] = json!(false);
    versions(definition).push(version);
    versions(definition).last_mut().unwrap()
}

fn two(definition: &mut Value) {
    second(definition);
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
        // Versions.
        Whole(two, nothing, &["version-removed v2: was removed"]),
        Whole(
            nothing,
            |d| versions(d)[0]["name"] = json!("v2"),
            &["stored-version-removed v1: was removed, and objects may be stored in it"],
        ),
        Whole(
            |d| {
                second(d);
                d["status"] = json!({ "storedVersions": ["v1", "v2"] });
            },
            nothing,
            &["stored-version-removed v2: was removed, and objects may be stored in it"],
        ),
        Whole(
            |d| d["status"] = json!({ "storedVersions": null }),
            nothing,
            &[],
        ),
        Whole(
            two,
            |d| second(d)["served"] = json!(false),
            &["version-not-served v2: is no longer served"],
        ),
        Whole(
            nothing,
            |d| versions(d)[0]["deprecated"] = json!(true),
            &["version-deprecated v1: is deprecated now"],
        ),
        Whole(
            two,
            |d| {
                second(d)["storage"] = json!(true);
                versions(d)[0]["storage"] = json!(false);
            },
            &["storage-version-changed: storage version was `v1`, now `v2`"],
        ),
        Whole(
            nothing,
            |d| second(d)["schema"] = json!({ "openAPIV3Schema": { "type": "object" } }),
            &[
                "version-unconverted v2 .spec: differs from the stored version `v1`, and nothing converts",
            ],
        ),
        Whole(
            nothing,
            |d| {
                second(d)["schema"] = json!({ "openAPIV3Schema": { "type": "object" } });
                d["spec"]["conversion"] = json!({ "strategy": "Webhook" });
            },
            &[],
        ),
        // What only the new version has is not stored, and two versions that differed before are no news.
        Whole(
            nothing,
            |d| {
                let schema = &mut second(d)["schema"]["openAPIV3Schema"];
                schema["properties"]["spec"]["properties"]["a"] = json!({ "type": "string" });
            },
            &[
                "version-unconverted v2 .spec.a: differs from the stored version `v1`, and nothing converts",
            ],
        ),
        Whole(
            |d| second(d)["schema"] = json!({ "openAPIV3Schema": { "type": "object" } }),
            |d| second(d)["schema"] = json!({ "openAPIV3Schema": { "type": "object" } }),
            &[],
        ),
        // What every object has is kept, whatever a schema says.
        Whole(
            |d| {
                let schema = &mut versions(d)[0]["schema"]["openAPIV3Schema"];
                schema["properties"]["metadata"] = json!({ "type": "object" });
            },
            nothing,
            &[],
        ),
        // Subresources and what else a version has.
        Whole(
            |d| {
                versions(d)[0]["subresources"] =
                    json!({ "status": {}, "scale": { "specReplicasPath": ".spec.a" } })
            },
            nothing,
            &[
                "status-subresource-removed v1: has no `/status` any more",
                "scale-subresource-removed v1: has no `/scale` any more",
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
                "status-subresource-added v1: has `/status` now",
                "scale-subresource-changed v1: `/scale` uses other fields",
            ],
        ),
        Whole(
            |d| versions(d)[0]["selectableFields"] = json!([{ "jsonPath": ".spec.a" }]),
            nothing,
            &["selectable-field-removed v1: `.spec.a` cannot be selected by any more"],
        ),
        Whole(
            nothing,
            |d| versions(d)[0]["additionalPrinterColumns"] = json!([{ "name": "A" }]),
            &["printer-columns-changed v1: has other columns in `kubectl get`"],
        ),
    ]
}
