//! What the proxy knows of a run: its custom resource, and the kinds of what it created.

use std::{collections::HashSet, sync::Arc};

use axum::http::Method;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    dependents::{Dependents, Key},
    marks,
    memory::Memory,
    owner::Owner,
    status::RecordedKind,
    target::Target,
};

/// A run that uses the proxy.
pub(crate) struct Session {
    pub(crate) owner: Owner,
    /// Whether what it creates is marked.
    pub(crate) marks: bool,
    pub(crate) key: Key,
    pub(crate) dependents: Arc<Dependents>,
    pub(crate) kinds: Arc<Kinds>,
    pub(crate) memory: Arc<Memory>,
}

/// The kinds of what the runs of an object created.
#[derive(Default)]
pub(crate) struct Kinds {
    all: Mutex<Vec<RecordedKind>>,
    /// Is notified when there is another one.
    pub(crate) more: Notify,
    /// The uids of what got the label. Whoever removes it again wins: nobody is to add it forever.
    labelled: Mutex<HashSet<String>>,
}

impl Kinds {
    pub(crate) fn all(&self) -> Vec<RecordedKind> {
        self.all.lock().clone()
    }

    pub(crate) fn extend(&self, kinds: impl IntoIterator<Item = RecordedKind>) {
        let mut all = self.all.lock();
        for kind in kinds {
            if !all.contains(&kind) {
                all.push(kind);
                self.more.notify_one();
            }
        }
    }
}

impl Session {
    /// Notes the answer to a call about one object.
    pub(crate) fn note(&self, target: &Target, method: &Method, object: &Value) {
        if *method == Method::DELETE {
            if let Some(uid) = deleted(object) {
                self.dependents.deleted(&self.key, uid);
            }
            return;
        }
        if !self.owner.owns(object) {
            return;
        }
        self.dependents.wrote(&self.key, object);
        // Tables and mere metadata have kinds of their own.
        let of = object["apiVersion"].as_str().unwrap_or_default();
        if let Some(kind) = object["kind"].as_str()
            && !of.starts_with("meta.k8s.io/")
        {
            self.kinds.extend([target.kind(kind)]);
        }
    }

    /// The patch that adds the label by which objects are watched, if this one is the owner's and lacks it: operator-sdk created it.
    pub(crate) fn label(&self, object: &Value) -> Option<Value> {
        let metadata = &object["metadata"];
        let uid = metadata["uid"].as_str()?;
        let is_whole = !object["apiVersion"].as_str()?.starts_with("meta.k8s.io/");
        let lacks = self.marks
            && is_whole
            && metadata["deletionTimestamp"].is_null()
            && metadata["labels"][marks::CONTROLLER].is_null()
            && self.owner.owns(object)
            && self.kinds.labelled.lock().insert(uid.to_owned());
        // With the uid, the API server refuses it for another object of the name.
        let labels = json!({ marks::CONTROLLER: self.owner.controller });
        lacks.then(|| json!({ "metadata": { "uid": uid, "labels": labels } }))
    }
}

/// The uid in the answer to a deletion: that of the object, or in a status.
pub(crate) fn deleted(answer: &Value) -> Option<&str> {
    let uid = &answer["metadata"]["uid"];
    uid.as_str().or(answer["details"]["uid"].as_str())
}
