//! Objects of a type that is known when the code is compiled, or at run time.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::api::{DynamicObject, ObjectMeta, TypeMeta};
use serde_json::value::{RawValue, to_raw_value};

use super::{ScopedResource, TypedObject};

/// An object that can be applied: a [`TypedObject`], or a [`ScopedObject`] of a type that is known at run time.
pub trait AnyObject: Clone + Send + Sync + 'static {
    /// The type of the object.
    fn resource(&self) -> ScopedResource;

    /// The metadata of the object.
    fn metadata(&self) -> &ObjectMeta;

    /// The metadata of the object, to be changed.
    fn metadata_mut(&mut self) -> &mut ObjectMeta;

    /// The controller reference to the object; `None` without a name or a uid.
    fn controller_reference(&self) -> Option<OwnerReference>;

    /// The object as JSON, with its `apiVersion` and `kind`.
    ///
    /// # Errors
    /// If the object does not serialize.
    fn to_json(&self) -> serde_json::Result<Box<RawValue>>;
}

impl<K: TypedObject> AnyObject for K {
    fn resource(&self) -> ScopedResource {
        ScopedResource::of::<K>()
    }

    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        self.meta_mut()
    }

    fn controller_reference(&self) -> Option<OwnerReference> {
        self.controller_owner_ref(&())
    }

    fn to_json(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(self)
    }
}

/// An object with its type, which is known at run time; made by [`ScopedResource::object`].
#[derive(Clone, Debug, PartialEq)]
pub struct ScopedObject {
    resource: ScopedResource,
    object: DynamicObject,
}

impl ScopedResource {
    /// `object` as one of this type, for an [`Applier`](crate::Applier). Its own `apiVersion` and `kind` are
    /// replaced.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
    /// # use example::Memcached;
    /// use kube::{ResourceExt, api::{ApiResource, DynamicObject, GroupVersionKind}};
    /// use operator_runtime::{Applier, ScopedResource};
    ///
    /// async fn certificate(applier: &Applier, memcached: &Memcached) -> kube::Result<()> {
    ///     let kind = GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate");
    ///     let resource = ApiResource::from_gvk(&kind);
    ///     let certificate = DynamicObject::new(&memcached.name_any(), &resource)
    ///         .data(serde_json::json!({ "spec": { "secretName": "tls" } }));
    ///     let kind = ScopedResource::namespaced(resource);
    ///     applier.owned(memcached, kind.object(certificate)).await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn object(&self, object: DynamicObject) -> ScopedObject {
        let (api_version, kind) = (&self.resource.api_version, &self.resource.kind);
        let types = TypeMeta {
            api_version: api_version.clone(),
            kind: kind.clone(),
        };
        ScopedObject {
            resource: self.clone(),
            object: DynamicObject {
                types: Some(types),
                ..object
            },
        }
    }
}

impl AnyObject for ScopedObject {
    fn resource(&self) -> ScopedResource {
        self.resource.clone()
    }

    fn metadata(&self) -> &ObjectMeta {
        &self.object.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.object.metadata
    }

    fn controller_reference(&self) -> Option<OwnerReference> {
        self.object.controller_owner_ref(&self.resource.resource)
    }

    fn to_json(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(&self.object)
    }
}
