//! What the API server answers to a write: the object and, apart from it, its managed fields.
//!
//! Managed fields are half of many objects. kube's `Api` decodes them as trees of values; here, they stay text
//! of which each caller decodes what it reads.

use kube::{
    Api, Error, Resource,
    api::{GetParams, Patch, PatchParams},
    core::{Request, request},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{from_str, value::RawValue};

use crate::{cache::Metadata, object::trim::split};

/// An object, and the text of its managed fields.
pub(super) struct Answer<K> {
    pub(super) object: K,
    managed: Option<Box<str>>,
}

/// Reads an object as kube's `Api::get_opt` does.
pub(super) async fn get<K: Clone + DeserializeOwned + Resource>(
    api: &Api<K>,
    name: &str,
) -> kube::Result<Option<Answer<K>>> {
    let request = Request::new(api.resource_url()).get(name, &GetParams::default());
    let found = found(send(api, "get", request).await)?;
    Ok(found.map(Answer::trimmed))
}

/// Reads the metadata of an object as kube's `Api::get_metadata_opt` does.
pub(super) async fn get_metadata<K: Clone + Resource>(
    api: &Api<K>,
    name: &str,
) -> kube::Result<Option<Answer<Metadata>>> {
    let request = Request::new(api.resource_url()).get_metadata(name, &GetParams::default());
    found(send(api, "get_metadata", request).await)
}

fn found<T>(result: kube::Result<T>) -> kube::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Error::Api(status)) if status.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Changes an object as kube's `Api::patch` does, and returns it without its managed fields.
pub(super) async fn patch<K: Clone + DeserializeOwned + Resource>(
    api: &Api<K>,
    name: &str,
    params: &PatchParams,
    patch: &Patch<impl Serialize>,
) -> kube::Result<K> {
    let request = Request::new(api.resource_url()).patch(name, params, patch);
    let answer = send(api, "patch", request).await?;
    Ok(answer.trimmed().object)
}

/// Changes a status as kube's `Api::patch_status` does.
pub(super) async fn patch_status<K: Clone + DeserializeOwned + Resource>(
    api: &Api<K>,
    name: &str,
    params: &PatchParams,
    patch: &Patch<impl Serialize>,
) -> kube::Result<Answer<K>> {
    let request = Request::new(api.resource_url());
    let request = request.patch_subresource("status", name, params, patch);
    let answer = send(api, "patch_status", request).await?;
    Ok(answer.trimmed())
}

/// Changes an object as kube's `Api::patch_metadata` does.
pub(super) async fn patch_metadata<K: Clone + Resource>(
    api: &Api<K>,
    name: &str,
    params: &PatchParams,
    patch: &Patch<impl Serialize>,
) -> kube::Result<Answer<Metadata>> {
    let request = Request::new(api.resource_url()).patch_metadata(name, params, patch);
    send(api, "patch_metadata", request).await
}

/// Sends a request under the name that kube's `Api` gives it, which spans show.
async fn send<K: Clone + Resource, A: DeserializeOwned>(
    api: &Api<K>,
    name: &'static str,
    request: Result<http::Request<Vec<u8>>, request::Error>,
) -> kube::Result<Answer<A>> {
    let mut request = request.map_err(Error::BuildRequest)?;
    request.extensions_mut().insert(name);
    let text = api.clone().into_client().request_text(request).await?;
    Answer::decode(&text).map_err(Error::SerdeError)
}

impl<K> Answer<K> {
    /// The managed fields as an `M`; the default if there are none, as in an object of a cache.
    pub(super) fn managed<M: Default + DeserializeOwned>(&self) -> kube::Result<M> {
        let managed = self.managed.as_deref().map(from_str).transpose();
        managed
            .map(Option::unwrap_or_default)
            .map_err(Error::SerdeError)
    }
}

impl<K: Resource> Answer<K> {
    fn trimmed(mut self) -> Self {
        self.object.meta_mut().managed_fields = None;
        self
    }
}

impl<K: DeserializeOwned> Answer<K> {
    pub(super) fn decode(text: &str) -> serde_json::Result<Self> {
        let (object, managed) = match split(text) {
            Some((text, fields)) => (from_str(&text)?, Some(fields)),
            None => (from_str(text)?, search(text)?),
        };
        let managed = managed.map(Box::from);
        Ok(Self { object, managed })
    }
}

/// The managed fields in a text that is not as kube-apiserver writes it, such as one with spaces.
fn search(text: &str) -> serde_json::Result<Option<&str>> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        metadata: Fields<'a>,
    }
    #[derive(Deserialize)]
    struct Fields<'a> {
        #[serde(borrow, rename = "managedFields")]
        managed: Option<&'a RawValue>,
    }
    let object: Object<'_> = from_str(text)?;
    Ok(object.metadata.managed.map(RawValue::get))
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
            (
                r#","managedFields" : [ {"manager":"m"}]"#,
                r#"[{"manager":"m"}]"#,
            ),
            ("", "null"),
        ] {
            let text = format!(r#"{{"metadata":{{"name":"a"{fields}}},"data":{{"k":"v"}}}}"#);
            let answer: Answer<ConfigMap> = Answer::decode(&text).unwrap();
            let answer = answer.trimmed();
            assert_eq!(answer.managed::<Value>().unwrap().to_string(), expected);
            let meta = &answer.object.metadata;
            assert_eq!(
                (meta.name.as_deref(), &meta.managed_fields),
                (Some("a"), &None)
            );
            assert_eq!(answer.object.data.unwrap()["k"], "v");
        }
    }
}
