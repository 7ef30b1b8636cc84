//! The ClusterServiceVersion: the base, and everything that follows from the project.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Declarations,
    base::{Base, entries, overlay},
    containers, descriptors, list, text, tidy_metadata,
};
use crate::manager::WatchScope;

/// What a ClusterServiceVersion is made from, beside the base.
pub(super) struct Parts<'a> {
    pub(super) declarations: &'a Declarations,
    pub(super) crds: Vec<Value>,
    pub(super) deployments: Vec<Value>,
    /// The fields of the install strategy with permissions.
    pub(super) permissions: BTreeMap<&'static str, Value>,
    pub(super) webhooks: Vec<Value>,
    pub(super) examples: Vec<Value>,
    pub(super) namespace: Option<Value>,
}

/// The ClusterServiceVersion, but for what depends on the version.
pub(super) fn merge(base: &Base, parts: Parts<'_>) -> Result<Value, String> {
    let Parts {
        declarations,
        crds,
        mut deployments,
        ..
    } = parts;
    let mut csv = base.csv.clone();
    let mut images = images(&deployments);
    let annotations = &mut csv["metadata"]["annotations"];
    let examples: Vec<_> = parts
        .examples
        .into_iter()
        .filter(|one| is_provided(one, &crds))
        .collect();
    let examples = serde_json::to_string_pretty(&examples).map_err(|error| error.to_string())?;
    annotations["alm-examples"] = json!(examples);
    if let Some(first) = images.first() {
        annotations["containerImage"] = first["image"].clone();
    }
    if let Some(namespace) = parts.namespace {
        let name = &namespace["metadata"]["name"];
        annotations["operatorframework.io/suggested-namespace"] = name.clone();
    }

    let spec = &mut csv["spec"];
    if spec["installModes"].is_null() {
        spec["installModes"] = install_modes(declarations.scope);
    }
    spec["customresourcedefinitions"] = descriptors::definitions(&crds, declarations, base)?;
    if !parts.webhooks.is_empty() {
        spec["webhookdefinitions"] = Value::Array(parts.webhooks);
    }
    let others = overlay(&mut images, base.list("relatedImages"), &["name"]);
    spec["relatedImages"] = Value::Array([images, others].concat());
    for deployment in &mut deployments {
        watch_target_namespaces(deployment, declarations.scope);
        require_platforms(deployment, base);
    }
    let mut strategy = json!(parts.permissions);
    strategy["deployments"] = deployments.into_iter().map(installed).collect();
    spec["install"] = json!({ "strategy": "deployment", "spec": strategy });
    Ok(csv)
}

/// Whether a sample is of a type of the project.
fn is_provided(sample: &Value, crds: &[Value]) -> bool {
    let of = |crd: &Value| {
        let spec = &crd["spec"];
        let mut versions = entries(&spec["versions"])
            .iter()
            .map(|version| format!("{}/{}", text(&spec["group"]), text(&version["name"])));
        spec["names"]["kind"] == sample["kind"] && versions.any(|it| sample["apiVersion"] == *it)
    };
    crds.iter().any(of)
}

fn install_modes(scope: WatchScope) -> Value {
    let all = scope == WatchScope::Cluster;
    let mode = |type_, supported| json!({ "type": type_, "supported": supported });
    json!([
        mode("OwnNamespace", !all),
        mode("SingleNamespace", !all),
        mode("MultiNamespace", !all),
        mode("AllNamespaces", all),
    ])
}

/// Reads the namespaces to watch from the annotation that OLM sets on Pods, in a namespaced project.
fn watch_target_namespaces(deployment: &mut Value, scope: WatchScope) {
    if scope == WatchScope::Cluster {
        return;
    }
    for container in containers(deployment) {
        for variable in list(container, "env").into_iter().flatten() {
            if variable["name"] == "WATCH_NAMESPACE" {
                *variable = json!({
                    "name": "WATCH_NAMESPACE",
                    "valueFrom": {
                        "fieldRef": { "fieldPath": "metadata.annotations['olm.targetNamespaces']" },
                    },
                });
            }
        }
    }
}

/// Keeps the Pods on nodes of the platforms that the labels of the base list, unless the Deployment chooses its nodes.
fn require_platforms(deployment: &mut Value, base: &Base) {
    let pod = &mut deployment["spec"]["template"]["spec"];
    let labels = base.csv["metadata"]["labels"].as_object();
    let listed = |prefix: &str| -> Vec<&str> {
        let keys = labels.into_iter().flat_map(|labels| labels.keys());
        keys.filter_map(|key| key.strip_prefix(prefix)).collect()
    };
    let mut expressions = Vec::new();
    for part in ["arch", "os"] {
        let values = listed(&format!("operatorframework.io/{part}."));
        if !values.is_empty() {
            expressions.push(json!({
                "key": format!("kubernetes.io/{part}"),
                "operator": "In",
                "values": values,
            }));
        }
    }
    if pod["affinity"]["nodeAffinity"].is_null() && !expressions.is_empty() {
        pod["affinity"]["nodeAffinity"] = json!({
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{ "matchExpressions": expressions }],
            },
        });
    }
}

/// A Deployment, as a ClusterServiceVersion lists it.
fn installed(mut deployment: Value) -> Value {
    tidy_metadata(&mut deployment);
    let (metadata, spec) = (&deployment["metadata"], &deployment["spec"]);
    let mut installed = json!({ "name": metadata["name"], "spec": spec });
    if !metadata["labels"].is_null() {
        installed["label"] = metadata["labels"].clone();
    }
    installed
}

/// The images of the containers, and those that the environment names in `RELATED_IMAGE_…`.
fn images(deployments: &[Value]) -> Vec<Value> {
    let mut images = Vec::new();
    let mut others = Vec::new();
    for deployment in deployments {
        let pod = &deployment["spec"]["template"]["spec"];
        let lists = [&pod["containers"], &pod["initContainers"]];
        for container in lists.into_iter().flat_map(entries) {
            images.push(json!({ "name": container["name"], "image": container["image"] }));
            for variable in entries(&container["env"]) {
                let name = text(&variable["name"]).strip_prefix("RELATED_IMAGE_");
                if let (Some(name), Some(image)) = (name, variable["value"].as_str()) {
                    let name = name.to_lowercase().replace('_', "-");
                    others.push(json!({ "name": name, "image": image }));
                }
            }
        }
    }
    [images, others].concat()
}
