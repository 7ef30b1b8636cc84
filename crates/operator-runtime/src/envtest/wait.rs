//! Waiting for what the operator does.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use kube::Api;
use serde::Serialize;
use serde_json::Value;
use tokio::time::sleep;

use crate::object::TypedObject;

const PATIENCE: Duration = Duration::from_secs(30);
const PERIOD: Duration = Duration::from_millis(50);

/// Waits until `condition` of the object is True for its newest generation.
///
/// # Errors
/// After 30 s, with the status that the object has then.
pub async fn wait_for<K>(api: &Api<K>, name: &str, condition: &str) -> Result<()>
where
    K: TypedObject + Serialize,
{
    let begin = Instant::now();
    loop {
        let object = serde_json::to_value(api.get(name).await?)?;
        if is_true(&object, condition) {
            return Ok(());
        }
        if begin.elapsed() > PATIENCE {
            let (kind, status) = (K::kind(&()), &object["status"]);
            bail!("{kind} `{name}` is not {condition} after {PATIENCE:?}; its status: {status}");
        }
        sleep(PERIOD).await;
    }
}

fn is_true(object: &Value, condition: &str) -> bool {
    let generation = &object["metadata"]["generation"];
    let conditions = object["status"]["conditions"].as_array();
    let matches = |found: &Value| {
        found["type"] == condition
            && found["status"] == "True"
            && found["observedGeneration"] == *generation
    };
    conditions.is_some_and(|conditions| conditions.iter().any(matches))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_counts_for_its_own_generation() {
        let object = |status, generation| {
            let condition =
                json!({"type": "Ready", "status": status, "observedGeneration": generation});
            json!({"metadata": {"generation": 2}, "status": {"conditions": [condition]}})
        };
        assert!(is_true(&object("True", 2), "Ready"));
        assert!(!is_true(&object("True", 2), "Done"));
        assert!(!is_true(&object("True", 1), "Ready"));
        assert!(!is_true(&object("False", 2), "Ready"));
        assert!(!is_true(&json!({"metadata": {"generation": 2}}), "Ready"));
    }
}
