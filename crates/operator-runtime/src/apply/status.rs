//! Status writes: each controller owns its conditions and fields, and unchanged ones are not sent.

use std::{borrow::Cow, fmt::Debug};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Resource,
    api::{ObjectMeta, Patch, PatchParams},
    core::object::HasStatus,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    answer::{self, Answer},
    change::{Change, Ours},
    conditions,
    managed::{self, StatusFields},
    parts::Parts,
    writer::{self, Writer},
    written,
};

/// Writes what the running controller wants in the status of `object`, through the status subresource.
/// Returns the updated object.
///
/// `status` has the fields and the conditions of this controller; start it from the default, not from the
/// old status. The controller owns, under its own field manager, what it wrote: a field or a condition that
/// a later call does not have is removed. Those of others stay, also if `status` repeats them. While the
/// status of a condition stays the same, so does its `lastTransitionTime`.
///
/// Sends nothing if nothing differs. If `object` is not the newest version, the write is repeated on the
/// newest one, unless the controller's own part of the status differs there.
///
/// Where the schema declares `conditions` as a map by `type`, this is a server-side apply. Elsewhere, and
/// outside of the reconciles of a [`Controller`](crate::Controller), it is a merge patch. If no other
/// controller of this operator has the type, `status` then is the whole status, and what it lacks is
/// removed. If the object was deleted meanwhile, nothing is written and `object` is returned.
///
/// Types of `k8s_openapi` do not name their status type: use [`patch_with`] for them.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::{Memcached, MemcachedStatus};
/// use kube::Api;
/// use operator_runtime::{ReadyCondition, status};
///
/// const READY: ReadyCondition = ReadyCondition::positive("Ready");
///
/// async fn report(api: &Api<Memcached>, memcached: &Memcached, ready: bool) -> kube::Result<()> {
///     let ready = READY.of(memcached, ready, "Deployed", "");
///     let status = MemcachedStatus { conditions: vec![ready] };
///     status::patch(api, memcached, &status).await?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// Errors of the API server: a conflict if the controller's own part of the status has changed since
/// `object` was read. `object` must come from the API server: without a name, the patch has no target.
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
    write(api, object, &status).await
}

/// An object without its managed fields, and what these say of its status.
struct Seen<K> {
    object: K,
    managed: StatusFields,
}

impl<K> Seen<K> {
    fn of(answer: Answer<K>) -> kube::Result<Self> {
        Ok(Self {
            managed: answer.managed()?,
            object: answer.object,
        })
    }
}

/// How often a write is repeated: each conflict means that another write succeeded.
const RETRIES: usize = 10;

/// Writes `status`, of which the running controller owns what it changes.
pub(crate) async fn write<K>(api: &Api<K>, object: &K, status: &Value) -> kube::Result<K>
where
    K: Resource + Serialize + DeserializeOwned + Clone + Debug,
{
    let old = Raw::of(object)?;
    let mut change = Change {
        base: Parts::of(&old.status),
        wanted: Parts::of(status),
    };
    change.wanted.keep_times(&change.base);
    if change.wanted.is_same(&change.base) {
        return Ok(object.clone());
    }
    let writer = writer::current();
    let name = object.meta().name.as_deref().unwrap_or_default();
    let shown = managed::of_status(object.meta()).map_err(kube::Error::SerdeError)?;
    let mut newest: Option<Seen<K>> = None;
    let mut tries = 0;
    let written = loop {
        let (read, managed) = match &newest {
            Some(newest) => (&newest.object, &newest.managed),
            None => (object, &shown),
        };
        let ours = match &writer {
            Some(writer) => writer.ours(&change, read.meta(), managed, newest.is_some()),
            None => Some(Ours::everything()),
        };
        let Some(ours) = ours else {
            newest = read_again(api, object, name).await?;
            match newest {
                Some(_) => continue,
                None => break None,
            }
        };
        if change.is_done(&ours) {
            ours.note(writer.as_deref(), read.meta());
            break None;
        }
        let live = match &newest {
            Some(newest) => Cow::Owned(Raw::of(&newest.object)?.status),
            None => Cow::Borrowed(&old.status),
        };
        let holds = change.holds(&Parts::of(&live), &ours);
        if !holds {
            let (read, now) = (&old.status, &*live);
            tracing::debug!(%read, %now, "the controller's part of the status has changed");
        }
        // An outdated decision gets the conflict from the API server.
        let (meta, managed) = match holds {
            true => (read.meta(), managed),
            false => (object.meta(), &shown),
        };
        let result = match &writer {
            Some(writer)
                if ours.applies
                    && old.is_typed()
                    && !change.drops(&ours, &writer.lingering(managed)) =>
            {
                apply(api, writer, &old, meta, &change, &ours).await
            }
            _ => {
                let merged = change.merged(&live, &ours);
                merge(api, writer.as_deref(), meta, &live, merged).await
            }
        };
        match result {
            Ok(written) => break Some(written),
            Err(error) if is_gone(&error, name) => break None,
            // Only the newest object shows by its managed fields whether a merge patch of this controller keeps a part of what the
            // apply drops.
            Err(kube::Error::Api(status))
                if status.is_invalid() && newest.is_none() && change.drops(&ours, &ours.owned) =>
            {
                newest = read_again(api, object, name).await?;
                if newest.is_none() {
                    break None;
                }
            }
            Err(kube::Error::Api(status)) if status.is_conflict() && holds && tries < RETRIES => {
                tries += 1;
                newest = read_again(api, object, name).await?;
                if newest.is_none() {
                    break None;
                }
            }
            Err(error) => return Err(error),
        }
    };
    let Some(written) = written else {
        return Ok(object.clone());
    };
    let meta = written.object.meta();
    written::note(meta);
    if let Some(writer) = &writer {
        writer.learn(meta, &written.managed);
        let owned = writer.owned_in(&written.managed);
        writer.owned.note(meta, owned);
    }
    Ok(written.object)
}

/// The newest version of `object`, if it still exists.
async fn read_again<K>(api: &Api<K>, object: &K, name: &str) -> kube::Result<Option<Seen<K>>>
where
    K: Resource + DeserializeOwned + Clone + Debug,
{
    let found = answer::get(api, name).await?;
    let found = found.filter(|found| found.object.meta().uid == object.meta().uid);
    found.map(Seen::of).transpose()
}

/// Applies the controller's own part to the version of the object with this metadata.
async fn apply<K>(
    api: &Api<K>,
    writer: &Writer,
    old: &Raw,
    meta: &ObjectMeta,
    change: &Change,
    ours: &Ours,
) -> kube::Result<Seen<K>>
where
    K: Resource + Serialize + DeserializeOwned + Clone + Debug,
{
    let name = meta.name.as_deref().unwrap_or_default();
    let params = PatchParams::apply(&writer.manager).force();
    let patch = Patch::Apply(json!({
        "apiVersion": old.api_version,
        "kind": old.kind,
        "metadata": {
            "name": name,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
        },
        "status": change.applied(ours),
    }));
    let mut written = Seen::of(answer::patch_status(api, name, &params, &patch).await?)?;
    // An apply leaves what another manager owns, and whoever wrote it by a merge patch owns it for ever.
    let mut tries = 0;
    loop {
        let lingering = writer.lingering(&written.managed);
        if lingering.is_empty() {
            return Ok(written);
        }
        let live = Raw::of(&written.object)?.status;
        let Some(corrected) = change.corrected(&live, ours, &lingering) else {
            return Ok(written);
        };
        match merge(api, Some(writer), written.object.meta(), &live, corrected).await {
            Err(kube::Error::Api(status)) if status.is_conflict() && tries < RETRIES => {
                tries += 1;
                match answer::get(api, name).await? {
                    Some(found) => written = Seen::of(found)?,
                    None => return Ok(written),
                }
            }
            result => return result,
        }
    }
}

/// Changes the status `from` of the version of the object with this metadata to `to`.
async fn merge<K>(
    api: &Api<K>,
    writer: Option<&Writer>,
    meta: &ObjectMeta,
    from: &Value,
    mut to: Value,
) -> kube::Result<Seen<K>>
where
    K: Resource + DeserializeOwned + Clone + Debug,
{
    // The list may be required.
    if from["conditions"].is_array() && to["conditions"].is_null() {
        to["conditions"] = json!([]);
    }
    let patch = Patch::Merge(json!({
        "metadata": { "uid": meta.uid, "resourceVersion": meta.resource_version },
        // A null would remove the status.
        "status": merge_patch(from, &to).unwrap_or_else(|| json!({})),
    }));
    let params = PatchParams {
        field_manager: writer.map(|writer| writer.manager.to_string()),
        ..PatchParams::default()
    };
    let name = meta.name.as_deref().unwrap_or_default();
    Seen::of(answer::patch_status(api, name, &params, &patch).await?)
}

/// The status of `object` that shows `condition`; `None` if it is already shown, or if the type has no
/// conditions.
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
    let mut status = value["status"].clone();
    value["status"]["conditions"] = serde_json::to_value(list)?;
    value["status"]["observedGeneration"] = generation.into();
    // Deserializing drops fields that the type does not have.
    let mut kept = serde_json::to_value(K::deserialize(value)?)?;
    for field in ["conditions", "observedGeneration"] {
        if let Some(value) = kept["status"].get_mut(field) {
            status[field] = value.take();
        }
    }
    Ok(status.get("conditions").is_some().then_some(status))
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

/// The parts of an object that its status needs, as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    api_version: Option<String>,
    kind: Option<String>,
    /// Null if there is none.
    #[serde(default)]
    status: Value,
}

impl Raw {
    fn of(object: &impl Serialize) -> kube::Result<Self> {
        let text = serde_json::to_vec(object).map_err(kube::Error::SerdeError)?;
        serde_json::from_slice(&text).map_err(kube::Error::SerdeError)
    }

    fn is_typed(&self) -> bool {
        self.api_version.is_some() && self.kind.is_some()
    }
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
