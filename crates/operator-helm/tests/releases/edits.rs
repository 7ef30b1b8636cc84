//! Edits of objects whatever their kind.

use anyhow::{Result, bail};
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams},
};
use serde_json::{Value, json};

/// Fields by which the API server tells the items of lists apart, and those that stand for a choice. An edited item would be another
/// one, which nobody but its editor owns.
const KEYS: [&str; 12] = [
    "apiVersion",
    "kind",
    "name",
    "namespace",
    "port",
    "containerPort",
    "protocol",
    "mountPath",
    "topologyKey",
    "key",
    "type",
    "ip",
];

/// What is filled in when the object is created, or by its controller.
const FILLED_IN: [&str; 5] = [
    "clusterIP",
    "clusterIPs",
    "nodePort",
    "healthCheckNodePort",
    "caBundle",
];

/// The object without its status, and without what is filled in.
pub fn content(object: &DynamicObject) -> Result<Value> {
    let mut content = serde_json::to_value(object)?;
    let annotations = object.metadata.annotations.iter().flatten();
    let of_chart = annotations.filter(|it| !it.0.contains("deployment.kubernetes.io/"));
    let of_chart = of_chart.filter(|it| !it.0.starts_with("deprecated.daemonset"));
    content["metadata"] = json!({
        "labels": object.metadata.labels,
        "annotations": of_chart.collect::<std::collections::BTreeMap<_, _>>(),
        "ownerReferences": object.metadata.owner_references,
    });
    content["status"] = Value::Null;
    strip(&mut content);
    Ok(content)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(all) => {
            all.retain(|key, _| !FILLED_IN.contains(&key.as_str()));
            all.values_mut().for_each(strip);
        }
        Value::Array(all) => all.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Changes a field of an object that the release owns: the first one that the API server lets anybody change, and a label if there is
/// none.
///
/// # Errors
/// It has no such field.
pub async fn edit(api: &Api<DynamicObject>, name: &str) -> Result<String> {
    let object = api.get(name).await?;
    let value = serde_json::to_value(&object)?;
    let owned = object.metadata.managed_fields.iter().flatten();
    let owned = owned.filter(|it| it.operation.as_deref() == Some("Apply"));
    let owned = owned.filter_map(|it| it.fields_v1.clone()).next();
    let owned = owned.map(|it| it.0).unwrap_or_default();
    let mut edits = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let own = &owned[format!("f:{key}")];
        if !["apiVersion", "kind", "metadata", "status"].contains(&key.as_str()) && !own.is_null() {
            leaves(&format!("/{}", escaped(key)), value, own, &mut edits);
        }
    }
    let labels = object.metadata.labels.iter().flatten();
    for (label, _) in labels.filter(|it| !it.0.starts_with("operator-helm/")) {
        edits.push((
            format!("/metadata/labels/{}", escaped(label)),
            json!("edited"),
        ));
    }
    // A label that watches select by.
    edits.push((
        "/metadata/labels/operator-helm~1controller".to_owned(),
        json!("edited"),
    ));
    let mut refused = None;
    for (path, value) in edits {
        let patch = json!([{ "op": "replace", "path": path, "value": value }]);
        let patch = Patch::<()>::Json(serde_json::from_value(patch)?);
        match api.patch(name, &PatchParams::default(), &patch).await {
            Ok(now) if now.metadata.resource_version == object.metadata.resource_version => {}
            Ok(_) => return Ok(path),
            Err(kube::Error::Api(status)) if status.is_conflict() => bail!("{status:?}"),
            Err(error) => refused = Some(error),
        }
    }
    bail!("no field can be edited: {refused:?}")
}

/// Other values for the fields of a value that somebody owns, by their JSON pointers. Of long lists, only the first items.
fn leaves(path: &str, value: &Value, owned: &Value, edits: &mut Vec<(String, Value)>) {
    let is_whole = owned.as_object().is_some_and(|it| it.is_empty());
    match value {
        Value::Object(all) => {
            for (key, value) in all {
                let own = &owned[format!("f:{key}")];
                let is_key = KEYS.contains(&key.as_str());
                if !is_key && (is_whole || !own.is_null()) {
                    let own = if is_whole { owned } else { own };
                    leaves(&format!("{path}/{}", escaped(key)), value, own, edits);
                }
            }
        }
        // Of a list that is owned as a whole, each item is.
        Value::Array(all) if is_whole => {
            for (at, value) in all.iter().enumerate().take(3) {
                leaves(&format!("{path}/{at}"), value, owned, edits);
            }
        }
        Value::Array(_) | Value::Null => {}
        Value::Bool(value) => edits.push((path.to_owned(), json!(!value))),
        Value::Number(value) => {
            let other = value.as_i64().map(|it| it + 1);
            edits.extend(other.map(|other| (path.to_owned(), json!(other))));
        }
        Value::String(value) => edits.push((path.to_owned(), json!(format!("{value}x")))),
    }
}

/// A key in a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
