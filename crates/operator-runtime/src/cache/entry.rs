//! A cached object: decoded once, without its managed fields.

use std::{
    any::Any,
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kube::{
    Resource,
    api::{ApiResource, DynamicObject, ObjectMeta},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    error::panic_message,
    object::{TypedObject, trim::trim},
};

/// The namespace, if any, and the name of an object. Clones are cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(Arc<str>);

impl Key {
    pub(crate) fn new(namespace: Option<&str>, name: &str) -> Self {
        // A name contains no slash: it is a path segment.
        Self(format!("{}/{name}", namespace.unwrap_or_default()).into())
    }

    pub(crate) fn of(meta: &ObjectMeta) -> Self {
        Self::new(
            meta.namespace.as_deref(),
            meta.name.as_deref().unwrap_or_default(),
        )
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        let (namespace, _) = self.0.split_once('/')?;
        (!namespace.is_empty()).then_some(namespace)
    }

    pub(crate) fn name(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, name)| name)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A decoded object of any type.
pub(crate) trait Stored: Any + Send + Sync {
    fn meta(&self) -> &ObjectMeta;
}

impl<K: Resource + Send + Sync + 'static> Stored for K {
    fn meta(&self) -> &ObjectMeta {
        Resource::meta(self)
    }
}

/// The metadata of an object of any type.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) metadata: ObjectMeta,
}

impl Stored for Metadata {
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
}

/// A decoded object, or the decoding error.
#[derive(Clone)]
pub(crate) enum Entry {
    Valid(Arc<dyn Stored>),
    Invalid(Arc<Invalid>),
}

/// An object that does not decode as its type.
pub(crate) struct Invalid {
    meta: ObjectMeta,
    pub(crate) error: String,
}

impl Entry {
    pub(crate) fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Valid(object) => object.meta(),
            Self::Invalid(invalid) => &invalid.meta,
        }
    }

    pub(crate) fn get<K: 'static + Send + Sync>(&self) -> Option<Arc<K>> {
        match self {
            Self::Valid(object) => downcast(object.clone()),
            Self::Invalid(_) => None,
        }
    }

    pub(crate) fn as_ref<K: 'static>(&self) -> Option<&K> {
        let Self::Valid(object) = self else {
            return None;
        };
        let any: &dyn Any = &**object;
        any.downcast_ref()
    }
}

pub(crate) fn downcast<K: 'static + Send + Sync>(object: Arc<dyn Stored>) -> Option<Arc<K>> {
    let any: Arc<dyn Any + Send + Sync> = object;
    any.downcast().ok()
}

/// Decodes an object as the type of its watch.
pub(crate) type Decode = Arc<dyn Fn(&str) -> serde_json::Result<Arc<dyn Stored>> + Send + Sync>;

pub(crate) fn decode<K: TypedObject>(text: &str) -> serde_json::Result<Arc<dyn Stored>> {
    let mut object: K = serde_json::from_str(text)?;
    object.meta_mut().managed_fields = None;
    Ok(Arc::new(object))
}

/// Like [`decode`], after `transform`. The metadata that the runtime reads is restored afterwards.
pub(crate) fn decode_transformed<K: TypedObject>(
    text: &str,
    transform: &impl Fn(&mut K),
) -> serde_json::Result<Arc<dyn Stored>> {
    let mut object: K = serde_json::from_str(text)?;
    let meta = object.meta_mut();
    meta.managed_fields = None;
    let (labels, annotations) = (meta.labels.take(), meta.annotations.take());
    let kept = meta.clone();
    (meta.labels, meta.annotations) = (labels, annotations);
    transform(&mut object);
    let meta = object.meta_mut();
    *meta = ObjectMeta {
        labels: meta.labels.take(),
        annotations: meta.annotations.take(),
        ..kept
    };
    Ok(Arc::new(object))
}

pub(crate) fn decode_dynamic(text: &str) -> serde_json::Result<Arc<dyn Stored>> {
    let mut object: DynamicObject = serde_json::from_str(text)?;
    object.metadata.managed_fields = None;
    Ok(Arc::new(object))
}

/// Drops the annotation of `kubectl apply`, which is large and which no reader of metadata needs.
pub(crate) fn decode_metadata(text: &str) -> serde_json::Result<Arc<dyn Stored>> {
    let mut object: Metadata = serde_json::from_str(text)?;
    object.metadata.managed_fields = None;
    if let Some(annotations) = &mut object.metadata.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
    Ok(Arc::new(object))
}

/// An object as the API server sent it, without its managed fields, for kube's `watcher`. The type does not
/// decode it here, so an undecodable object does not end a watch.
#[derive(Clone, Debug)]
pub(crate) struct Raw<const METADATA: bool> {
    head: ObjectMeta,
    text: Box<str>,
}

impl<const METADATA: bool> Raw<METADATA> {
    pub(crate) fn key(&self) -> Key {
        Key::of(&self.head)
    }

    pub(crate) fn decode(self, decode: &Decode) -> Entry {
        // Both the type and the transform of a store are the user's code.
        let decoded = catch_unwind(AssertUnwindSafe(|| decode(&self.text)));
        let decoded = decoded.unwrap_or_else(|panic| {
            let panic = panic_message(&*panic);
            Err(serde::de::Error::custom(format!(
                "decoding panicked: {panic}"
            )))
        });
        match decoded {
            Ok(object) => Entry::Valid(object),
            Err(error) => Entry::Invalid(Arc::new(Invalid {
                // Owner references and labels also count for an undecodable object.
                meta: match parse::<Metadata>(&self.text) {
                    Ok(object) => object.metadata,
                    Err(_) => self.head,
                },
                error: error.to_string(),
            })),
        }
    }
}

impl<'de, const METADATA: bool> Deserialize<'de> for Raw<METADATA> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Head,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            name: Option<String>,
            namespace: Option<String>,
            resource_version: Option<String>,
            uid: Option<String>,
        }
        let text = trim(<&RawValue>::deserialize(deserializer)?.get());
        let Object { metadata } = parse(&text).map_err(serde::de::Error::custom)?;
        let head = ObjectMeta {
            name: metadata.name,
            namespace: metadata.namespace,
            resource_version: metadata.resource_version,
            uid: metadata.uid,
            ..ObjectMeta::default()
        };
        let text = text.into();
        Ok(Self { head, text })
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

impl<const METADATA: bool> Resource for Raw<METADATA> {
    type DynamicType = ApiResource;
    type Scope = <DynamicObject as Resource>::Scope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::kind(resource)
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::group(resource)
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::version(resource)
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        DynamicObject::plural(resource)
    }

    fn metadata_api() -> bool {
        METADATA
    }

    fn meta(&self) -> &ObjectMeta {
        &self.head
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.head
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn raw(text: &str) -> Raw<false> {
        serde_json::from_str(text).unwrap()
    }

    fn of_config_map() -> Decode {
        Arc::new(decode::<ConfigMap>)
    }

    #[test]
    fn a_key_is_a_namespace_and_a_name() {
        let key = Key::new(Some("ns"), "name");
        assert_eq!((key.namespace(), key.name()), (Some("ns"), "name"));
        let key = Key::new(None, "name");
        assert_eq!((key.namespace(), key.name()), (None, "name"));
    }

    #[test]
    fn managed_fields_are_not_kept() {
        for fields in [
            r#""managedFields":[{"manager":"m"}]"#,
            r#""managedFields" : []"#,
        ] {
            let text = format!(r#"{{"metadata":{{"name":"a",{fields}}},"data":{{"k":"v"}}}}"#);
            let entry = raw(&text).decode(&of_config_map());
            let object: Arc<ConfigMap> = entry.get().unwrap();
            assert_eq!(object.metadata.managed_fields, None);
            assert_eq!(object.data.as_ref().unwrap()["k"], "v");
        }
    }

    #[test]
    fn an_undecodable_object_keeps_its_name_and_the_reason() {
        let text = r#"{"metadata":{"name":"a","namespace":"b"},"data":{"k":1}}"#;
        let Entry::Invalid(invalid) = raw(text).decode(&of_config_map()) else {
            panic!("a number is no string");
        };
        assert_eq!(Key::of(&invalid.meta), Key::new(Some("b"), "a"));
        assert!(
            invalid.error.contains("expected a string"),
            "{}",
            invalid.error
        );
    }

    /// One object must not end the watch of all.
    #[test]
    fn a_type_that_panics_does_not_decode() {
        let decode: Decode = Arc::new(|_| panic!("at the disco"));
        let text = r#"{"metadata":{"name":"a","labels":{"b":"c"}}}"#;
        let Entry::Invalid(invalid) = raw(text).decode(&decode) else {
            panic!("it does not decode");
        };
        assert_eq!(invalid.error, "decoding panicked: at the disco");
        assert!(invalid.meta.labels.is_some());
    }

    #[test]
    fn a_transform_cannot_drop_the_metadata_that_the_runtime_reads() {
        let text = r#"{
            "metadata": {
                "name": "a", "uid": "u", "resourceVersion": "7", "finalizers": ["f"],
                "labels": { "app": "web" }, "annotations": { "long": "text" }
            },
            "data": { "k": "v" }
        }"#;
        let decode = |transform: fn(&mut ConfigMap)| -> Entry {
            let decode = move |text: &str| decode_transformed(text, &transform);
            raw(text).decode(&(Arc::new(decode) as Decode))
        };
        let entry = decode(|object| {
            let labels = object.metadata.labels.take();
            *object = ConfigMap::default();
            object.metadata.labels = labels;
        });
        let object: Arc<ConfigMap> = entry.get().unwrap();
        let mut expected: ConfigMap = serde_json::from_str(text).unwrap();
        expected.data = None;
        expected.metadata.annotations = None;
        assert_eq!(*object, expected);

        let Entry::Invalid(invalid) = decode(|_| panic!("at the disco")) else {
            panic!("it cannot be kept whole");
        };
        assert_eq!(Key::of(&invalid.meta), Key::new(None, "a"));
        let error = "decoding panicked: at the disco";
        assert_eq!(invalid.error, error);
    }
}
