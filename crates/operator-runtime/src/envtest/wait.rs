//! Waits for the effects of the operator.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Api;
use serde::Serialize;
use serde_json::Value;
use tokio::time::sleep;

use crate::{apply::conditions::ReadyCondition, object::TypedObject};

const PATIENCE: Duration = Duration::from_secs(30);
const PERIOD: Duration = Duration::from_millis(50);

/// Waits until `condition` of the object has its good status for the newest generation.
///
/// A string names a condition whose good status is `True`.
///
/// # Errors
/// After 30 s, with the object's current status.
pub async fn wait_for<K>(
    api: &Api<K>,
    name: &str,
    condition: impl Into<ReadyCondition>,
) -> Result<()>
where
    K: TypedObject + Serialize,
{
    let condition = condition.into();
    eventually(PATIENCE, async || {
        let object = serde_json::to_value(api.get(name).await?)?;
        let (kind, status) = (K::kind(&()), &object["status"]);
        let holds = is_ready(&object, condition);
        ensure!(
            holds,
            "{kind} `{name}` is not {condition}; its status: {status}"
        );
        Ok(())
    })
    .await
}

/// Waits until the operator has set `condition` of the object for its newest generation, to any status, and
/// returns it.
///
/// # Errors
/// After 30 s, with the object's current status.
pub async fn reported<K>(
    api: &Api<K>,
    name: &str,
    condition: impl Into<ReadyCondition>,
) -> Result<Condition>
where
    K: TypedObject + Serialize,
{
    let condition = condition.into();
    eventually(PATIENCE, async || {
        let object = serde_json::to_value(api.get(name).await?)?;
        let (kind, status, type_) = (K::kind(&()), &object["status"], condition.type_());
        let found = current(&object, condition).with_context(|| {
            format!(
                "{kind} `{name}` has no condition `{type_}` of its generation; its status: {status}"
            )
        })?;
        Ok(serde_json::from_value(found.clone())?)
    })
    .await
}

/// Repeats `check` every 50 ms until it succeeds.
///
/// ```
/// # use k8s_openapi::api::apps::v1::Deployment;
/// use std::time::Duration;
/// use anyhow::ensure;
/// use kube::Api;
/// use operator_runtime::envtest::eventually;
///
/// async fn is_scaled(api: &Api<Deployment>) -> anyhow::Result<()> {
///     eventually(Duration::from_secs(10), async || {
///         let deployment = api.get("memcached").await?;
///         let replicas = deployment.spec.replicas;
///         ensure!(replicas == Some(3), "it has {replicas:?} replicas");
///         Ok(())
///     })
///     .await
/// }
/// ```
///
/// # Errors
/// The last error of `check`, when `patience` is over.
pub async fn eventually<T>(
    patience: Duration,
    mut check: impl AsyncFnMut() -> Result<T>,
) -> Result<T> {
    let begin = Instant::now();
    loop {
        match check().await {
            Err(error) if begin.elapsed() > patience => {
                return Err(error.context(format!("not within {patience:?}")));
            }
            Err(_) => sleep(PERIOD).await,
            done => return done,
        }
    }
}

fn is_ready(object: &Value, condition: ReadyCondition) -> bool {
    current(object, condition).is_some_and(|found| found["status"] == condition.status(true))
}

/// The condition of the object, if it is about its newest generation.
fn current(object: &Value, condition: ReadyCondition) -> Option<&Value> {
    let generation = &object["metadata"]["generation"];
    let mut conditions = object["status"]["conditions"].as_array()?.iter();
    conditions.find(|found| {
        found["type"] == condition.type_() && found["observedGeneration"] == *generation
    })
}

#[cfg(test)]
mod tests {
    use anyhow::bail;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn the_last_error_is_reported() {
        let mut tries = 0;
        let mut third = async || {
            tries += 1;
            ensure!(tries == 3, "{tries} tries");
            Ok(tries)
        };
        assert_eq!(eventually(PATIENCE, &mut third).await.unwrap(), 3);
        let never = eventually::<()>(Duration::ZERO, async || bail!("no"));
        let error = format!("{:#}", never.await.unwrap_err());
        assert_eq!(error, "not within 0ns: no");
    }

    #[test]
    fn a_condition_counts_for_its_own_generation() {
        let object = |status, generation| {
            let condition =
                json!({"type": "Ready", "status": status, "observedGeneration": generation});
            json!({"metadata": {"generation": 2}, "status": {"conditions": [condition]}})
        };
        let ready = ReadyCondition::positive("Ready");
        assert!(is_ready(&object("True", 2), ready));
        assert!(!is_ready(&object("True", 2), "Done".into()));
        assert!(!is_ready(&object("True", 1), ready));
        assert!(!is_ready(&object("False", 2), ready));
        let none = json!({"metadata": {"generation": 2}});
        assert!(current(&object("Unknown", 2), ready).is_some());
        assert!(!is_ready(&object("Unknown", 2), ready));
        assert_eq!(current(&object("Unknown", 1), ready), None);
        assert_eq!(current(&none, ready), None);
        assert!(!is_ready(&none, ready));

        // A missing condition has no status.
        let unready = ReadyCondition::negative("Ready");
        assert!(is_ready(&object("False", 2), unready));
        assert!(!is_ready(&object("True", 2), unready));
        assert!(!is_ready(&none, unready));
    }
}
