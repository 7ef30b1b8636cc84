//! Status patches that skip unchanged fields.

use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Resource,
    api::{Patch, PatchParams},
    core::object::HasStatus,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::apply::{conditions, written};

/// Sets the status of `object` to `status`, through the status subresource. Returns the updated object.
///
/// Sends only the fields that differ from `object`, and nothing if none does. The patch carries the
/// object's resource version: if the object has changed meanwhile, the API server answers with a conflict,
/// and the next reconcile sees the newer object. If the object was deleted meanwhile, nothing is written
/// and `object` is returned.
///
/// Types of `k8s_openapi` do not name their status type: use [`patch_with`] for them.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use kube::Api;
/// use operator_runtime::{ReadyCondition, conditions, status};
///
/// const READY: ReadyCondition = ReadyCondition::positive("Ready");
///
/// async fn report(api: &Api<Memcached>, memcached: &Memcached, ready: bool) -> kube::Result<()> {
///     let mut new = memcached.status.clone().unwrap_or_default();
///     let ready = READY.of(memcached, ready, "Deployed", "");
///     conditions::set(&mut new.conditions, ready);
///     status::patch(api, memcached, &new).await?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// Errors of the API server. `object` must come from the API server: without a name, the patch has no
/// target.
pub async fn patch<K>(api: &Api<K>, object: &K, status: &K::Status) -> kube::Result<K>
where
    K: HasStatus<Status: Serialize> + Resource + Serialize + DeserializeOwned + Clone + Debug,
{
    patch_with(api, object, status).await
}

/// Like [`patch`], for types that do not implement [`HasStatus`]. Only the API server checks that `status`
/// fits `K`.
///
/// # Errors
/// Errors of the API server. `object` must come from the API server: without a name, the patch has no
/// target.
pub async fn patch_with<K, S>(api: &Api<K>, object: &K, status: &S) -> kube::Result<K>
where
    K: Resource + Serialize + DeserializeOwned + Clone + Debug,
    S: Serialize,
{
    let status = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    let old = status_of(object).map_err(kube::Error::SerdeError)?;
    let Some(changes) = merge_patch(&old, &status) else {
        return Ok(object.clone());
    };
    send(api, object, changes).await
}

/// Patches the status of `object` with `changes`.
pub(super) async fn send<K>(api: &Api<K>, object: &K, changes: Value) -> kube::Result<K>
where
    K: Resource + DeserializeOwned + Clone + Debug,
{
    let meta = object.meta();
    let name = meta.name.as_deref().unwrap_or_default();
    let patch = json!({
        "metadata": { "resourceVersion": meta.resource_version },
        "status": changes,
    });
    let params = PatchParams::default();
    match api.patch_status(name, &params, &Patch::Merge(patch)).await {
        Ok(written) => {
            written::note(written.meta());
            Ok(written)
        }
        Err(error) if is_gone(&error, name) => Ok(object.clone()),
        Err(error) => Err(error),
    }
}

/// The change of the status of `object` that shows `condition`; `None` if it is already shown, or if the
/// type has no conditions.
///
/// # Errors
/// If the status of the type cannot consist of conditions alone.
pub(crate) fn showing<K: Serialize + DeserializeOwned>(
    object: &K,
    condition: Condition,
    is_shown: impl Fn(&Condition, &Condition) -> bool,
) -> serde_json::Result<Option<Value>> {
    let mut value = serde_json::to_value(object)?;
    let mut list: Vec<Condition> = match value.pointer("/status/conditions") {
        None | Some(Value::Null) => Vec::new(),
        Some(list) => match Deserialize::deserialize(list) {
            Ok(list) => list,
            // Conditions of another form than Kubernetes'.
            Err(_) => return Ok(None),
        },
    };
    if list.iter().any(|old| is_shown(old, &condition)) {
        return Ok(None);
    }
    let generation = condition.observed_generation;
    conditions::set(&mut list, condition);
    if !value["status"].is_object() {
        value["status"] = json!({});
    }
    value["status"]["conditions"] = serde_json::to_value(list)?;
    value["status"]["observedGeneration"] = generation.into();
    // Deserializing drops fields that the type does not have.
    let mut kept = serde_json::to_value(K::deserialize(value)?)?;
    let fields = ["conditions", "observedGeneration"].into_iter();
    let mut take = |field: &str| Some((field.to_owned(), kept["status"].get_mut(field)?.take()));
    let status: Map<_, _> = fields.filter_map(&mut take).collect();
    Ok(status
        .contains_key("conditions")
        .then_some(Value::Object(status)))
}

/// Whether the object of this name does not exist. A missing status subresource is also a 404, but its
/// response names no object.
pub(crate) fn is_gone(error: &kube::Error, name: &str) -> bool {
    let kube::Error::Api(status) = error else {
        return false;
    };
    let mut details = status.details.iter();
    status.is_not_found() && details.any(|details| details.name == name)
}

/// The status of an object as JSON; null if it has none.
fn status_of(object: &impl Serialize) -> serde_json::Result<Value> {
    #[derive(Deserialize)]
    struct Object {
        #[serde(default)]
        status: Value,
    }
    let text = serde_json::to_vec(object)?;
    let Object { status } = serde_json::from_slice(&text)?;
    Ok(status)
}

/// The JSON merge patch (RFC 7386) that turns `from` into `to`, if they differ.
fn merge_patch(from: &Value, to: &Value) -> Option<Value> {
    if from == to {
        return None;
    }
    let (Value::Object(from), Value::Object(to)) = (from, to) else {
        return Some(to.clone());
    };
    let mut patch = Map::new();
    for key in from.keys().filter(|key| !to.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in to {
        let old = from.get(key).unwrap_or(&Value::Null);
        if let Some(change) = merge_patch(old, value) {
            patch.insert(key.clone(), change);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_holds_what_differs() {
        let cases = [
            (json!({"a": 1}), json!({"a": 1}), None),
            (json!(null), json!({"a": 1}), Some(json!({"a": 1}))),
            (
                json!({"a": 1, "b": 2}),
                json!({"a": 1}),
                Some(json!({"b": null})),
            ),
            (
                json!({"a": {"b": 1, "c": 2}}),
                json!({"a": {"b": 3, "c": 2}}),
                Some(json!({"a": {"b": 3}})),
            ),
            (
                json!({"a": [1, 2]}),
                json!({"a": [2]}),
                Some(json!({"a": [2]})),
            ),
            (json!({"a": 1}), json!({"a": 1, "b": null}), None),
        ];
        for (from, to, patch) in cases {
            assert_eq!(merge_patch(&from, &to), patch, "{from} -> {to}");
        }
    }
}
