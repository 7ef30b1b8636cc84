//! A reconcile that failed, and how its object shows it.

use std::{any::Any, collections::HashMap, error::Error};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::Status;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    apply::conditions,
    cache::{Key, Stored},
    error::{chain, refusal},
    object::TypedObject,
};

/// What a reconcile function fails with.
pub trait ReconcileError: Error + Send + Sync + 'static {
    /// What went wrong, in one CamelCase word from a small fixed set, without names or messages: it
    /// is meant for logs, metrics and the reason of a condition.
    fn reason(&self) -> &'static str;

    /// Whether to wait for a change instead of trying again.
    fn is_terminal(&self) -> bool {
        false
    }
}

impl ReconcileError for kube::Error {
    fn reason(&self) -> &'static str {
        "ApiCallFailed"
    }
}

/// What fits into a condition's message and still can be read.
const MESSAGE: usize = 1024;

/// Why an object was not reconciled.
pub(super) struct Failure {
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) terminal: bool,
    /// The API server had a newer version: common, and gone with the next try.
    pub(super) conflict: bool,
}

impl Failure {
    pub(super) fn of<E: ReconcileError>(error: E) -> Self {
        Self {
            reason: error.reason(),
            message: chain(&error),
            terminal: error.is_terminal(),
            conflict: is_conflict(&error),
        }
    }

    pub(super) fn new(reason: &'static str, message: String) -> Self {
        Self {
            reason,
            message,
            terminal: false,
            conflict: false,
        }
    }

    /// Each source has one type, so this cannot be.
    pub(super) fn mixed_up() -> Self {
        Self::new("WrongType", "the object is of another type".to_owned())
    }

    /// The message, cut to what a condition takes.
    pub(super) fn short_message(&self) -> String {
        self.message.chars().take(MESSAGE).collect()
    }
}

fn is_conflict(error: &(dyn Error + 'static)) -> bool {
    match refusal(error) {
        Some(status) => status.is_conflict() && !is_about_managers(status),
        None => error.source().is_some_and(is_conflict),
    }
}

/// A conflict with another field manager does not go away by itself.
fn is_about_managers(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    causes.any(|cause| cause.reason == "FieldManagerConflict")
}

/// Which failures objects show already, although the watch may not have told of it: a retry that
/// comes sooner sees the object as it was.
#[derive(Default)]
pub(super) struct Shown(Mutex<HashMap<Key, (String, &'static str)>>);

impl Shown {
    /// Whether this reason was shown, and the object is still the one of before that.
    pub(super) fn has(&self, key: &Key, version: Option<&str>, reason: &str) -> bool {
        let shown = self.0.lock();
        let found = shown.get(key);
        found.is_some_and(|(before, shown)| Some(&**before) == version && *shown == reason)
    }

    pub(super) fn note(&self, key: &Key, version: Option<&str>, reason: &'static str) {
        let version = version.unwrap_or_default().to_owned();
        self.0.lock().insert(key.clone(), (version, reason));
    }

    pub(super) fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
    }
}

/// The patch that gives an object a condition; none if the object says the same already, or if its
/// type has no conditions.
pub(super) type Report = fn(&dyn Stored, Condition) -> Option<Value>;

pub(super) fn report<K: TypedObject>(object: &dyn Stored, condition: Condition) -> Option<Value> {
    let object: &dyn Any = object;
    let object: &K = object.downcast_ref()?;
    let mut value = serde_json::to_value(object).ok()?;
    let mut list: Vec<Condition> = match value.pointer("/status/conditions") {
        Some(list) => Deserialize::deserialize(list).ok()?,
        None => Vec::new(),
    };
    let same = |old: &Condition| {
        old.type_ == condition.type_
            && old.status == condition.status
            && old.reason == condition.reason
            && old.observed_generation == condition.observed_generation
    };
    if list.iter().any(same) {
        return None;
    }
    conditions::set(&mut list, condition);
    let list = serde_json::to_value(list).ok()?;
    if !value["status"].is_object() {
        value["status"] = json!({});
    }
    value["status"]["conditions"] = list.clone();
    // A type that has no conditions drops them here.
    let kept = serde_json::to_value(K::deserialize(value).ok()?).ok()?;
    kept.pointer("/status/conditions")?;
    Some(json!({
        "metadata": { "resourceVersion": object.meta().resource_version },
        "status": { "conditions": list },
    }))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Service};
    use serde_json::from_value;

    use super::*;

    fn condition(type_: &str, status: &str, reason: &str, second: u8) -> Value {
        json!({
            "type": type_,
            "status": status,
            "reason": reason,
            "message": "",
            "observedGeneration": 1,
            "lastTransitionTime": format!("2030-01-01T00:00:{second:02}Z"),
        })
    }

    /// The conditions after a failure for the reason `New`, at the second 9.
    fn reported<K: TypedObject>(status: &Value) -> Option<Value> {
        let metadata = json!({ "name": "a", "resourceVersion": "7" });
        let object = json!({ "metadata": metadata, "status": status });
        let object: K = from_value(object).unwrap();
        let failure = from_value(condition("Ready", "False", "New", 9)).unwrap();
        let mut patch = report::<K>(&object, failure)?;
        assert_eq!(patch["metadata"], json!({ "resourceVersion": "7" }));
        Some(patch["status"]["conditions"].take())
    }

    #[test]
    fn a_failure_is_reported_once_for_each_reason() {
        let other = condition("Other", "True", "Old", 1);
        let new = |second| condition("Ready", "False", "New", second);
        for (conditions, expected) in [
            (json!([]), Some(json!([new(9)]))),
            (json!([new(1)]), None),
            // It was not ready before, for another reason.
            (
                json!([condition("Ready", "False", "Old", 1)]),
                Some(json!([new(1)])),
            ),
            (
                json!([other, condition("Ready", "True", "Old", 1)]),
                Some(json!([other, new(9)])),
            ),
        ] {
            let status = json!({ "conditions": conditions });
            assert_eq!(reported::<Service>(&status), expected, "{conditions}");
        }
        let mut older = new(1);
        older["observedGeneration"] = 0.into();
        let status = json!({ "conditions": [older] });
        assert_eq!(reported::<Service>(&status), Some(json!([new(1)])));
        assert_eq!(reported::<Service>(&Value::Null), Some(json!([new(9)])));
    }

    #[test]
    fn a_type_without_conditions_shows_no_failure() {
        assert_eq!(reported::<ConfigMap>(&Value::Null), None);
    }

    #[test]
    fn a_failure_is_shown_again_when_the_object_is_another_version() {
        let (shown, key) = (Shown::default(), Key::new(None, "a"));
        assert!(!shown.has(&key, Some("1"), "Told"));
        shown.note(&key, Some("1"), "Told");
        assert!(shown.has(&key, Some("1"), "Told"));
        assert!(!shown.has(&key, Some("1"), "Other"));
        assert!(!shown.has(&key, Some("2"), "Told"));
        shown.forget(&key);
        assert!(!shown.has(&key, Some("1"), "Told"));
    }

    #[derive(Debug, thiserror::Error)]
    enum Reconcile {
        #[error(transparent)]
        Transparent(kube::Error),
        #[error("cannot apply")]
        Told(#[source] kube::Error),
    }

    #[test]
    fn conflicts_are_found_in_the_errors_of_users() {
        let refused = |reason| {
            let code = if reason == "Conflict" { 409 } else { 403 };
            let status = Status::failure("not now", reason).with_code(code);
            kube::Error::Api(status.boxed())
        };
        for (reason, expected) in [("Conflict", true), ("Forbidden", false)] {
            assert_eq!(is_conflict(&refused(reason)), expected);
            assert_eq!(
                is_conflict(&Reconcile::Transparent(refused(reason))),
                expected
            );
            assert_eq!(is_conflict(&Reconcile::Told(refused(reason))), expected);
        }
    }
}
