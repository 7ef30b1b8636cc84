//! The content of an object before its redirection, kept in an annotation: for this run or, if it is
//! killed, for the next one.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry};
use kube::api::{ApiResource, DynamicObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The annotation with the previous content.
const BEFORE: &str = "webhooks-from-here/before";

/// The prefix of the annotations by which cert-manager would overwrite the caBundle.
const INJECT: &str = "cert-manager.io/inject-";

/// The previous state of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Before {
    /// Whether the object was created for the run, and is deleted after it.
    made: bool,
    /// The previous [`content`].
    content: Value,
    /// The removed annotations.
    annotations: BTreeMap<String, String>,
    managed_fields: Vec<ManagedFieldsEntry>,
}

/// The way to end a redirection.
#[derive(Debug, PartialEq)]
pub(super) enum Undo {
    /// Nothing: the redirection was already ended.
    Nothing,
    /// Delete the object, which was created for the run.
    Delete,
    /// Replace the object, with these field managers.
    Replace(Vec<ManagedFieldsEntry>),
}

/// A new configuration with these webhooks.
pub(super) fn made(name: &str, resource: &ApiResource, wanted: &Value) -> DynamicObject {
    let mut object = DynamicObject::new(name, resource).data(json!({ "webhooks": wanted }));
    let before = Before {
        made: true,
        content: Value::Null,
        annotations: BTreeMap::new(),
        managed_fields: Vec::new(),
    };
    before.keep(&mut object);
    object
}

/// Redirects the object to the addresses in `wanted`. Returns the previous state.
pub(super) fn redirect(object: &mut DynamicObject, wanted: &Value) -> Before {
    let mut before = Before::found(object).unwrap_or_else(|| Before::of(object));
    let deployed = before.content.as_array();
    let deployed = deployed.map_or(&[][..], Vec::as_slice);
    let mut wanted = wanted.clone();
    for webhook in wanted.as_array_mut().into_iter().flatten() {
        // Other changes of a deployment, such as a selector, stay.
        let same = |other: &&Value| other["name"] == webhook["name"];
        if let Some(deployed) = deployed.iter().find(same) {
            let client = webhook["clientConfig"].take();
            *webhook = deployed.clone();
            webhook["clientConfig"] = client;
        }
    }
    *content(object) = wanted;
    let annotations = object.metadata.annotations.take().unwrap_or_default();
    let (taken, left) = annotations
        .into_iter()
        .partition(|(name, _)| name.starts_with(INJECT));
    before.annotations.extend::<BTreeMap<_, _>>(taken);
    object.metadata.annotations = Some(left);
    before.keep(object);
    before
}

/// Transfers the changes of `manager` to the manager that applied the object, so that applying it again
/// removes them. Returns whether there was an applier.
pub(super) fn release(object: &mut DynamicObject, manager: &str, before: &Before) -> bool {
    let applies = |entry: &&ManagedFieldsEntry| {
        entry.operation.as_deref() == Some("Apply") && entry.subresource.is_none()
    };
    let fields = |entry: &&ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref();
        fields.is_some_and(|fields| fields.0.to_string().contains("\"f:clientConfig\""))
    };
    let mut entries = before.managed_fields.iter().filter(applies);
    let Some(applier) = entries.find(fields).map(|entry| &entry.manager) else {
        return false;
    };
    let entries = object.metadata.managed_fields.get_or_insert_default();
    let ours = |entry: &ManagedFieldsEntry| entry.manager.as_deref() == Some(manager);
    let Some(index) = entries.iter().position(ours) else {
        return false;
    };
    let given = entries.remove(index).fields_v1;
    let same = |entry: &&mut ManagedFieldsEntry| applies(&&**entry) && entry.manager == *applier;
    let taker = entries.iter_mut().find(same);
    let (Some(given), Some(taker)) = (given, taker.and_then(|taker| taker.fields_v1.as_mut()))
    else {
        return false;
    };
    merge(&mut taker.0, given.0);
    true
}

/// Restores the object, if it still points at `url` with this CA.
pub(super) fn undo(object: &mut DynamicObject, url: &str, ca: &ByteString) -> Undo {
    let ca = json!(ca);
    let leads = |client: &Value| {
        let to = client["url"].as_str();
        to.is_some_and(|to| to.starts_with(url)) && client["caBundle"] == ca
    };
    if !clients(content(object)).into_iter().any(leads) {
        return Undo::Nothing;
    }
    let Some(before) = Before::found(object) else {
        return Undo::Nothing;
    };
    if before.made {
        return Undo::Delete;
    }
    *content(object) = before.content;
    let mut annotations = object.metadata.annotations.take().unwrap_or_default();
    annotations.remove(BEFORE);
    annotations.extend(before.annotations);
    object.metadata.annotations = Some(annotations).filter(|annotations| !annotations.is_empty());
    Undo::Replace(before.managed_fields)
}

impl Before {
    fn of(object: &mut DynamicObject) -> Self {
        let managed_fields = object.metadata.managed_fields.clone();
        Self {
            made: false,
            content: content(object).clone(),
            annotations: BTreeMap::new(),
            managed_fields: managed_fields.unwrap_or_default(),
        }
    }

    /// The previous state left by a killed run. `None` if no webhook points at a URL any more: the object
    /// was restored in another way.
    fn found(object: &mut DynamicObject) -> Option<Self> {
        let text = object.metadata.annotations.as_ref()?.get(BEFORE)?;
        let found = serde_json::from_str(text).ok()?;
        let clients = clients(content(object));
        let led = clients.into_iter().any(|client| client["url"].is_string());
        led.then_some(found)
    }

    fn keep(&self, object: &mut DynamicObject) {
        let annotations = object.metadata.annotations.get_or_insert_default();
        annotations.insert(BEFORE.to_owned(), json!(self).to_string());
    }
}

/// The part with the webhook addresses: the webhooks of a configuration, or the conversion of a CRD.
fn content(object: &mut DynamicObject) -> &mut Value {
    match object.data.get("spec") {
        Some(_) => &mut object.data["spec"]["conversion"],
        None => &mut object.data["webhooks"],
    }
}

fn clients(content: &Value) -> Vec<&Value> {
    match content.as_array() {
        Some(webhooks) => webhooks
            .iter()
            .map(|webhook| &webhook["clientConfig"])
            .collect(),
        None => vec![&content["webhook"]["clientConfig"]],
    }
}

/// Adds the fields of another set.
fn merge(fields: &mut Value, others: Value) {
    if let (Value::Object(fields), Value::Object(others)) = (fields, others) {
        for (name, other) in others {
            merge(fields.entry(name).or_insert_with(|| json!({})), other);
        }
    }
}
