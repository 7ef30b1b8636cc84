//! The parts of `config/` that `config/default` may leave out, and a value of the chart turns on.

use std::str::FromStr;

use serde_json::Value;

use super::names::Names;

/// The placeholder for the namespace in `config/`.
const NAMESPACE: &str = "system";

/// A directory of `config/`.
#[derive(Clone, Copy, Debug)]
pub enum Optional {
    Prometheus,
    NetworkPolicy,
}

impl FromStr for Optional {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "prometheus" => Ok(Self::Prometheus),
            "network-policy" => Ok(Self::NetworkPolicy),
            other => Err(format!("no value of the chart turns on `{other}`")),
        }
    }
}

/// These objects as `config/default` would include them: with its prefix, its namespace, and the labels that all of
/// its objects have. Without those that it does include.
pub fn placed(objects: Vec<Value>, included: &[Value], names: &Names) -> Vec<Value> {
    let labels = |object: &Value| object["metadata"]["labels"].as_object().cloned();
    let common = included.iter().filter_map(labels).reduce(|mut all, other| {
        all.retain(|key, value| other.get(key) == Some(value));
        all
    });
    let own: Vec<_> = objects
        .iter()
        .map(|object| object["metadata"]["name"].clone())
        .collect();
    let prefixed = |name: &mut Value| {
        let full = format!("{}{}", names.prefix, name.as_str().unwrap_or_default());
        let is_known = included
            .iter()
            .any(|object| object["metadata"]["name"] == *full);
        if is_known || own.contains(name) {
            *name = full.into();
        }
    };
    let inside = |namespace: Option<&mut Value>| {
        if let Some(namespace) = namespace.filter(|namespace| *namespace == NAMESPACE) {
            *namespace = names.namespace.clone().into();
        }
    };
    let mut placed = objects;
    for object in &mut placed {
        let mut all = labels(object).unwrap_or_default();
        all.extend(common.clone().unwrap_or_default());
        object["metadata"]["labels"] = all.into();
        prefixed(&mut object["metadata"]["name"]);
        inside(object.pointer_mut("/metadata/namespace"));
        // The references of a ServiceMonitor and of a role binding; other kinds in these parts have none.
        let endpoints = object.pointer_mut("/spec/endpoints");
        for endpoint in endpoints
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(name) = endpoint.pointer_mut("/tlsConfig/ca/secret/name") {
                prefixed(name);
            }
        }
        if let Some(name) = object.pointer_mut("/roleRef/name") {
            prefixed(name);
        }
        let subjects = object.get_mut("subjects").and_then(Value::as_array_mut);
        for subject in subjects.into_iter().flatten() {
            if subject["namespace"] == NAMESPACE {
                prefixed(&mut subject["name"]);
            }
            inside(subject.get_mut("namespace"));
        }
    }
    let same = |a: &Value, b: &Value| {
        a["kind"] == b["kind"] && a["metadata"]["name"] == b["metadata"]["name"]
    };
    placed.retain(|object| !included.iter().any(|other| same(object, other)));
    placed
}
