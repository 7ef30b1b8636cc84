//! Conditions as the Kubernetes API conventions want them.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::Resource;

/// A condition of `object` as it is now: `True` if it `holds`, or else `False`.
///
/// `reason` is one CamelCase word. The condition carries the object's generation, so that everybody
/// sees which spec it is about.
pub fn new(
    object: &impl Resource,
    type_: &str,
    holds: bool,
    reason: &str,
    message: impl Into<String>,
) -> Condition {
    Condition {
        type_: type_.to_owned(),
        status: if holds { "True" } else { "False" }.to_owned(),
        reason: reason.to_owned(),
        message: message.into(),
        observed_generation: object.meta().generation,
        last_transition_time: Time(Timestamp::now()),
    }
}

/// Puts `condition` into the list in place of the one of its type.
///
/// While the status does not change, the old transition time stays, so that setting the same
/// condition again changes nothing.
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
