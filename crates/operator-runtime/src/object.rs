//! Types of objects: as Rust types where people write them, as values where the manager runs.

mod rbac;

use std::{
    collections::BTreeSet,
    fmt::{self, Debug},
};

use kube::{
    Api, Client, Resource,
    api::ApiResource,
    core::{ClusterResourceScope, DynamicResourceScope, NamespaceResourceScope},
};
use serde::{Serialize, de::DeserializeOwned};

pub use rbac::{Rules, Verb};

/// A type of object that can be watched: those of `CustomResource` and of `k8s_openapi`.
pub trait TypedObject:
    Resource<DynamicType = (), Scope: ObjectScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Serialize
    + Send
    + Sync
    + 'static
{
}

impl<K> TypedObject for K where
    K: Resource<DynamicType = (), Scope: ObjectScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
        + Send
        + Sync
        + 'static
{
}

/// The scope of a type: [`NamespaceResourceScope`] or [`ClusterResourceScope`].
pub trait ObjectScope {
    /// Whether objects live in namespaces.
    const NAMESPACED: bool;

    /// The objects in `namespace`, or all of them if the type has no namespaces.
    fn api<K>(client: Client, namespace: &str) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = Self>;
}

impl ObjectScope for NamespaceResourceScope {
    const NAMESPACED: bool = true;

    fn api<K>(client: Client, namespace: &str) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = Self>,
    {
        Api::namespaced(client, namespace)
    }
}

impl ObjectScope for ClusterResourceScope {
    const NAMESPACED: bool = false;

    fn api<K>(client: Client, _: &str) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = Self>,
    {
        Api::all(client)
    }
}

/// The type of an object as a value.
///
/// Everything that runs is written for these, so that it is compiled once and not for each type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedResource {
    pub(crate) resource: ApiResource,
    pub(crate) namespaced: bool,
}

impl ScopedResource {
    /// The type that a Rust type stands for.
    pub fn of<K: TypedObject>() -> Self {
        Self {
            resource: ApiResource::erase::<K>(&()),
            namespaced: <K::Scope as ObjectScope>::NAMESPACED,
        }
    }

    /// A type that is known only when the operator runs, whose objects live in namespaces.
    pub fn namespaced(resource: ApiResource) -> Self {
        Self {
            resource,
            namespaced: true,
        }
    }

    /// A type that is known only when the operator runs, whose objects have no namespaces.
    pub fn cluster_scoped(resource: ApiResource) -> Self {
        Self {
            resource,
            namespaced: false,
        }
    }

    /// The objects in `namespace`, or all of them; a cluster-scoped type has no namespaces.
    pub(crate) fn api<K>(&self, client: Client, namespace: Option<&str>) -> Api<K>
    where
        K: Resource<DynamicType = ApiResource, Scope = DynamicResourceScope>,
    {
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.resource),
            None => Api::all_with(client, &self.resource),
        }
    }
}

impl fmt::Display for ScopedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in {}",
            self.resource.plural, self.resource.api_version
        )
    }
}

/// Which objects of a type are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) labels: Option<String>,
    pub(crate) fields: Option<String>,
    /// None are those that the operator works in.
    pub(crate) namespaces: BTreeSet<String>,
}
