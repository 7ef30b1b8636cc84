//! What the API server answers to a write: the object and, apart from it, its managed fields.
//!
//! Managed fields are half of many objects. kube's `Api` decodes them as trees of values; here, each caller
//! decodes what it reads of them.

use kube::{
    Api, Error, Resource,
    api::{ObjectMeta, PartialObjectMeta, Patch, PatchParams},
    core::{Request, request},
};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{from_str, value::RawValue};

use crate::object::trim::split;

/// An object without its managed fields, and these as an `M`.
pub(super) struct Answer<K, M> {
    pub(super) object: K,
    pub(super) managed: M,
}

/// Changes an object as kube's `Api::patch` does.
pub(super) async fn patch<K, M>(
    api: &Api<K>,
    name: &str,
    params: &PatchParams,
    patch: &Patch<impl Serialize>,
) -> kube::Result<Answer<K, M>>
where
    K: Clone + DeserializeOwned + Resource,
    M: Default + DeserializeOwned,
{
    let request = Request::new(api.resource_url()).patch(name, params, patch);
    send(api, "patch", request).await
}

/// Changes a status as kube's `Api::patch_status` does.
pub(super) async fn patch_status<K, M>(
    api: &Api<K>,
    name: &str,
    params: &PatchParams,
    patch: &Patch<impl Serialize>,
) -> kube::Result<Answer<K, M>>
where
    K: Clone + DeserializeOwned + Resource,
    M: Default + DeserializeOwned,
{
    let request = Request::new(api.resource_url());
    let request = request.patch_subresource("status", name, params, patch);
    send(api, "patch_status", request).await
}

/// Changes an object as kube's `Api::patch_metadata` does.
pub(super) async fn patch_metadata<K, M>(
    api: &Api<K>,
    name: &str,
    params: &PatchParams,
    patch: &Patch<impl Serialize>,
) -> kube::Result<Answer<PartialObjectMeta<K>, M>>
where
    K: Clone + DeserializeOwned + Resource,
    M: Default + DeserializeOwned,
{
    let request = Request::new(api.resource_url()).patch_metadata(name, params, patch);
    send(api, "patch_metadata", request).await
}

/// Sends a request under the name that kube's `Api` gives it, which spans show.
async fn send<K: Clone + Resource, A: DeserializeOwned>(
    api: &Api<K>,
    name: &'static str,
    request: Result<http::Request<Vec<u8>>, request::Error>,
) -> kube::Result<A> {
    let mut request = request.map_err(Error::BuildRequest)?;
    request.extensions_mut().insert(name);
    api.clone().into_client().request(request).await
}

impl<K: Resource, M: Default + DeserializeOwned> Answer<K, M> {
    pub(super) fn of(mut object: K) -> serde_json::Result<Self> {
        let managed = managed(object.meta())?;
        object.meta_mut().managed_fields = None;
        Ok(Self { object, managed })
    }
}

/// The managed fields of an object; the default if it has none, as objects of a cache.
pub(super) fn managed<M: Default + DeserializeOwned>(object: &ObjectMeta) -> serde_json::Result<M> {
    match &object.managed_fields {
        Some(fields) => M::deserialize(serde_json::to_value(fields)?),
        None => Ok(M::default()),
    }
}

impl<'de, K, M> Deserialize<'de> for Answer<K, M>
where
    K: Resource + DeserializeOwned,
    M: Default + DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let answer = match split(text) {
            Some((text, fields)) => from_str(&text).and_then(|object| {
                let managed = from_str(fields)?;
                Ok(Self { object, managed })
            }),
            None => from_str(text).and_then(Self::of),
        };
        answer.map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::Value;

    use super::*;

    #[test]
    fn managed_fields_are_apart_from_the_object() {
        for (fields, expected) in [
            (
                r#","managedFields":[{"manager":"m"}]"#,
                r#"[{"manager":"m"}]"#,
            ),
            // Another server than kube-apiserver may write spaces.
            (
                r#","managedFields" : [ {"manager":"m"}]"#,
                r#"[{"manager":"m"}]"#,
            ),
            ("", "null"),
        ] {
            let text = format!(r#"{{"metadata":{{"name":"a"{fields}}},"data":{{"k":"v"}}}}"#);
            let answer: Answer<ConfigMap, Value> = from_str(&text).unwrap();
            assert_eq!(answer.managed.to_string(), expected);
            let meta = &answer.object.metadata;
            assert_eq!(
                (meta.name.as_deref(), &meta.managed_fields),
                (Some("a"), &None)
            );
            assert_eq!(answer.object.data.unwrap()["k"], "v");
        }
    }
}
