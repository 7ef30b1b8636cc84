//! What runs created: which changes of it are those of runs, and which are those of somebody else, who causes another run.

use std::collections::{BTreeMap, HashMap, HashSet};

use kube::api::DynamicObject;
use parking_lot::Mutex;
use serde::Deserialize as _;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The namespace, if any, and the name of a custom resource.
pub(crate) type Key = (Option<String>, String);

/// What is known of the dependents of the objects of a kind.
#[derive(Default)]
pub(crate) struct Dependents(Mutex<All>);

#[derive(Default)]
struct All {
    /// The digests of dependents as the watches last showed them, by their uids.
    shown: HashMap<String, [u8; 32]>,
    owners: HashMap<Key, Known>,
}

#[derive(Default)]
struct Known {
    is_running: bool,
    /// The newest versions that runs wrote or read, and their digests, by uids.
    versions: HashMap<String, (u128, [u8; 32])>,
    /// The uids of what runs deleted.
    deleted: HashSet<String>,
    /// Changes that were shown during a run. Which of them are its own is known at its end.
    pending: Vec<Change>,
    /// Whether somebody else changed something since the last run began.
    has_changed: bool,
}

#[derive(Debug)]
struct Change {
    uid: String,
    /// The version; `None` for a deletion.
    version: Option<u128>,
}

impl Known {
    fn is_foreign(&self, change: &Change) -> bool {
        match change.version {
            None => !self.deleted.contains(&change.uid),
            Some(version) => self
                .versions
                .get(&change.uid)
                .is_none_or(|(known, _)| version > *known),
        }
    }

    /// Returns whether the change causes a run now.
    fn note(&mut self, change: Change) -> bool {
        if self.is_running {
            self.pending.push(change);
            return false;
        }
        let is_foreign = self.is_foreign(&change);
        if change.version.is_none() {
            self.deleted.remove(&change.uid);
            self.versions.remove(&change.uid);
        }
        self.has_changed |= is_foreign;
        is_foreign
    }
}

impl Dependents {
    /// A run begins.
    pub(crate) fn begin(&self, key: &Key) {
        let mut all = self.0.lock();
        let known = all.owners.entry(key.clone()).or_default();
        known.is_running = true;
        known.has_changed = false;
    }

    /// A run ended.
    pub(crate) fn end(&self, key: &Key) {
        let mut all = self.0.lock();
        let Some(known) = all.owners.get_mut(key) else {
            return;
        };
        known.is_running = false;
        for change in std::mem::take(&mut known.pending) {
            known.note(change);
        }
    }

    /// Whether somebody else changed a dependent since the last run began.
    pub(crate) fn has_changed(&self, key: &Key) -> bool {
        let all = self.0.lock();
        all.owners.get(key).is_some_and(|known| known.has_changed)
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.0.lock().owners.remove(key);
    }

    /// A run wrote or read this object.
    pub(crate) fn wrote(&self, key: &Key, object: &Value) {
        let metadata = &object["metadata"];
        let version = metadata["resourceVersion"]
            .as_str()
            .and_then(|it| it.parse().ok());
        let (Some(uid), Some(version)) = (metadata["uid"].as_str(), version) else {
            return;
        };
        let Ok(object) = DynamicObject::deserialize(object) else {
            return;
        };
        let mut all = self.0.lock();
        let known = all.owners.entry(key.clone()).or_default();
        let newest = known.versions.entry(uid.to_owned()).or_default();
        if version >= newest.0 {
            *newest = (version, digest(&object));
        }
    }

    /// A digest of what runs wrote or read.
    pub(crate) fn known(&self, key: &Key) -> String {
        let all = self.0.lock();
        let versions = all.owners.get(key).map(|known| &known.versions);
        let all = versions.into_iter().flatten();
        combined(
            all.map(|(uid, (_, digest))| (uid.clone(), *digest))
                .collect(),
        )
    }

    /// A digest of objects, which equals that of [`known`](Self::known) if nobody changed them.
    pub(crate) fn digest<'a>(objects: impl Iterator<Item = &'a DynamicObject>) -> String {
        let all = objects.map(|it| (it.metadata.uid.clone().unwrap_or_default(), digest(it)));
        combined(all.collect())
    }

    /// A run deleted the object with this uid.
    pub(crate) fn deleted(&self, key: &Key, uid: &str) {
        let mut all = self.0.lock();
        let known = all.owners.entry(key.clone()).or_default();
        known.deleted.insert(uid.to_owned());
        known.versions.remove(uid);
    }

    /// A watch shows an object; returns whether that causes a run. What is new causes none, and neither does a change of the status.
    pub(crate) fn shows(&self, key: &Key, object: &DynamicObject) -> bool {
        let metadata = &object.metadata;
        let version = metadata
            .resource_version
            .as_ref()
            .and_then(|it| it.parse().ok());
        let (Some(uid), Some(version)) = (&metadata.uid, version) else {
            return false;
        };
        let digest = digest(object);
        let mut all = self.0.lock();
        let before = all.shown.insert(uid.clone(), digest);
        let is_changed = before.is_some_and(|before| before != digest);
        let known = all.owners.entry(key.clone()).or_default();
        is_changed
            && known.note(Change {
                uid: uid.clone(),
                version: Some(version),
            })
    }

    /// A watch shows that an object is gone; returns whether that causes a run.
    pub(crate) fn is_gone(&self, key: &Key, uid: &str) -> bool {
        let mut all = self.0.lock();
        all.shown.remove(uid);
        let known = all.owners.entry(key.clone()).or_default();
        known.note(Change {
            uid: uid.to_owned(),
            version: None,
        })
    }
}

/// A digest of what somebody asks of an object: of all but its status, and what the API server notes. Where the API server counts
/// generations, one stands for the content: controllers of Kubernetes write annotations.
fn digest(object: &DynamicObject) -> [u8; 32] {
    let mut metadata = object.metadata.clone();
    metadata.managed_fields = None;
    metadata.resource_version = None;
    let mut data = object.data.clone();
    if let Some(data) = data.as_object_mut() {
        data.remove("status");
    }
    if metadata.generation.is_some() {
        (metadata.annotations, metadata.labels, data) = (None, None, Value::Null);
    }
    // Writing to memory does not fail.
    let text = serde_json::to_vec(&(metadata, data)).unwrap_or_default();
    Sha256::digest(&text).into()
}

fn combined(digests: BTreeMap<String, [u8; 32]>) -> String {
    let mut hash = Sha256::new();
    for (uid, digest) in digests {
        hash.update(uid);
        hash.update(digest);
    }
    data_encoding::HEXLOWER.encode(&hash.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    fn object(version: &str, data: &str, status: u8) -> DynamicObject {
        let metadata = json!({ "name": "a", "uid": "u", "resourceVersion": version });
        from_value(json!({ "metadata": metadata, "data": data, "status": status })).unwrap()
    }

    fn answer(version: &str) -> Value {
        json!({ "metadata": { "name": "a", "uid": "u", "resourceVersion": version } })
    }

    fn key() -> Key {
        (Some("ns".to_owned()), "sample".to_owned())
    }

    #[test]
    fn what_a_run_writes_causes_no_run_whichever_comes_first() {
        let dependents = Dependents::default();
        dependents.begin(&key());
        assert!(!dependents.shows(&key(), &object("1", "a", 0)));
        // The watch shows a write before the answer to it has come.
        assert!(!dependents.shows(&key(), &object("2", "b", 0)));
        dependents.wrote(&key(), &answer("2"));
        dependents.wrote(&key(), &answer("3"));
        dependents.end(&key());
        assert!(!dependents.has_changed(&key()));
        assert!(!dependents.shows(&key(), &object("3", "c", 0)));
        assert!(!dependents.has_changed(&key()));
    }

    #[test]
    fn what_somebody_else_writes_causes_a_run() {
        let dependents = Dependents::default();
        dependents.wrote(&key(), &answer("1"));
        assert!(!dependents.shows(&key(), &object("1", "a", 0)));
        // A status is no reason.
        assert!(!dependents.shows(&key(), &object("2", "a", 1)));
        assert!(dependents.shows(&key(), &object("3", "b", 1)));
        assert!(dependents.has_changed(&key()));
        dependents.begin(&key());
        assert!(!dependents.has_changed(&key()));
        // During the run, and not by it.
        dependents.shows(&key(), &object("4", "c", 1));
        dependents.end(&key());
        assert!(dependents.has_changed(&key()));
    }

    #[test]
    fn a_deletion_causes_a_run_unless_a_run_did_it() {
        let dependents = Dependents::default();
        dependents.begin(&key());
        dependents.deleted(&key(), "u");
        dependents.is_gone(&key(), "u");
        dependents.end(&key());
        assert!(!dependents.has_changed(&key()));
        assert!(dependents.is_gone(&key(), "v"));
        assert!(dependents.has_changed(&key()));
    }
}
