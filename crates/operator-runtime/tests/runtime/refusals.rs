//! The check of CRDs judges as the API server does.
//!
//! `CASES=10000` tries as many random CRDs, `SEED=…` others than those of every run, and `CRDS=DIR` those of a directory.

mod costs;
mod random;
/// The generator of rules that `make cel` compares, too.
#[path = "../../src/manifests/crds/validation/cel/tests/random.rs"]
mod random_rules;

use std::{env, path::Path};

use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, CustomResource, Error, api::PostParams};
use operator_runtime::{Crds, envtest::Cluster, refusals};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What only the API server judges: the texts of its errors. A function with an unknown name may be one of a later version.
const ITS_OWN: [&str; 3] = ["undeclared reference", "panic", "webhookClientConfig"];

/// How many CRDs are judged at a time.
const AT_ONCE: usize = 8;

#[derive(Debug, Default)]
struct Verdicts {
    accepted: usize,
    refused: usize,
    /// Refused for what only the API server judges.
    its_own: usize,
}

/// Asks both about each CRD.
async fn compare(cluster: &Cluster, crds: Vec<(String, Value)>) -> Result<Verdicts> {
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client()?);
    let asked = crds.into_iter().map(|(name, crd)| {
        let api = &api;
        async move { anyhow::Ok((ask(api, &crd).await?, name, crd)) }
    });
    let mut answers = stream::iter(asked).buffered(AT_ONCE);
    let (mut verdicts, mut differences) = (Verdicts::default(), Vec::new());
    while let Some((answer, name, crd)) = answers.try_next().await? {
        let ours = refusals(&serde_json::from_value(crd.clone())?);
        match answer {
            None if ours.is_empty() => verdicts.accepted += 1,
            Some(_) if !ours.is_empty() => verdicts.refused += 1,
            Some(why) if ITS_OWN.iter().any(|own| why.contains(own)) => verdicts.its_own += 1,
            answer => differences.push(format!(
                "{name}: API server {answer:?}, check {ours:?}, {crd}"
            )),
        }
    }
    let count = differences.len();
    differences.truncate(8);
    ensure!(
        differences.is_empty(),
        "{count} of the CRDs are judged differently, {verdicts:?}:\n{}",
        differences.join("\n\n")
    );
    Ok(verdicts)
}

/// Why the API server refuses a CRD, if it does.
async fn ask(api: &Api<CustomResourceDefinition>, crd: &Value) -> Result<Option<String>> {
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let crd = serde_json::from_value(crd.clone())?;
    match api.create(&dry_run, &crd).await {
        Ok(_) => Ok(None),
        Err(Error::Api(status)) if status.is_invalid() => Ok(Some(status.message.clone())),
        // cel-go panics for an optional entry of any type.
        Err(Error::Api(status)) if status.message.contains("panic") => Ok(Some("panic".to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// A CRD with one field in its spec.
fn with_field(field: &Value) -> Value {
    let spec = json!({ "type": "object", "properties": { "field": field } });
    let properties = json!({ "spec": spec, "status": { "type": "object" } });
    let schema = json!({ "type": "object", "properties": properties });
    random::crd(&schema)
}

/// Schemas of a field, those that the API server takes and others.
fn fields() -> Vec<Value> {
    let item = |key: Value, required: Value| json!({ "type": "object", "properties": { "key": key }, "required": required });
    let map = |keys: Value, items: Value| json!({ "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items });
    let rule = |rule: Value| json!({ "type": "object", "properties": { "a": { "type": "string" } }, "x-kubernetes-validations": [rule] });
    let text = json!({ "type": "string" });
    let with = |field: &Value, key: &str, value: Value| {
        let mut field = field.clone();
        field[key] = value;
        field
    };
    let patterns = [
        "^a$",
        "(",
        ")",
        "a**",
        "a+?",
        "a{2}{3}",
        "a{1001}",
        "(a{100}){11}",
        "(a{10}){100}",
        "(?=a)",
        "(?<name>a)",
        "(?P<name>a)",
        "(?x)a",
        "(?i)a",
        "\\d+",
        "\\u0041",
        "\\x{41}",
        "[a-",
        "[z-a]",
        "\\p{L}",
        "\\pL",
        "a{",
        "{",
        "[[a]",
        "[[:alpha:]]",
        "\\Qa.b\\E",
        "*",
        "a|*",
        "\\",
        "\\z",
        "\\Z",
        "\\-",
        "\\_",
        "(?<!a)",
        "\\1",
        "a{2,1}",
        "a{,3}",
        "[]a]",
        "[^]a]",
        "\\h",
        "\\e",
        "(?:a)",
        "(?u)a",
        "(?R)a",
        "\\b",
        "\\B",
        "x{0}",
        "[\\w-]",
        "[\\d-z]",
        "[a&&b]",
        "\\/",
        r"^[^\<\>]+$",
        r"^[^[\]]+$",
        "[a-z[.]",
        r"^[^\0]+$",
        r"\012",
        r"\b{foo}",
        "({1a})",
        r"[\u4e00-\u9fa5]",
        "a{3, 2}",
        r"[^\/]",
        r"[\.\-]",
        "é",
        "(?-i)a",
    ];
    let mut fields: Vec<_> = patterns
        .iter()
        .map(|it| with(&text, "pattern", json!(it)))
        .collect();
    fields.extend([
        json!({}),
        json!({ "x-kubernetes-preserve-unknown-fields": true }),
        json!({ "x-kubernetes-preserve-unknown-fields": false, "type": "object" }),
        json!({ "x-kubernetes-int-or-string": true }),
        json!({ "x-kubernetes-int-or-string": true, "type": "string" }),
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer", "x-kubernetes-preserve-unknown-fields": false }, { "type": "string" }] }),
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
        json!({ "x-kubernetes-int-or-string": true, "allOf": [{ "anyOf": [{ "type": "integer" }, { "type": "string" }] }, { "pattern": "a" }] }),
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer", "nullable": false }, { "type": "string" }] }),
        json!({ "x-kubernetes-int-or-string": true, "default": [{ "a": 1 }] }),
        json!({ "x-kubernetes-int-or-string": true, "default": true }),
        json!({ "x-kubernetes-int-or-string": true, "default": 5 }),
        json!({ "type": "null" }),
        json!({ "type": "text" }),
        json!({ "type": "array" }),
        json!({ "type": "array", "items": {} }),
        json!({ "type": "array", "items": text, "uniqueItems": true }),
        json!({ "type": "array", "items": text, "x-kubernetes-list-type": "set" }),
        json!({ "type": "array", "items": with(&text, "nullable", json!(true)), "x-kubernetes-list-type": "set" }),
        json!({ "type": "array", "items": { "type": "object" }, "x-kubernetes-list-type": "set" }),
        json!({ "type": "array", "items": { "type": "object", "x-kubernetes-map-type": "atomic" }, "x-kubernetes-list-type": "set" }),
        json!({ "type": "array", "items": text, "x-kubernetes-list-type": "list" }),
        json!({ "type": "string", "x-kubernetes-list-type": "atomic" }),
        json!({ "type": "string", "x-kubernetes-map-type": "atomic" }),
        json!({ "type": "object", "x-kubernetes-map-type": "set" }),
        map(json!([]), item(text.clone(), json!(["key"]))),
        map(json!(["key"]), item(text.clone(), json!(["key"]))),
        map(json!(["key"]), item(text.clone(), json!([]))),
        map(json!(["key"]), item(with(&text, "default", json!("")), json!([]))),
        map(json!(["key"]), item(with(&text, "nullable", json!(true)), json!(["key"]))),
        map(json!(["key", "key"]), item(text.clone(), json!(["key"]))),
        map(json!(["other"]), item(text.clone(), json!(["key"]))),
        map(json!(["key"]), item(json!({ "type": "object" }), json!(["key"]))),
        map(json!(["key"]), text.clone()),
        json!({ "type": "array", "items": text, "x-kubernetes-list-map-keys": ["key"] }),
        json!({ "type": "object", "additionalProperties": text, "properties": { "a": text } }),
        json!({ "type": "object", "additionalProperties": true, "properties": { "a": text } }),
        json!({ "type": "object", "additionalProperties": false }),
        json!({ "type": "object", "additionalProperties": {} }),
        json!({ "type": "object", "patternProperties": { "a": text } }),
        json!({ "type": "object", "$ref": "#/a" }),
        json!({ "type": "object", "id": "a" }),
        json!({ "type": "object", "$schema": "a" }),
        json!({ "type": "object", "definitions": { "a": text } }),
        json!({ "type": "object", "dependencies": { "a": ["b"] } }),
        json!({ "type": "array", "items": [text, text] }),
        json!({ "type": "object", "x-kubernetes-embedded-resource": true }),
        json!({ "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }),
        json!({ "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }),
        json!({ "type": "object", "x-kubernetes-embedded-resource": true, "properties": { "kind": { "type": "integer" } } }),
        json!({ "type": "object", "properties": { "a": text }, "oneOf": [{ "required": ["a"] }, { "properties": { "a": { "enum": ["b"] } } }] }),
        json!({ "type": "object", "properties": { "a": text }, "oneOf": [{ "properties": { "b": { "enum": ["b"] } } }] }),
        json!({ "type": "object", "properties": { "a": text }, "anyOf": [{ "properties": { "a": { "type": "string" } } }] }),
        json!({ "type": "string", "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        json!({ "type": "string", "not": { "pattern": "(" } }),
        json!({ "type": "string", "allOf": [{ "default": "a" }] }),
        json!({ "type": "string", "allOf": [{ "description": "a" }] }),
        json!({ "type": "string", "allOf": [{ "title": "a" }] }),
        json!({ "type": "string", "allOf": [{ "nullable": true }] }),
        json!({ "type": "object", "allOf": [{ "additionalProperties": text }] }),
        json!({ "type": "object", "allOf": [{ "additionalProperties": false }] }),
        json!({ "type": "object", "allOf": [{ "x-kubernetes-validations": [{ "rule": "true" }] }] }),
        json!({ "type": "string", "allOf": [{ "items": { "pattern": "a" } }] }),
        json!({ "type": "integer", "minimum": 1, "default": 0 }),
        json!({ "type": "number", "minimum": 0.5, "default": 0 }),
        json!({ "type": "number", "minimum": 0.5, "default": 0.25 }),
        json!({ "type": "number", "multipleOf": 0.1, "default": 0.3 }),
        json!({ "type": "number", "multipleOf": 0.1, "default": 0.35 }),
        json!({ "type": "number", "multipleOf": 1.5, "default": 2 }),
        json!({ "type": "string", "pattern": r"^\W$", "default": "é" }),
        json!({ "type": "string", "pattern": r"^\<.+$", "default": "<a>" }),
        json!({ "type": "string", "pattern": r"^\w+$", "default": "a b" }),
        json!({ "type": "object", "properties": { "a": { "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] } }, "default": { "a": null } }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "nullable": true } }, "default": { "a": null } }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "default": { "a": null } }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "nullable": true, "enum": ["x"] } }, "default": { "a": null } }),
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }], "allOf": [{ "anyOf": [{ "type": "integer" }, { "type": "string" }] }] }),
        json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "default": 1 }),
        json!({ "type": "integer", "maximum": 1, "exclusiveMaximum": true, "default": 1 }),
        json!({ "type": "integer", "multipleOf": 3, "default": 4 }),
        json!({ "type": "integer", "default": 1.5 }),
        json!({ "type": "integer", "default": 1.0 }),
        json!({ "type": "number", "default": 1 }),
        json!({ "type": "string", "default": 1 }),
        json!({ "type": "string", "minLength": 2, "default": "é" }),
        json!({ "type": "string", "maxLength": 1, "default": "é" }),
        json!({ "type": "string", "pattern": "^a$", "default": "b" }),
        json!({ "type": "string", "enum": ["a"], "default": "b" }),
        json!({ "type": "string", "enum": ["a"], "nullable": true, "default": "a" }),
        json!({ "type": "object", "default": { "a": 1 } }),
        json!({ "x-kubernetes-preserve-unknown-fields": true, "additionalProperties": false, "default": { "a": 1 } }),
        json!({ "type": "object", "additionalProperties": true, "default": { "a": { "b": 1 } } }),
        json!({ "type": "object", "properties": { "a": text }, "required": ["a"], "default": {} }),
        json!({ "type": "object", "properties": { "a": with(&text, "default", json!("b")) }, "required": ["a"], "default": {} }),
        json!({ "type": "object", "additionalProperties": { "type": "integer" }, "default": { "a": "b" } }),
        json!({ "type": "object", "additionalProperties": { "type": "integer", "default": "b" } }),
        json!({ "type": "array", "items": text, "maxItems": 1, "default": ["a", "b"] }),
        json!({ "type": "array", "items": { "type": "integer", "default": "a" } }),
        json!({ "type": "string", "oneOf": [{ "enum": ["a"] }, { "enum": ["b"] }], "default": "c" }),
        json!({ "type": "string", "not": { "enum": ["a"] }, "default": "a" }),
        json!({ "type": "string", "anyOf": [{ "enum": ["a"] }], "default": "b" }),
        json!({ "type": "string", "allOf": [{ "enum": ["a"] }], "default": "b" }),
        rule(json!({ "rule": "true" })),
        rule(json!({ "rule": " " })),
        rule(json!({ "rule": "true", "message": " " })),
        rule(json!({ "rule": "true", "message": "a\nb" })),
        rule(json!({ "rule": "true ||\nfalse" })),
        rule(json!({ "rule": "true ||\nfalse", "message": "a" })),
        rule(json!({ "rule": "true", "messageExpression": " " })),
        rule(json!({ "rule": "true", "messageExpression": "'a'" })),
        rule(json!({ "rule": "true", "reason": "FieldValueInvalid" })),
        rule(json!({ "rule": "true", "reason": "Invalid" })),
        rule(json!({ "rule": "true", "fieldPath": ".a" })),
        rule(json!({ "rule": "true", "fieldPath": "['a']" })),
        rule(json!({ "rule": "true", "fieldPath": ".b" })),
        rule(json!({ "rule": "true", "fieldPath": "a" })),
        rule(json!({ "rule": "true", "optionalOldSelf": true })),
        rule(json!({ "rule": "oldSelf.hasValue() || true", "optionalOldSelf": true })),
        rule(json!({ "rule": "has(oldSelf.a) || true" })),
        rule(json!({ "rule": "// can't be unset\noldSelf.hasValue() || true", "message": "a", "optionalOldSelf": true })),
        json!({ "type": "array", "maxItems": 2, "items": rule(json!({ "rule": "true // unlike oldSelf" })) }),
        json!({ "type": "array", "maxItems": 2, "items": rule(json!({ "rule": "has(oldSelf.a) || true" })) }),
        json!({ "type": "array", "maxItems": 2, "items": rule(json!({ "rule": "'oldSelf' != ''" })) }),
    ]);
    fields
}

/// Whole CRDs that differ from a valid one in one place: a JSON pointer, and the value there.
fn definitions() -> Vec<Value> {
    let version = "/spec/versions/0";
    let root = "/spec/versions/0/schema/openAPIV3Schema";
    let column = |column: Value| {
        (
            format!("{version}/additionalPrinterColumns"),
            json!([column]),
        )
    };
    let scale = |scale: Value| (format!("{version}/subresources/scale"), scale);
    let selectable = |paths: &[&str]| {
        let paths: Vec<_> = paths
            .iter()
            .map(|path| json!({ "jsonPath": path }))
            .collect();
        (format!("{version}/selectableFields"), json!(paths))
    };
    let field = |name: &str, schema: Value| (format!("{root}/properties/{name}"), schema);
    let at = |path: &str, value: Value| (path.to_owned(), value);
    let many: Vec<_> = (0..9).map(|index| format!(".spec.f{index}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let changes = [
        at("/metadata/name", json!("others.test.example.com")),
        at("/spec/scope", json!("Cluster")),
        at("/spec/scope", json!("cluster")),
        at("/spec/preserveUnknownFields", json!(true)),
        at("/spec/preserveUnknownFields", json!(false)),
        at("/spec/names/kind", json!("widget")),
        at("/spec/names/kind", json!("Wid_get")),
        at("/spec/names/kind", json!("K".repeat(59))),
        at("/spec/names/kind", json!("K".repeat(60))),
        at("/spec/names/listKind", json!("Widget")),
        at("/spec/names/listKind", json!("Widget List")),
        at("/spec/names/singular", json!("-a")),
        at("/spec/names/shortNames", json!(["wi", "wi"])),
        at("/spec/names/shortNames", json!(["1a"])),
        at("/spec/names/categories", json!(["All"])),
        at("/spec/versions/0/name", json!("v0")),
        at("/spec/versions/0/name", json!("v1alpha08")),
        at("/spec/versions/0/name", json!("1")),
        at("/spec/versions/0/storage", json!(false)),
        at("/spec/versions/0/served", json!(false)),
        at("/spec/versions/0/deprecated", json!(true)),
        at("/spec/versions/0/deprecationWarning", json!("old")),
        at("/spec/versions/0/schema", json!({})),
        column(json!({ "name": "A", "type": "string", "jsonPath": ".spec" })),
        column(json!({ "name": "", "type": "string", "jsonPath": ".spec" })),
        column(json!({ "name": "A", "type": "text", "jsonPath": ".spec" })),
        column(json!({ "name": "A", "type": "string", "format": "byte", "jsonPath": ".spec" })),
        column(json!({ "name": "A", "type": "string", "format": "int", "jsonPath": ".spec" })),
        column(json!({ "name": "A", "type": "string", "jsonPath": "spec" })),
        column(json!({ "name": "A", "type": "string", "jsonPath": "" })),
        column(json!({ "name": "A", "type": "string", "jsonPath": ".spec[?(@.a==" })),
        scale(json!({ "specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a" })),
        scale(json!({ "specReplicasPath": ".spec", "statusReplicasPath": ".status.a" })),
        scale(json!({ "specReplicasPath": ".spec.a", "statusReplicasPath": ".spec.a" })),
        scale(
            json!({ "specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a", "labelSelectorPath": ".spec.a" }),
        ),
        scale(
            json!({ "specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a", "labelSelectorPath": ".a" }),
        ),
        scale(json!({ "specReplicasPath": "", "statusReplicasPath": ".status.a" })),
        selectable(&[".spec.f0"]),
        selectable(&[".spec.f0", ".spec.f0"]),
        selectable(&[".spec['f0']"]),
        selectable(&[".spec.none"]),
        selectable(&[".spec"]),
        selectable(&["spec.f0"]),
        selectable(&[".metadata.name"]),
        selectable(&many),
        selectable(&many[..8]),
        field("metadata", json!({ "type": "object" })),
        field(
            "metadata",
            json!({ "type": "object", "nullable": false, "description": "" }),
        ),
        field("metadata", json!({ "type": "object", "description": "a" })),
        field(
            "metadata",
            json!({ "type": "object", "properties": { "name": { "type": "string", "maxLength": 9 } } }),
        ),
        field(
            "metadata",
            json!({ "type": "object", "properties": { "labels": { "type": "object" } } }),
        ),
        field("metadata", json!({ "type": "string" })),
        field("kind", json!({ "type": "string" })),
        field("kind", json!({ "type": "integer" })),
        field("kind", json!({ "type": "string", "default": "Widget" })),
        at(&format!("{root}/nullable"), json!(true)),
        at(&format!("{root}/nullable"), json!(false)),
        at(&format!("{root}/oneOf"), json!([{ "required": ["spec"] }])),
        at(
            &format!("{root}/x-kubernetes-validations"),
            json!([{ "rule": "true" }]),
        ),
        at(&format!("{root}/default"), json!({})),
        at(&format!("{root}/type"), json!("string")),
        at(&format!("{root}/additionalProperties"), json!(true)),
        at(
            &format!("{root}/x-kubernetes-preserve-unknown-fields"),
            json!(true),
        ),
    ];
    let mut spec = json!({ "type": "object", "properties": {} });
    for index in 0..9 {
        spec["properties"][format!("f{index}")] = json!({ "type": "string" });
    }
    let valid = random::crd(&json!({
        "type": "object",
        "properties": { "spec": spec, "status": { "type": "object" } },
    }));
    let change = |(path, value): (String, Value)| {
        let (parent, key) = path.rsplit_once('/').unwrap_or_default();
        let mut crd = valid.clone();
        if let Some(parent) = crd.pointer_mut(parent) {
            parent[key] = value;
        }
        crd
    };
    let mut crds: Vec<_> = changes.into_iter().map(change).collect();
    // Equal or different schemas, and equal, different or absent selectable fields, of two versions.
    for same_schema in [true, false] {
        for [first, second] in [["f0", "f0"], ["f0", "f1"], ["", ""], ["f0", ""]] {
            let mut crd = valid.clone();
            let mut version = crd["spec"]["versions"][0].clone();
            version["name"] = json!("v2");
            version["storage"] = json!(false);
            if !same_schema {
                version["schema"]["openAPIV3Schema"]["description"] = json!("newer");
            }
            crd["spec"]["versions"]
                .as_array_mut()
                .unwrap()
                .push(version);
            for (index, name) in [first, second].into_iter().enumerate() {
                if !name.is_empty() {
                    let path = format!(".spec.{name}");
                    crd["spec"]["versions"][index]["selectableFields"] =
                        json!([{ "jsonPath": path }]);
                }
            }
            crds.push(crd);
        }
    }
    for (group, approval) in [
        ("local", None),
        ("a_b.example.com", None),
        ("x.k8s.io", None),
        ("x.kubernetes.io", Some("later")),
        ("x.k8s.io", Some("unapproved")),
        (
            "k8s.io",
            Some("https://github.com/kubernetes/kubernetes/pull/1"),
        ),
        ("notk8s.io", None),
    ] {
        let mut crd = valid.clone();
        crd["spec"]["group"] = json!(group);
        crd["metadata"]["name"] = json!(format!("widgets.{group}"));
        if let Some(approval) = approval {
            crd["metadata"]["annotations"] = json!({ "api-approved.kubernetes.io": approval });
        }
        crds.push(crd);
    }
    crds
}

/// Names for the CRDs of a list.
fn numbered(kind: &str, crds: Vec<Value>) -> Vec<(String, Value)> {
    let name = |(index, crd)| (format!("{kind} {index}"), crd);
    crds.into_iter().enumerate().map(name).collect()
}

/// The CRDs in a directory of YAML files.
fn read(directory: &Path) -> Result<Vec<(String, Value)>> {
    let mut files = vec![directory.to_owned()];
    let mut crds = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            for entry in path.read_dir()? {
                files.push(entry?.path());
            }
        } else if path
            .extension()
            .is_some_and(|it| it == "yaml" || it == "yml")
        {
            let text = std::fs::read_to_string(&path)?;
            for mut crd in serde_saphyr::from_multiple::<Value>(&text)? {
                let is_v1 = crd["apiVersion"] == "apiextensions.k8s.io/v1";
                if is_v1 && crd["kind"] == "CustomResourceDefinition" {
                    // What a cluster wrote.
                    crd["status"].take();
                    crds.push((path.display().to_string(), crd));
                }
            }
        }
    }
    Ok(crds)
}

#[tokio::test]
async fn crds_are_judged_as_the_api_server_judges_them() -> Result<()> {
    let number = |name| env::var(name).ok().and_then(|text| text.parse().ok());
    let cluster = Cluster::start()?;
    let fields = fields().iter().map(with_field).collect();
    let verdicts = compare(&cluster, numbered("field", fields)).await?;
    ensure!(
        verdicts.accepted > 50 && verdicts.refused > 50,
        "{verdicts:?}"
    );
    let verdicts = compare(&cluster, numbered("definition", definitions())).await?;
    ensure!(
        verdicts.accepted > 10 && verdicts.refused > 10,
        "{verdicts:?}"
    );
    let crds = random::crds(
        number("SEED").unwrap_or(1),
        number("CASES").unwrap_or(500) as usize,
    );
    let random = compare(&cluster, numbered("random", crds)).await?;
    ensure!(random.accepted > 50 && random.refused > 50, "{random:?}");
    println!("random CRDs: {random:?}");
    let table = compare(&cluster, numbered("rule", costs::table())).await?;
    ensure!(table.accepted > 10 && table.refused > 10, "{table:?}");
    let seed = number("SEED").unwrap_or(1);
    let count = number("CASES").unwrap_or(500) as usize / 2;
    let crds = random_rules::schemas(seed, count, 1).map(|schema| random::crd(&schema));
    let random = compare(&cluster, numbered("random rule", crds.collect())).await?;
    ensure!(random.accepted > 20 && random.refused > 20, "{random:?}");
    println!("random rules: {random:?}");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/crds");
    let directory = env::var_os("CRDS").map_or(shared, Into::into);
    if !directory.is_dir() {
        eprintln!("left out: no directory of real CRDs");
        return Ok(());
    }
    println!(
        "real CRDs: {:?}",
        compare(&cluster, read(&directory)?).await?
    );
    Ok(())
}

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "Lot", namespaced)]
struct LotSpec {
    places: Vec<Place>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Place {
    #[serde(default)]
    #[schemars(range(min = 1))]
    size: u16,
}

#[test]
fn a_refusal_names_the_field_and_its_rust_type() -> Result<()> {
    let mut crds = Crds::default();
    crds.add_storage::<Lot>();
    let error = crds.merge().map(drop).map_err(|error| error.to_string());
    let expected = "the API server would refuse the CRD of Lot\n  v1 `spec.places[].size` of `Place`: its default is `0`, \
        which is below the minimum 1\n  help: `#[serde(default = \"…\")]` with another value, or other limits in \
        `#[schemars(range(min = …), length(max = …), …)]`";
    ensure!(error == Err(expected.to_owned()), "{error:?}");
    Ok(())
}
