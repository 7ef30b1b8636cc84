//! A version beside the hub.

use std::fmt::Display;

use kube::CustomResourceExt;

use super::version::{Functions, Reason, Version};
use crate::object::TypedObject;

/// A version that converts to the hub `H` and back.
///
/// A conversion sees the metadata without `managedFields`, and cannot change it: the metadata of an
/// object is the same in every version.
///
/// ```
/// # macro_rules! version { ($module:ident, $version:literal, $field:ident) => { mod $module {
/// #     #[derive(Clone, Debug, kube::CustomResource, serde::Deserialize, schemars::JsonSchema, serde::Serialize)]
/// #     #[kube(group = "cache.example.com", version = $version, kind = "Memcached", namespaced)]
/// #     pub struct MemcachedSpec { pub $field: i32 }
/// # } } }
/// # version!(v1, "v1", replicas);
/// # version!(v1alpha1, "v1alpha1", size);
/// use operator_runtime::webhook::{Conversion, Hub, Spoke, Webhooks};
///
/// impl From<v1alpha1::Memcached> for v1::Memcached {
///     fn from(spoke: v1alpha1::Memcached) -> Self {
///         let v1alpha1::MemcachedSpec { size } = spoke.spec;
///         let spec = v1::MemcachedSpec { replicas: size };
///         Self { metadata: spoke.metadata, spec }
///     }
/// }
///
/// impl From<v1::Memcached> for v1alpha1::Memcached {
///     fn from(hub: v1::Memcached) -> Self {
///         let v1::MemcachedSpec { replicas } = hub.spec;
///         let spec = v1alpha1::MemcachedSpec { size: replicas };
///         Self { metadata: hub.metadata, spec }
///     }
/// }
///
/// fn main() {
///     let mut hub: Hub<v1::Memcached> = Conversion::to();
///     hub.add(Spoke::of::<v1alpha1::Memcached>());
///     Webhooks::<()>::default().convert(hub);
/// }
/// ```
pub struct Spoke<H> {
    pub(super) name: String,
    pub(super) group_kind: (String, String),
    pub(super) version: Box<dyn Version<H>>,
    pub(super) keeps: bool,
    /// Only a trial asks.
    #[cfg_attr(not(feature = "testing"), expect(dead_code))]
    pub(super) fallible: bool,
    /// Only a trial asks.
    #[cfg_attr(not(feature = "testing"), expect(dead_code))]
    pub(super) loses: Vec<String>,
}

impl<H: TypedObject> Spoke<H> {
    /// The version `S`, which always converts to the hub and back.
    pub fn of<S>() -> Self
    where
        S: TypedObject + CustomResourceExt + From<H>,
        H: From<S>,
    {
        Self::new(false, |spoke: S| Ok(H::from(spoke)), |hub| Ok(S::from(hub)))
    }

    /// The version `S`, which does not always convert.
    ///
    /// Think twice. One stored object that does not convert fails every list and every watch of its
    /// type in that version, in all namespaces, and with them the controllers that use it, and
    /// namespaces and owners cannot be deleted as long as the garbage collector cannot list the
    /// type. Where a value of one version means nothing in another one, a default and
    /// [`keep_in_annotation`](Self::keep_in_annotation) are better, and validation refuses objects
    /// before they are stored.
    pub fn fallible<S>() -> Self
    where
        S: TypedObject + CustomResourceExt + TryFrom<H, Error: Display>,
        H: TryFrom<S, Error: Display>,
    {
        let up = |spoke: S| H::try_from(spoke).map_err(|error| error.to_string());
        let down =
            |hub| S::try_from(hub).map_err(|error: <S as TryFrom<H>>::Error| error.to_string());
        Self::new(true, up, down)
    }

    fn new<S>(
        fallible: bool,
        up: impl Fn(S) -> Result<H, Reason> + Send + Sync + 'static,
        down: impl Fn(H) -> Result<S, Reason> + Send + Sync + 'static,
    ) -> Self
    where
        S: TypedObject + CustomResourceExt,
    {
        Self {
            name: S::version(&()).into_owned(),
            group_kind: (S::group(&()).into_owned(), S::kind(&()).into_owned()),
            version: Box::new(Functions::new(up, down)),
            keeps: false,
            fallible,
            loses: Vec::new(),
        }
    }

    /// Keeps what the version cannot hold of the hub in an annotation, so that an object which is
    /// read and written in this version loses nothing.
    ///
    /// What is kept is found by converting the hub to this version and back. It is put back when the
    /// object becomes the hub again, except where somebody has changed, through this version, what it
    /// stands for. The annotation is `conversion.GROUP/HUB`, such as
    /// `conversion.cache.example.com/v1`, and the hub never has it. Of a list it keeps the parts of
    /// those elements that have a `name` or `type` of their own; other lists are put back as a whole,
    /// and only if they were not changed.
    ///
    /// The annotations of an object may have 256 KiB in total. An object that needs more does not
    /// convert to this version, with the consequences that [`fallible`](Self::fallible) names: that
    /// is bad, and to lose it with the next write is worse. So bound in the schema what this version
    /// cannot hold. Who may write objects in this version may also write what is kept, the status
    /// included.
    #[must_use]
    pub fn keep_in_annotation(self) -> Self {
        Self {
            keeps: true,
            ..self
        }
    }

    /// Says that these fields, such as `spec.schedule`, do not come back as they were, with what is in them: the test
    /// `round_trip` passes over them, and a reader knows. Their values change when somebody applies the same object in
    /// another version.
    #[must_use]
    pub fn loses(self, fields: &[&str]) -> Self {
        Self {
            loses: fields.iter().map(ToString::to_string).collect(),
            ..self
        }
    }
}
