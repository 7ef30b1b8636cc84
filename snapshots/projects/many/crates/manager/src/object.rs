//! Types of objects: as Rust types where people write them, as values where the manager runs.

use std::fmt::{self, Debug};

use kube::{
    Api, Client, Resource,
    api::{ApiResource, DynamicObject},
    core::{ClusterResourceScope, NamespaceResourceScope, PartialObjectMeta},
    runtime::reflector::ObjectRef,
};
use serde::de::DeserializeOwned;

/// A type of object that can be watched: those of `CustomResource` and of `k8s_openapi`.
pub trait Object:
    Resource<DynamicType = (), Scope: Scoped> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

impl<K> Object for K where
    K: Resource<DynamicType = (), Scope: Scoped>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}

/// The scope of a type: [`NamespaceResourceScope`] or [`ClusterResourceScope`].
pub trait Scoped {
    /// Whether objects live in namespaces.
    const NAMESPACED: bool;

    /// The objects in `namespace`, or all of them if the type has no namespaces.
    fn api<K>(client: Client, namespace: &str) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = Self>;
}

impl Scoped for NamespaceResourceScope {
    const NAMESPACED: bool = true;

    fn api<K>(client: Client, namespace: &str) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = Self>,
    {
        Api::namespaced(client, namespace)
    }
}

impl Scoped for ClusterResourceScope {
    const NAMESPACED: bool = false;

    fn api<K>(client: Client, _: &str) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = Self>,
    {
        Api::all(client)
    }
}

/// An [`Object`] type as a value.
///
/// Everything that runs is written for these, so that it is compiled once and not for each type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) resource: ApiResource,
    pub(crate) namespaced: bool,
}

impl Type {
    pub(crate) fn of<K: Object>() -> Self {
        Self {
            resource: ApiResource::erase::<K>(&()),
            namespaced: <K::Scope as Scoped>::NAMESPACED,
        }
    }

    /// The objects in `namespace`, or all of them; a cluster-scoped type has no namespaces.
    pub(crate) fn api(&self, client: Client, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.resource),
            None => Api::all_with(client, &self.resource),
        }
    }

    /// As [`Self::api`], but only the metadata is asked for.
    pub(crate) fn metadata(
        &self,
        client: Client,
        namespace: Option<&str>,
    ) -> Api<PartialObjectMeta<DynamicObject>> {
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.resource),
            None => Api::all_with(client, &self.resource),
        }
    }

    /// The object of this type with this name; `namespace` counts if there are namespaces.
    pub(crate) fn reference(
        &self,
        name: &str,
        namespace: Option<&str>,
    ) -> ObjectRef<DynamicObject> {
        let reference = ObjectRef::new_with(name, self.resource.clone());
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => reference.within(namespace),
            None => reference,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in {}",
            self.resource.plural, self.resource.api_version
        )
    }
}

/// Reads an object as its Rust type; the error says why it is none.
pub(crate) fn decode<K: Object>(object: &DynamicObject) -> Result<K, String> {
    let value = serde_json::to_value(object).map_err(|error| error.to_string())?;
    K::deserialize(value).map_err(|error| error.to_string())
}
