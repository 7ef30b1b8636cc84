//! The last apply of each object, which shows whether the object is unchanged.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use kube::api::ObjectMeta;
use serde_json::Value;

use crate::cache::Key;

/// The newest known metadata of an applied object.
///
/// It has no spec and no status. For a cached type, read them from its [`Store`](crate::Store).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Whether a request was sent; false if the object is unchanged since the last apply.
    pub sent: bool,
    /// The uid of the object.
    pub uid: Option<String>,
    /// The generation, which counts changes of the spec. Types such as ConfigMap have none.
    pub generation: Option<i64>,
    /// The newest known version: of the last apply, or of the watch if the watch is ahead.
    pub resource_version: Option<String>,
}

impl Applied {
    pub(super) fn of(meta: &ObjectMeta, sent: bool) -> Self {
        Self {
            sent,
            uid: meta.uid.clone(),
            generation: meta.generation,
            resource_version: meta.resource_version.clone(),
        }
    }
}

/// The last apply of an object.
pub(super) struct Record {
    /// The hash of the sent JSON.
    pub(super) hash: u64,
    answer: Applied,
    at: Instant,
}

/// The time within which a watch should show an apply.
const LAG: Duration = Duration::from_secs(60);

/// A counter that increases with every change, except of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Generation(i64),
    /// The resource version, for types without generations.
    Version(u128),
    Unknown,
}

impl Mark {
    fn of(object: &Applied) -> Self {
        let version = || object.resource_version.as_ref()?.parse().ok();
        match object.generation {
            Some(generation) => Self::Generation(generation),
            None => version().map_or(Self::Unknown, Self::Version),
        }
    }

    /// Whether this mark is not newer than `other`.
    fn is_no_later_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Generation(own), Self::Generation(other)) => own <= other,
            (Self::Version(own), Self::Version(other)) => own <= other,
            _ => false,
        }
    }
}

/// The field manager, `plural.group/version`, and the object's key.
pub(super) type Id = (Arc<str>, String, Key);

/// The last apply of each object by each field manager.
#[derive(Default)]
pub(super) struct Records {
    last: HashMap<Id, Option<Record>>,
    managers: BTreeSet<Arc<str>>,
}

impl Records {
    pub(super) fn get(&self, id: &Id) -> Option<&Record> {
        self.last.get(id)?.as_ref()
    }

    /// Announces an apply. A deletion that the watch shows before the response arrives cancels it.
    pub(super) fn expect(&mut self, id: &Id) {
        self.managers.insert(id.0.clone());
        self.last.insert(id.clone(), None);
    }

    /// Records an apply that was announced.
    pub(super) fn note(&mut self, id: &Id, record: Record) {
        if let Some(last) = self.last.get_mut(id) {
            *last = Some(record);
        }
    }

    pub(super) fn remove(&mut self, id: &Id) {
        self.last.remove(id);
    }

    /// Forgets the applies of an object by all field managers.
    pub(super) fn forget(&mut self, kind: &str, key: &Key) {
        for manager in &self.managers {
            let id = (manager.clone(), kind.to_owned(), key.clone());
            self.last.remove(&id);
        }
    }
}

impl Record {
    pub(super) fn new(hash: u64, answer: Applied) -> Self {
        Self {
            hash,
            answer,
            at: Instant::now(),
        }
    }

    /// The newest known metadata of an object that was not sent.
    pub(super) fn newest(&self, found: Option<&ObjectMeta>) -> Applied {
        let version = |of: &Applied| of.resource_version.as_ref()?.parse::<u128>().ok();
        let found = found.map(|found| Applied::of(found, false));
        let newer = found.filter(|found| version(found) > version(&self.answer));
        newer.unwrap_or_else(|| Applied {
            sent: false,
            ..self.answer.clone()
        })
    }

    /// Whether the object is unchanged since the apply. `found` may be older than the apply.
    pub(super) fn holds(&self, found: Option<&ObjectMeta>, desired: &ObjectMeta) -> bool {
        let Some(found) = found else {
            // Not in the cache yet: a deletion shown by the watch would have removed this record.
            return self.at.elapsed() < LAG;
        };
        found.uid == self.answer.uid
            && Mark::of(&Applied::of(found, false)).is_no_later_than(Mark::of(&self.answer))
            && matches!(
                (serde_json::to_value(found), serde_json::to_value(desired)),
                (Ok(found), Ok(desired)) if has(&found, &desired)
            )
    }
}

/// Whether `found` has everything of `desired`, with each element of a list somewhere in the list.
fn has(found: &Value, desired: &Value) -> bool {
    match desired {
        Value::Null => true,
        Value::Object(desired) => desired.iter().all(|(key, value)| has(&found[key], value)),
        Value::Array(desired) => {
            let found = found.as_array().map_or(&[][..], Vec::as_slice);
            let mut desired = desired.iter();
            desired.all(|value| found.iter().any(|found| has(found, value)))
        }
        desired => found == desired,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    fn meta(value: &Value) -> ObjectMeta {
        from_value(value.clone()).unwrap()
    }

    /// Whether the record of `applied` holds when the watch shows `applied` with `change`.
    fn holds(applied: &Value, change: Value) -> bool {
        let mut found = applied.clone();
        for (key, value) in change.as_object().unwrap() {
            found[key] = value.clone();
        }
        let record = Record::new(0, Applied::of(&meta(applied), true));
        let mut desired = applied.clone();
        for key in ["uid", "generation", "resourceVersion"] {
            desired.as_object_mut().unwrap().remove(key);
        }
        record.holds(Some(&meta(&found)), &meta(&desired))
    }

    #[test]
    fn a_record_holds_until_more_than_the_status_changes() {
        let owner = |uid, controller: bool| {
            json!([{
                "apiVersion": "v1", "kind": "A", "name": "a", "uid": uid,
                "controller": controller, "blockOwnerDeletion": true,
            }])
        };
        let mut unblocked = owner("o", true);
        unblocked[0]["blockOwnerDeletion"] = false.into();
        let mut more = owner("o", true);
        more.as_array_mut()
            .unwrap()
            .insert(0, owner("p", false)[0].clone());
        let applied = json!({
            "uid": "u",
            "generation": 2,
            "resourceVersion": "20",
            "labels": { "a": "b" },
            "annotations": { "c": "d" },
            "finalizers": ["f", "g"],
            "ownerReferences": owner("o", true),
        });
        for (change, expected) in [
            (json!({}), true),
            (json!({ "resourceVersion": "21" }), true),
            (json!({ "generation": 1, "resourceVersion": "19" }), true),
            (json!({ "generation": 3, "resourceVersion": "21" }), false),
            (json!({ "uid": "other" }), false),
            (json!({ "labels": { "a": "b", "more": "x" } }), true),
            (json!({ "labels": { "a": "x" } }), false),
            (json!({ "labels": null }), false),
            (json!({ "annotations": {} }), false),
            (json!({ "ownerReferences": more }), true),
            (json!({ "ownerReferences": owner("other", true) }), false),
            (json!({ "ownerReferences": owner("o", false) }), false),
            (json!({ "ownerReferences": unblocked }), false),
            (json!({ "ownerReferences": null }), false),
            (json!({ "finalizers": ["h", "g", "f"] }), true),
            (json!({ "finalizers": ["f"] }), false),
            (json!({ "finalizers": null }), false),
        ] {
            assert_eq!(holds(&applied, change.clone()), expected, "{change}");
        }
    }

    #[test]
    fn the_newest_known_version_is_returned() {
        let versions = |version: &str| meta(&json!({ "uid": "u", "resourceVersion": version }));
        let record = Record::new(0, Applied::of(&versions("20"), true));
        for (found, expected) in [(None, "20"), (Some("19"), "20"), (Some("21"), "21")] {
            let newest = record.newest(found.map(versions).as_ref());
            assert_eq!(newest, Applied::of(&versions(expected), false), "{found:?}");
        }
    }

    #[test]
    fn a_record_without_generation_holds_until_a_newer_version() {
        let applied = json!({ "uid": "u", "resourceVersion": "99" });
        for (version, expected) in [
            (json!("98"), true),
            (json!("99"), true),
            (json!("100"), false),
            // Versions that cannot be compared.
            (json!("x"), false),
            (Value::Null, false),
        ] {
            let change = json!({ "resourceVersion": version });
            assert_eq!(holds(&applied, change), expected, "{version}");
        }
        assert!(!holds(&json!({ "uid": "u" }), json!({})));
    }

    #[test]
    fn a_record_holds_for_a_minute_before_the_watch_shows_the_object() {
        let mut applied = Record {
            hash: 0,
            answer: Applied::of(&meta(&json!({ "uid": "u" })), true),
            at: Instant::now(),
        };
        assert!(applied.holds(None, &ObjectMeta::default()));
        // So long ago that the watch must have missed it.
        applied.at -= LAG;
        assert!(!applied.holds(None, &ObjectMeta::default()));
    }
}
