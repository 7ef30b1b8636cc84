//! The CronJob of kubebuilder's tutorial, made with fields alone, against the structure of the tutorial's CRD.

use std::fs;

use serde_json::{Value, json};

use crate::session::repository;

/// What differs, and why.
const DIFFERENCES: [(&str, &str); 5] = [
    (
        "/categories",
        "`kubectl get PROJECT` lists the kinds of a project",
    ),
    (
        "/versions/v1/columns",
        "kubectl shows no age of its own where a CRD has columns, so every generated type has the column",
    ),
    (
        "/versions/v1/schema/properties/status/properties/observedGeneration",
        "the generated controller reports the generation that it has reconciled",
    ),
    (
        "/versions/v1/schema/required",
        "kube derives a required spec; the tutorial's Go struct is a value, which is never absent",
    ),
    ("/versions/v1/schema/title", "schemars names the type"),
];

/// The structure of the tutorial's CRD: types, limits, defaults. The types of Kubernetes are empty here; `make schemas`
/// compares those with controller-gen's.
fn tutorial() -> Value {
    let limit = json!({ "type": "integer", "format": "int32", "minimum": 0 });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "cronjobs.batch.tutorial.kubebuilder.io" },
        "spec": {
            "group": "batch.tutorial.kubebuilder.io",
            "names": { "kind": "CronJob", "plural": "cronjobs", "singular": "cronjob" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": {
                        "type": "object",
                        "required": ["jobTemplate", "schedule"],
                        "properties": {
                            "schedule": { "type": "string", "minLength": 0 },
                            "startingDeadlineSeconds": { "type": "integer", "format": "int64", "minimum": 0 },
                            "concurrencyPolicy": {
                                "type": "string",
                                "enum": ["Allow", "Forbid", "Replace"],
                                "default": "Allow",
                            },
                            "suspend": { "type": "boolean" },
                            "jobTemplate": { "type": "object" },
                            "successfulJobsHistoryLimit": limit,
                            "failedJobsHistoryLimit": limit,
                        },
                    },
                    "status": {
                        "type": "object",
                        "properties": {
                            "active": {
                                "type": "array",
                                "items": { "type": "object" },
                                "minItems": 1,
                                "maxItems": 10,
                                "x-kubernetes-list-type": "atomic",
                            },
                            "lastScheduleTime": { "type": "string", "format": "date-time" },
                            "conditions": {
                                "type": "array",
                                "items": { "type": "object" },
                                "x-kubernetes-list-type": "map",
                                "x-kubernetes-list-map-keys": ["type"],
                            },
                        },
                    },
                } } },
            }],
        },
    })
}

/// Removes descriptions, and the inside of Kubernetes' types.
fn structure(value: &mut Value) {
    let Value::Object(fields) = value else {
        if let Value::Array(items) = value {
            items.iter_mut().for_each(structure);
        }
        return;
    };
    if fields.get("description").is_some_and(Value::is_string) {
        fields.remove("description");
    }
    for (name, field) in fields.iter_mut() {
        match name.as_str() {
            "jobTemplate" => *field = json!({ "type": "object" }),
            "active" | "conditions" => {
                field["items"] = json!({ "type": "object" });
                structure(field);
            }
            _ => structure(field),
        }
    }
}

#[test]
fn the_cronjob_of_kubebuilders_tutorial() {
    let path =
        "snapshots/manifests/fields/config/crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml";
    let text = fs::read_to_string(repository().join(path)).unwrap();
    let mut crd: Value = serde_yaml::from_str(&text).unwrap();
    structure(&mut crd);
    let found = crd_types::differences(&tutorial(), &crd).unwrap();
    let found: Vec<String> = found.into_iter().map(|it| it.path).collect();
    let expected: Vec<&str> = DIFFERENCES.iter().map(|(path, _)| *path).collect();
    assert_eq!(found, expected);
}
