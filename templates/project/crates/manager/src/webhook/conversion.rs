//! Conversion between the versions of a type.

use std::marker::PhantomData;

use axum::http::StatusCode;
use kube::Resource;
use serde::{Serialize, de::DeserializeOwned};

/// The versions of a type, each of which converts to one of them, the hub.
pub struct Conversion {
    group: String,
    kind: String,
    plural: String,
}

impl Conversion {
    /// A conversion by way of the hub `H`.
    pub fn to<H: Resource<DynamicType = ()>>() -> Self {
        Self {
            group: H::group(&()).into_owned(),
            kind: H::kind(&()).into_owned(),
            plural: H::plural(&()).into_owned(),
        }
    }

    /// Adds another version.
    pub fn add<H>(&mut self, _spoke: Spoke<H>) {}

    /// The name of its CRD.
    pub(crate) fn definition(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The group and the kind of the type.
    pub(crate) fn group_kind(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }
}

/// A version that converts to the hub `H` and back.
pub struct Spoke<H>(PhantomData<fn() -> H>);

impl<H> Spoke<H> {
    /// The version `S`, whose conversion never fails.
    pub fn of<S>() -> Self
    where
        S: From<H> + Resource<DynamicType = ()> + DeserializeOwned + Serialize,
        H: From<S> + Resource<DynamicType = ()> + DeserializeOwned + Serialize,
    {
        Self(PhantomData)
    }

    /// The version `S`, whose conversion may fail.
    pub fn fallible<S>() -> Self
    where
        S: TryFrom<H> + Resource<DynamicType = ()> + DeserializeOwned + Serialize,
        H: TryFrom<S> + Resource<DynamicType = ()> + DeserializeOwned + Serialize,
    {
        Self(PhantomData)
    }

    /// Keeps in an annotation what the version cannot hold.
    #[must_use]
    pub fn keep_in_annotation(self) -> Self {
        self
    }
}

/// The answer to a ConversionReview.
pub(crate) fn convert(_: &[Conversion], _: &[u8]) -> Result<Vec<u8>, StatusCode> {
    Err(StatusCode::NOT_IMPLEMENTED)
}
