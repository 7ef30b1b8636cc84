//! A version beside the hub.

use std::fmt::Display;

use kube::CustomResourceExt;

use super::version::{Functions, Reason, Version};
use crate::object::TypedObject;

/// A version that converts to the hub `H` and back.
///
/// A conversion sees the metadata without `managedFields`, and cannot change it: an object has the same
/// metadata in every version.
///
/// # What the version cannot hold
///
/// The fields of the hub that this version cannot hold are kept in an annotation, so that a client that
/// reads and writes this version erases nothing. They are found by a round trip of the hub through this
/// version. They are restored when the object becomes the hub again, unless a user has changed the matching
/// fields of this version, or would then see something else in this version than was written. The annotation is `conversion.GROUP/HUB`, such as
/// `conversion.cache.example.com/v1`, and the hub never has it. In a list whose elements have a unique
/// `name` or `type`, the parts of each element are kept. Other lists are restored as a whole, and only if
/// they are unchanged.
///
/// All annotations of an object share 256 KiB. An object that needs more does not convert to this version,
/// with the consequences that [`fallible`](Self::fallible) describes; losing the fields on the next write
/// would be worse. Bound those fields in the schema, or name them in [`drops`](Self::drops). A user who may
/// write objects in this version may also write the kept fields, including the status.
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
    /// Only read by trials.
    #[cfg_attr(not(feature = "testing"), expect(dead_code))]
    pub(super) fallible: bool,
    drops: Vec<String>,
}

impl<H: TypedObject> Spoke<H> {
    /// A version `S` whose conversions cannot fail.
    pub fn of<S>() -> Self
    where
        S: TypedObject + CustomResourceExt + From<H>,
        H: From<S>,
    {
        Self::new(false, |spoke: S| Ok(H::from(spoke)), |hub| Ok(S::from(hub)))
    }

    /// A version `S` whose conversions can fail.
    ///
    /// One stored object that does not convert fails every list and every watch of its kind in that
    /// version, in all namespaces. Controllers of the kind stop, and no namespace or owner is deleted while
    /// the garbage collector cannot list the kind. Prefer a default for a value without a counterpart, and
    /// validation, which refuses objects before they are stored.
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

    pub(super) fn new<S>(
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
            fallible,
            drops: Vec::new(),
        }
    }

    /// Declares that these fields, such as `spec.schedule`, and their contents may be lost between the hub
    /// and this version: they are not kept in the annotation, and the test `round_trip` skips them. A write
    /// in this version erases or changes them.
    #[must_use]
    pub fn drops(self, fields: &[&str]) -> Self {
        Self {
            drops: fields.iter().map(ToString::to_string).collect(),
            ..self
        }
    }

    /// Whether [`drops`](Self::drops) names the field at `path`, or a parent of it. The path has no list
    /// elements, because they have no names of their own.
    pub(super) fn may_lose<'a>(&self, path: impl Iterator<Item = &'a str>) -> bool {
        let path = path.fold(String::new(), |path, key| path + "." + key) + ".";
        let mut fields = self.drops.iter();
        fields.any(|field| path.starts_with(&format!(".{field}.")))
    }
}
