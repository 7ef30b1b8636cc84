//! Kubernetes types: as Rust types in the public API, as values inside the manager.

mod any;
pub(crate) mod place;
mod rbac;
mod selector;
pub(crate) mod trim;

use std::fmt::{self, Debug};

use kube::{
    Api, Client, Resource,
    api::ApiResource,
    core::{ClusterResourceScope, DynamicResourceScope, GroupVersionKind, NamespaceResourceScope},
    discovery::{Scope, pinned_kind},
    error::DiscoveryError,
};
use serde::{Serialize, de::DeserializeOwned};

pub use any::{AnyObject, ScopedObject};
pub use rbac::{Rules, Verb};
pub(crate) use selector::Selector;
#[cfg(feature = "testing")]
pub(crate) use selector::{expression, terms};

/// A type that can be watched: a `CustomResource`, or a type of `k8s_openapi`.
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
    /// Whether the type is namespaced.
    const NAMESPACED: bool;

    /// The API for the objects in `namespace`; for all objects if the type is cluster-scoped.
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

/// The API for the type of `object`, in its namespace. An object without a namespace is in the default one of
/// the client.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// # async fn read(client: &kube::Client, memcached: &Memcached) -> kube::Result<()> {
/// let newest = operator_runtime::api_of(client, memcached).get("a").await?;
/// # Ok(())
/// # }
/// ```
pub fn api_of<K: TypedObject>(client: &Client, object: &K) -> Api<K> {
    let namespace = object.meta().namespace.as_deref();
    let namespace = namespace.unwrap_or(client.default_namespace());
    K::Scope::api(client.clone(), namespace)
}

/// A Kubernetes type as a value, with its scope.
///
/// The manager works with these values, so that its code is compiled once and not per type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedResource {
    pub(crate) resource: ApiResource,
    pub(crate) namespaced: bool,
}

impl ScopedResource {
    /// The Kubernetes type of a Rust type.
    pub fn of<K: TypedObject>() -> Self {
        Self {
            resource: ApiResource::erase::<K>(&()),
            namespaced: <K::Scope as ObjectScope>::NAMESPACED,
        }
    }

    /// A namespaced type that is known only at run time.
    pub fn namespaced(resource: ApiResource) -> Self {
        Self {
            resource,
            namespaced: true,
        }
    }

    /// A cluster-scoped type that is known only at run time.
    pub fn cluster_scoped(resource: ApiResource) -> Self {
        Self {
            resource,
            namespaced: false,
        }
    }

    /// Whether both are the same type, in any version.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (&self.resource, &other.resource);
        one.group == other.group && one.plural == other.plural
    }

    /// The type of this kind, if the API server serves it.
    ///
    /// # Errors
    /// Errors of the API server.
    pub async fn discover(client: &Client, kind: &GroupVersionKind) -> kube::Result<Option<Self>> {
        match pinned_kind(client, kind).await {
            Ok((resource, capabilities)) => Ok(Some(Self {
                resource,
                namespaced: capabilities.scope == Scope::Namespaced,
            })),
            // For an unknown group, the 404 is plain text, without a reason.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(kube::Error::Discovery(DiscoveryError::MissingKind(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether objects of the type have a namespace.
    pub fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// The API for the objects in `namespace`, or for all objects; a cluster-scoped type ignores the
    /// namespace.
    pub fn api<K>(&self, client: Client, namespace: Option<&str>) -> Api<K>
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
