//! Objects of kinds that another project defines.

use std::{borrow::Cow, fmt, marker::PhantomData};

use kube::{Resource, api::ObjectMeta, core::object::HasStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::status::AnsibleStatus;

/// An object of a kind that another project defines, such as a Secret: a role sees all of its fields, also those that the type `K` lacks.
///
/// `K` says which kind it is. Nothing else of it is used.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
pub struct Foreign<K> {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<AnsibleStatus>,
    /// The other fields, with `apiVersion` and `kind`.
    #[serde(flatten)]
    fields: Map<String, Value>,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

// Derived, these would ask the same of `K`.
impl<K> Clone for Foreign<K> {
    fn clone(&self) -> Self {
        Self {
            metadata: self.metadata.clone(),
            status: self.status.clone(),
            fields: self.fields.clone(),
            kind: PhantomData,
        }
    }
}

/// Names the object, and shows no field: it may be a Secret.
impl<K> fmt::Debug for Foreign<K> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = to.debug_struct("Foreign");
        shown.field("namespace", &self.metadata.namespace);
        shown
            .field("name", &self.metadata.name)
            .finish_non_exhaustive()
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Foreign<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind(_: &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group(_: &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version(_: &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural(_: &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<K> HasStatus for Foreign<K> {
    type Status = AnsibleStatus;

    fn status(&self) -> Option<&AnsibleStatus> {
        self.status.as_ref()
    }

    fn status_mut(&mut self) -> &mut Option<AnsibleStatus> {
        &mut self.status
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Secret;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_comes_back_whole() {
        let object = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": "a" },
            "data": { "password": "aGVsbG8=" },
            "newer": { "than": "the type" },
        });
        let secret: Foreign<Secret> = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(serde_json::to_value(&secret).unwrap(), object);
        assert_eq!(Foreign::<Secret>::api_version(&()), "v1");
        assert_eq!(Foreign::<Secret>::plural(&()), "secrets");
        assert!(!format!("{secret:?}").contains("aGVsbG8"));
    }
}
