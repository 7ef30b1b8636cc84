//! What an object was before it sent the API server here: kept in an annotation, for this run or, if it
//! is killed, for the next one.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry};
use kube::api::{ApiResource, DynamicObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Where it is kept.
const BEFORE: &str = "webhooks-from-here/before";

/// By this annotation, cert-manager publishes its own CA in an object, over ours.
const INJECT: &str = "cert-manager.io/inject-";

/// An object as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Before {
    /// Whether the object was made for the run, and is deleted after it.
    made: bool,
    /// What [`content`] was.
    content: Value,
    /// The annotations that were taken away.
    annotations: BTreeMap<String, String>,
    managed_fields: Vec<ManagedFieldsEntry>,
}

/// How to end a redirection.
#[derive(Debug, PartialEq)]
pub(super) enum Undo {
    /// Somebody else has ended it.
    Nothing,
    /// The object is not needed any more.
    Delete,
    /// The object is as it was, and its fields belong to these.
    Replace(Vec<ManagedFieldsEntry>),
}

/// A configuration that was not there, with these webhooks.
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

/// Makes the object send the API server where `wanted` says. Returns what it was before.
pub(super) fn redirect(object: &mut DynamicObject, wanted: &Value) -> Before {
    let mut before = Before::found(object).unwrap_or_else(|| Before::of(object));
    let deployed = before.content.as_array();
    let deployed = deployed.map_or(&[][..], Vec::as_slice);
    let mut wanted = wanted.clone();
    for webhook in wanted.as_array_mut().into_iter().flatten() {
        // What else a deployment has changed, such as a selector, stays.
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

/// Gives what `manager` has changed to whoever had applied the object, so that applying it again takes
/// it away. Returns whether somebody had.
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

/// Makes the object what it was, if it still sends the API server to `url` with this CA.
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

    /// What a run has left that did not put it back. If nothing leads to a URL any more, somebody
    /// has, in another way.
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

/// The part that says where the API server is sent: the webhooks of a configuration, or the conversion
/// of a CRD.
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
