//! Changes of versions: served and stored ones, and objects that are converted between them.

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
        // Values that only the new version has are not stored. Known differences between versions are not reported again.
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
        // A version that was not served counts as new.
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
        // A new field in the served version, in the storage version, and in both.
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
        // The difference between two versions becomes smaller, and larger.
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
        // A new version that accepts less than the storage version, or has another default.
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
        // A storage version that is not served rejects nothing.
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
        // A version that is not served yet.
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
        // Every object has these fields.
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
