//! Failed reconciles, and how objects report them.

use std::{any::Any, collections::HashMap, error::Error};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::{DynamicObject, Status};
use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    apply::status,
    cache::{Key, Stored},
    error::{chain, refusal},
    object::TypedObject,
};

/// The error of a reconcile function: a type with [`Error`], or `anyhow::Error` with the feature `anyhow`.
pub trait ReconcileError: Into<Box<dyn Error + Send + Sync>> + Send + Sync + 'static {
    /// The kind of error, as one CamelCase word from a small fixed set, without names or messages. It
    /// appears in logs, in metrics, and as the reason of a condition.
    fn reason(&self) -> &'static str;

    /// Whether to wait for a change instead of retrying.
    fn is_terminal(&self) -> bool {
        false
    }

    /// The error itself, which a downcast finds.
    #[doc(hidden)]
    fn into_error(self) -> Box<dyn Error + Send + Sync> {
        self.into()
    }
}

/// The reason is `ApiCallFailed` if a [`kube::Error`] caused the error, and `ReconcileFailed` otherwise. For
/// other reasons, or for an error that no retry solves, define an error type.
#[cfg(feature = "anyhow")]
impl ReconcileError for anyhow::Error {
    fn reason(&self) -> &'static str {
        match self.chain().any(|error| error.is::<kube::Error>()) {
            true => "ApiCallFailed",
            false => "ReconcileFailed",
        }
    }

    fn into_error(self) -> Box<dyn Error + Send + Sync> {
        self.reallocate_into_boxed_dyn_error_without_backtrace()
    }
}

impl ReconcileError for kube::Error {
    fn reason(&self) -> &'static str {
        "ApiCallFailed"
    }
}

/// The maximum length of a condition's message, in bytes, for readability.
const MESSAGE: usize = 1024;

/// A failed reconcile.
pub(super) struct Failure {
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) terminal: bool,
    /// The object had a newer version (409): common, and resolved by the next try.
    pub(super) conflict: bool,
}

impl Failure {
    pub(super) fn of<E: ReconcileError>(error: E) -> Self {
        let (reason, terminal) = (error.reason(), error.is_terminal());
        let error = error.into_error();
        Self {
            reason,
            message: chain(&*error),
            terminal,
            conflict: is_conflict(&*error),
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

    /// The error for an object of another type. Each source has one type, so this never happens.
    pub(super) fn mixed_up() -> Self {
        Self::new("WrongType", "the object is of another type".to_owned())
    }

    /// The message, cut to the length for a condition.
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

/// Whether the conflict is with another field manager, which a retry does not resolve.
fn is_about_managers(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    causes.any(|cause| cause.reason == "FieldManagerConflict")
}

/// The failures that objects already report, although the watch may not show it yet: an early retry still
/// sees the old object.
#[derive(Default)]
pub(super) struct Shown(Mutex<HashMap<Key, Last>>);

#[derive(PartialEq)]
struct Last {
    /// The object's version before the failure was reported.
    version: String,
    reason: &'static str,
    message: String,
}

impl Last {
    fn of(version: Option<&str>, failure: &Failure) -> Self {
        Self {
            version: version.unwrap_or_default().to_owned(),
            reason: failure.reason,
            message: failure.short_message(),
        }
    }
}

impl Shown {
    /// Whether this failure was reported, and the object is still in the version from before that.
    pub(super) fn has(&self, key: &Key, version: Option<&str>, failure: &Failure) -> bool {
        self.0.lock().get(key) == Some(&Last::of(version, failure))
    }

    pub(super) fn note(&self, key: &Key, version: Option<&str>, failure: &Failure) {
        let last = Last::of(version, failure);
        self.0.lock().insert(key.clone(), last);
    }

    pub(super) fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
    }
}

/// The object in its newest version, and its status that shows a condition; `None` if the condition is already set, or
/// if the type has no conditions. Fails if the type cannot have a status of conditions alone.
pub(super) type Report = fn(
    &dyn Stored,
    Option<DynamicObject>,
    Condition,
) -> serde_json::Result<Option<(DynamicObject, Value)>>;

pub(super) fn report<K: TypedObject>(
    object: &dyn Stored,
    newer: Option<DynamicObject>,
    condition: Condition,
) -> serde_json::Result<Option<(DynamicObject, Value)>> {
    let object: &dyn Any = object;
    let Some(object) = object.downcast_ref::<K>() else {
        return Ok(None);
    };
    let newer: Option<K> = match newer {
        Some(newer) => Some(serde_json::from_value(serde_json::to_value(newer)?)?),
        None => None,
    };
    let object = newer.as_ref().unwrap_or(object);
    let same = |old: &Condition, new: &Condition| {
        let mut same = new.clone();
        same.last_transition_time = old.last_transition_time.clone();
        *old == same
    };
    let Some(status) = status::showing(object, condition, same)? else {
        return Ok(None);
    };
    let object = serde_json::from_value(serde_json::to_value(object)?)?;
    Ok(Some((object, status)))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Service};
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::{from_value, json};

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

    /// The status after a failure with the reason `New`, at second 9.
    fn reported<K: TypedObject>(status: &Value) -> Option<Value> {
        let metadata = json!({ "name": "a", "resourceVersion": "7" });
        let object = json!({ "metadata": metadata, "spec": {}, "status": status });
        let object: K = from_value(object).unwrap();
        let failure = from_value(condition("Ready", "False", "New", 9)).unwrap();
        let (object, status) = report::<K>(&object, None, failure).unwrap()?;
        assert_eq!(object.metadata.resource_version.as_deref(), Some("7"));
        Some(status)
    }

    #[test]
    fn a_failure_is_reported_once() {
        let other = condition("Other", "True", "Old", 1);
        let new = |second| condition("Ready", "False", "New", second);
        let with = |key: &str, value: Value| {
            let mut old = new(1);
            old[key] = value;
            old
        };
        for (conditions, expected) in [
            (json!([]), Some(json!([new(9)]))),
            (json!([new(1)]), None),
            // Not ready before, but for another reason.
            (json!([with("reason", json!("Old"))]), Some(json!([new(1)]))),
            (
                json!([with("message", json!("old"))]),
                Some(json!([new(1)])),
            ),
            (
                json!([with("observedGeneration", json!(0))]),
                Some(json!([new(1)])),
            ),
            (
                json!([other, condition("Ready", "True", "Old", 1)]),
                Some(json!([other, new(9)])),
            ),
        ] {
            let status = json!({ "conditions": conditions });
            let expected = expected.map(|conditions| json!({ "conditions": conditions }));
            assert_eq!(reported::<Service>(&status), expected, "{conditions}");
        }
        let first = reported::<Service>(&Value::Null);
        assert_eq!(first, Some(json!({ "conditions": [new(9)] })));
    }

    #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "example.com",
        version = "v1",
        kind = "Thing",
        status = "ThingStatus"
    )]
    struct ThingSpec {}

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ThingStatus {
        phase: String,
        observed_generation: Option<i64>,
        conditions: Option<Vec<Condition>>,
    }

    /// kstatus waits until `observedGeneration` equals the generation, also after a failure.
    #[test]
    fn a_failure_was_observed() {
        let status = reported::<Thing>(&json!({ "phase": "Old", "observedGeneration": 0 }));
        let new = condition("Ready", "False", "New", 9);
        let expected = json!({ "phase": "Old", "observedGeneration": 1, "conditions": [new] });
        assert_eq!(status, Some(expected));
    }

    #[test]
    fn a_status_that_needs_more_than_conditions_is_an_error() {
        let object = json!({ "metadata": { "name": "a" }, "spec": {} });
        let object: Thing = from_value(object).unwrap();
        let failure = from_value(condition("Ready", "False", "New", 9)).unwrap();
        let error = report::<Thing>(&object, None, failure).unwrap_err();
        assert_eq!(error.to_string(), "missing field `phase`");
    }

    #[test]
    fn a_type_without_conditions_shows_no_failure() {
        assert_eq!(reported::<ConfigMap>(&Value::Null), None);
    }

    #[test]
    fn a_failure_is_shown_again_when_it_or_the_object_is_another() {
        let (shown, key) = (Shown::default(), Key::new(None, "a"));
        let failure = |message: &str| Failure::new("Failed", message.to_owned());
        assert!(!shown.has(&key, Some("1"), &failure("a")));
        shown.note(&key, Some("1"), &failure("a"));
        assert!(shown.has(&key, Some("1"), &failure("a")));
        let other = Failure::new("Other", "a".to_owned());
        assert!(!shown.has(&key, Some("1"), &other));
        assert!(!shown.has(&key, Some("1"), &failure("b")));
        assert!(!shown.has(&key, Some("2"), &failure("a")));
        shown.forget(&key);
        assert!(!shown.has(&key, Some("1"), &failure("a")));
    }

    #[derive(Debug, thiserror::Error)]
    enum Reconcile {
        #[error(transparent)]
        Transparent(kube::Error),
        #[error("cannot apply")]
        Failed(#[source] kube::Error),
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
            assert_eq!(is_conflict(&Reconcile::Failed(refused(reason))), expected);
        }
    }

    #[cfg(feature = "anyhow")]
    #[test]
    fn an_error_of_anyhow_is_one_of_a_reconcile() {
        use anyhow::{Context as _, anyhow};

        let refused = || {
            let status = Status::failure("not now", "Conflict").with_code(409);
            kube::Error::Api(status.boxed())
        };
        let with_context = Err::<(), _>(refused()).context("cannot apply").unwrap_err();
        for (error, reason, message, conflict) in [
            (anyhow!("no disk"), "ReconcileFailed", "no disk", false),
            (refused().into(), "ApiCallFailed", "not now", true),
            (with_context, "ApiCallFailed", "cannot apply: ", true),
            (
                Reconcile::Failed(refused()).into(),
                "ApiCallFailed",
                "cannot apply: ",
                true,
            ),
        ] {
            let failure = Failure::of(error);
            assert_eq!((failure.reason, failure.conflict), (reason, conflict));
            assert!(failure.message.contains(message), "{}", failure.message);
            assert!(!failure.terminal);
        }
    }
}
