//! Conditions as the Kubernetes API conventions want them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

/// Puts `condition` into the list in place of the one of its type.
///
/// While the status does not change, the old transition time stays, so that setting the same
/// condition again changes nothing.
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
    use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};

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
