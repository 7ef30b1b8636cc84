//! Versions: which are served and stored, and what becomes of objects between two of them.

use serde_json::{Value, json};

use super::{Whole, nothing, wholes::versions};

/// A second version beside `v1`, which stays the stored one.
pub fn second(definition: &mut Value) -> &mut Value {
    let mut version = versions(definition)[0].clone();
    version["name"] = json!("v2");
    version["storage"] = json!(false);
    versions(definition).push(version);
    versions(definition).last_mut().unwrap()
}

fn two(definition: &mut Value) {
    second(definition);
}

/// The fields of `.spec` of a version.
fn spec(version: &mut Value) -> &mut Value {
    &mut version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
}

pub fn all() -> Vec<Whole> {
    vec![
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
            &["version-deprecated v1: is now deprecated"],
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
                "version-unconverted v2 .spec: differs from the storage version `v1`, and there is no conversion",
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
                "version-unconverted v2 .spec.a: differs from the storage version `v1`, and there is no conversion",
            ],
        ),
        Whole(
            |d| second(d)["schema"] = json!({ "openAPIV3Schema": { "type": "object" } }),
            |d| second(d)["schema"] = json!({ "openAPIV3Schema": { "type": "object" } }),
            &[],
        ),
        // A version that was not served is as good as new.
        Whole(
            |d| {
                let second = second(d);
                second["served"] = json!(false);
                second["schema"] = json!({ "openAPIV3Schema": { "type": "object" } });
            },
            |d| second(d)["schema"] = json!({ "openAPIV3Schema": { "type": "object" } }),
            &[
                "version-unconverted v2 .spec: differs from the storage version `v1`, and there is no conversion",
            ],
        ),
        // A field that only one of two versions gets, the served or the stored one, and one that both get.
        Whole(
            two,
            |d| spec(second(d))["a"] = json!({ "type": "string" }),
            &[
                "version-unconverted v2 .spec.a: differs from the storage version `v1`, and there is no conversion",
            ],
        ),
        Whole(
            two,
            |d| {
                second(d);
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string" });
            },
            &[
                "version-unconverted v2 .spec.a: differs from the storage version `v1`, and there is no conversion",
            ],
        ),
        Whole(
            two,
            |d| {
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string" });
                second(d);
            },
            &[],
        ),
        // The gap between two versions closes, and opens.
        Whole(
            |d| {
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string", "maxLength": 9 });
                spec(second(d))["a"] = json!({ "type": "string", "maxLength": 5 });
            },
            |d| {
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string", "maxLength": 9 });
                spec(second(d))["a"] = json!({ "type": "string", "maxLength": 6 });
            },
            &[],
        ),
        Whole(
            |d| {
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string", "maxLength": 9 });
                second(d);
            },
            |d| {
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string", "maxLength": 9 });
                spec(second(d))["a"] = json!({ "type": "string" });
            },
            &[
                "version-unconverted v2 .spec.a: differs from the storage version `v1`, and there is no conversion",
            ],
        ),
        // A new version that takes less than the stored one, or makes something else of an object.
        Whole(
            |d| {
                let fields = spec(&mut versions(d)[0]);
                *fields = json!({ "a": { "maxLength": 9 }, "b": { "enum": [1, 2] }, "c": {}, "d": { "default": 1 }, "e": {} });
            },
            |d| {
                let fields = spec(&mut versions(d)[0]);
                *fields = json!({ "a": { "maxLength": 9 }, "b": { "enum": [1, 2] }, "c": {}, "d": { "default": 1 }, "e": {} });
                let new = second(d);
                new["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] = json!(["c"]);
                *spec(new) = json!({ "a": { "maxLength": 8 }, "b": { "enum": [1] }, "c": {}, "d": { "default": 2 }, "e": {} });
            },
            &[
                "version-unconverted v2 .spec.a: differs from the storage version `v1`, and there is no conversion",
                "version-unconverted v2 .spec.b: differs from the storage version `v1`, and there is no conversion",
                "version-unconverted v2 .spec.c: differs from the storage version `v1`, and there is no conversion",
                "version-unconverted v2 .spec.d: differs from the storage version `v1`, and there is no conversion",
            ],
        ),
        // Nothing is written through a stored version that is not served, so it refuses nothing.
        Whole(
            |d| {
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string", "maxLength": 9 });
                versions(d)[0]["served"] = json!(false);
            },
            |d| {
                spec(&mut versions(d)[0])["a"] = json!({ "type": "string", "maxLength": 9 });
                let new = second(d);
                spec(new)["a"] = json!({ "type": "string" });
                new["served"] = json!(true);
                versions(d)[0]["served"] = json!(false);
            },
            &[],
        ),
        // The last step of retiring a version.
        Whole(|d| second(d)["served"] = json!(false), nothing, &[]),
        Whole(
            |d| {
                second(d)["served"] = json!(false);
                d["status"] = json!({ "storedVersions": ["v1", "v2"] });
            },
            nothing,
            &["stored-version-removed v2: was removed, and objects may be stored in it"],
        ),
        // One that is being developed.
        Whole(
            |d| second(d)["served"] = json!(false),
            |d| {
                let new = second(d);
                spec(new)["a"] = json!({ "type": "string" });
                new["schema"]["openAPIV3Schema"]["required"] = json!(["spec"]);
                new["served"] = json!(false);
            },
            &[],
        ),
        // Every object has these.
        Whole(
            nothing,
            |d| {
                versions(d)[0]["schema"]["openAPIV3Schema"]["required"] =
                    json!(["apiVersion", "kind", "metadata"]);
            },
            &[],
        ),
    ]
}
