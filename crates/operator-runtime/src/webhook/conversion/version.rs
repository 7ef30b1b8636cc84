//! A version beside the hub, without its type parameter.

use std::{io, marker::PhantomData, mem};

#[cfg(feature = "testing")]
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde_json::Value;

use super::{node::Node, take::take};
use crate::object::TypedObject;

/// The reason why an object does not convert.
pub(super) type Reason = String;

/// A version that converts to the hub `H` and back.
pub(super) trait Version<H>: Send + Sync {
    /// The hub; with the serialized version, if the version may not have taken everything.
    fn up(&self, object: &Node) -> Result<(H, Option<Value>), Reason>;

    /// The JSON of the object in this version, with meaningless metadata; and the hub after a round trip, unless
    /// the object does not convert back.
    fn down(&self, hub: H) -> Result<(String, Option<H>), Reason>;

    /// The hub in this version, without metadata.
    fn show(&self, hub: H) -> Result<Value, Reason>;

    /// An object as its type serializes it.
    fn normalize(&self, object: &Node) -> Result<Value, Reason>;

    /// The CRD with this version.
    #[cfg(feature = "testing")]
    fn crd(&self) -> CustomResourceDefinition;
}

/// The conversions between the version `S` and the hub `H`.
pub(super) struct Functions<S, H, U, D> {
    up: U,
    down: D,
    types: PhantomData<fn(S) -> H>,
}

impl<S, H, U, D> Functions<S, H, U, D>
where
    U: Fn(S) -> Result<H, Reason> + Send + Sync,
    D: Fn(H) -> Result<S, Reason> + Send + Sync,
{
    pub(super) fn new(up: U, down: D) -> Self {
        Self {
            up,
            down,
            types: PhantomData,
        }
    }
}

impl<S, H, U, D> Version<H> for Functions<S, H, U, D>
where
    S: TypedObject + CustomResourceExt,
    H: TypedObject,
    U: Fn(S) -> Result<H, Reason> + Send + Sync,
    D: Fn(H) -> Result<S, Reason> + Send + Sync,
{
    fn up(&self, object: &Node) -> Result<(H, Option<Value>), Reason> {
        let (spoke, taken) = read::<S>(object)?;
        Ok(((self.up)(spoke)?, taken))
    }

    fn down(&self, hub: H) -> Result<(String, Option<H>), Reason> {
        let mut spoke = (self.down)(hub)?;
        let json = write(&mut spoke)?;
        Ok((json, (self.up)(spoke).ok()))
    }

    fn show(&self, hub: H) -> Result<Value, Reason> {
        let mut spoke = (self.down)(hub)?;
        mem::take(spoke.meta_mut());
        let mut spoke = serde_json::to_value(spoke).map_err(|error| error.to_string())?;
        spoke["metadata"].take();
        Ok(spoke)
    }

    fn normalize(&self, object: &Node) -> Result<Value, Reason> {
        normalize::<S>(object)
    }

    #[cfg(feature = "testing")]
    fn crd(&self) -> CustomResourceDefinition {
        S::crd()
    }
}

pub(super) fn normalize<K: TypedObject>(object: &Node) -> Result<Value, Reason> {
    let (value, _) = read::<K>(object)?;
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// An object as its type; with the serialized type, if the type may not have taken everything.
pub(super) fn read<K: TypedObject>(object: &Node) -> Result<(K, Option<Value>), Reason> {
    let (value, missed) = take::<K>(object).map_err(|error| error.to_string())?;
    let taken = missed.then(|| serde_json::to_value(&value)).transpose();
    Ok((value, taken.map_err(|error| error.to_string())?))
}

/// An object as JSON, with meaningless metadata.
pub(super) fn write<K: TypedObject>(object: &mut K) -> Result<String, Reason> {
    let metadata = mem::take(object.meta_mut());
    let json = serde_json::to_string(object).map_err(|error| error.to_string());
    *object.meta_mut() = metadata;
    json
}

/// Whether the JSON of an object is `json`, which [`write`] returned for another one.
pub(super) fn is_same<K: TypedObject>(object: &mut K, json: &str) -> bool {
    mem::take(object.meta_mut());
    let mut left = Expected(json.as_bytes());
    serde_json::to_writer(&mut left, object).is_ok() && left.0.is_empty()
}

/// Takes only these bytes.
struct Expected<'a>(&'a [u8]);

impl io::Write for Expected<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.0.strip_prefix(bytes);
        self.0 = rest.ok_or(io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
