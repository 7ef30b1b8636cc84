//! Conditions that follow the Kubernetes API conventions.

use std::fmt;

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::Resource;

/// The condition that shows whether an object is ready, with its good status.
///
/// Each controller has one, set by [`Controller::condition`](crate::Controller::condition). A failed
/// reconcile sets it to the bad status, `make manifests` adds a column for it to `kubectl get`, and tests
/// wait for it. The reconcile function sets the condition from the same value.
///
/// ```
/// use operator_runtime::ReadyCondition;
///
/// const READY: ReadyCondition = ReadyCondition::positive("Ready");
/// const HEALTHY: ReadyCondition = ReadyCondition::negative("Degraded");
///
/// # let resource = kube::api::ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
/// # let object = kube::api::DynamicObject::new("sample", &resource);
/// assert_eq!(READY.of(&object, true, "Running", "").status, "True");
/// assert_eq!(HEALTHY.of(&object, true, "Running", "").status, "False");
/// assert_eq!(HEALTHY.to_string(), "Degraded=False");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyCondition {
    type_: &'static str,
    good: bool,
}

impl ReadyCondition {
    /// A condition whose good status is `True`, such as `Ready` or `Available`.
    pub const fn positive(type_: &'static str) -> Self {
        Self { type_, good: true }
    }

    /// A condition whose good status is `False`, such as `Degraded` or `Stalled`.
    pub const fn negative(type_: &'static str) -> Self {
        Self { type_, good: false }
    }

    /// The type of the condition.
    pub const fn type_(self) -> &'static str {
        self.type_
    }

    /// The condition for the current generation of `object`. `reason` is one CamelCase word.
    pub fn of(
        self,
        object: &impl Resource,
        is_ready: bool,
        reason: &str,
        message: impl Into<String>,
    ) -> Condition {
        new(object, self.type_, is_ready == self.good, reason, message)
    }

    /// The condition of a controller whose reconcile function is not written yet: `Unknown`, with the
    /// reason `NotImplemented`.
    ///
    /// Generated controllers begin with it. So neither `kubectl wait` nor Argo CD or Flux takes an object
    /// for ready for which nothing was done. A written reconcile function uses [`of`](Self::of).
    pub fn not_implemented(self, object: &impl Resource) -> Condition {
        let message = "the controller does nothing yet";
        Condition {
            status: "Unknown".to_owned(),
            ..new(object, self.type_, false, "NotImplemented", message)
        }
    }

    /// The condition's status for an object that is ready, or is not.
    pub(crate) const fn status(self, is_ready: bool) -> &'static str {
        status(is_ready == self.good)
    }
}

/// `Ready`, which kstatus, Argo CD and Flux look for.
impl Default for ReadyCondition {
    fn default() -> Self {
        Self::positive("Ready")
    }
}

/// A condition whose good status is `True`.
impl From<&'static str> for ReadyCondition {
    fn from(type_: &'static str) -> Self {
        Self::positive(type_)
    }
}

/// Formats as `Ready=True`, the argument of `kubectl wait --for condition=`.
impl fmt::Display for ReadyCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.type_, self.status(true))
    }
}

const fn status(holds: bool) -> &'static str {
    if holds { "True" } else { "False" }
}

/// A condition for the current generation of `object`: `True` if it `holds`, otherwise `False`.
///
/// `reason` is one CamelCase word. `observedGeneration` is set, so readers see which spec the condition is
/// about.
pub fn new(
    object: &impl Resource,
    type_: &str,
    holds: bool,
    reason: &str,
    message: impl Into<String>,
) -> Condition {
    Condition {
        type_: type_.to_owned(),
        status: status(holds).to_owned(),
        reason: reason.to_owned(),
        message: message.into(),
        observed_generation: object.meta().generation,
        last_transition_time: Time(Timestamp::now()),
    }
}

/// Replaces the condition of the same type, or adds `condition`.
///
/// While the status stays the same, `lastTransitionTime` stays, so setting an equal condition changes
/// nothing.
///
/// ```
/// use kube::api::{ApiResource, DynamicObject};
/// use operator_runtime::conditions;
///
/// # let resource = ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
/// let object = DynamicObject::new("sample", &resource);
/// let mut list = vec![conditions::new(&object, "Ready", false, "Starting", "")];
/// let first = list[0].last_transition_time.clone();
///
/// conditions::set(&mut list, conditions::new(&object, "Ready", false, "Pulling", "an image"));
/// assert_eq!(list[0].reason, "Pulling");
/// assert_eq!(list[0].last_transition_time, first);
///
/// conditions::set(&mut list, conditions::new(&object, "Ready", true, "Running", ""));
/// assert_ne!(list[0].last_transition_time, first);
/// ```
pub fn set(conditions: &mut Vec<Condition>, mut condition: Condition) {
    match conditions
        .iter_mut()
        .find(|old| old.type_ == condition.type_)
    {
        Some(old) => {
            if old.status == condition.status {
                condition.last_transition_time = old.last_transition_time.clone();
            }
            *old = condition;
        }
        None => conditions.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use kube::api::{DynamicObject, ObjectMeta};
    use serde_json::Value;

    use super::*;

    fn condition(type_: &str, status: &str, generation: i64, second: i64) -> Condition {
        Condition {
            type_: type_.into(),
            status: status.into(),
            reason: "Tested".into(),
            message: String::new(),
            observed_generation: Some(generation),
            last_transition_time: Time(Timestamp::from_second(second).unwrap()),
        }
    }

    #[test]
    fn a_condition_is_about_the_newest_generation() {
        let object = DynamicObject {
            types: None,
            metadata: ObjectMeta {
                generation: Some(3),
                ..ObjectMeta::default()
            },
            data: Value::Null,
        };
        for (holds, status) in [(true, "True"), (false, "False")] {
            let new = new(&object, "Ready", holds, "Tested", "");
            let expected = Condition {
                last_transition_time: new.last_transition_time.clone(),
                ..condition("Ready", status, 3, 0)
            };
            assert_eq!(new, expected);
        }
    }

    #[test]
    fn what_is_not_implemented_is_neither_ready_nor_unready() {
        let resource = kube::api::ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
        let mut object = DynamicObject::new("sample", &resource);
        object.metadata.generation = Some(3);
        for ready in [
            ReadyCondition::default(),
            ReadyCondition::negative("Degraded"),
        ] {
            let found = ready.not_implemented(&object);
            assert_eq!((&*found.type_, &*found.status), (ready.type_(), "Unknown"));
            assert_eq!(found.reason, "NotImplemented");
            assert_eq!(found.observed_generation, Some(3));
        }
    }

    #[test]
    fn the_transition_time_follows_the_status() {
        let mut conditions = vec![condition("Other", "True", 1, 1)];
        set(&mut conditions, condition("Ready", "False", 1, 10));
        set(&mut conditions, condition("Ready", "False", 2, 20));
        assert_eq!(conditions[1], condition("Ready", "False", 2, 10));
        set(&mut conditions, condition("Ready", "True", 2, 30));
        assert_eq!(conditions[1], condition("Ready", "True", 2, 30));
        assert_eq!(conditions[0], condition("Other", "True", 1, 1));
        assert_eq!(conditions.len(), 2);
    }
}
