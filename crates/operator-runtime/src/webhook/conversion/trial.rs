//! Runs a conversion without a server, for tests.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, from_slice, from_str};

use super::{
    Spoke, convert,
    object::{self, Fields},
    version::{Reason, normalize},
};
use crate::object::TypedObject;

impl<H: TypedObject> Spoke<H> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    pub(crate) fn is_fallible(&self) -> bool {
        self.fallible
    }

    /// Whether [`Spoke::drops`] names the field at `path`, or a parent of it.
    pub(crate) fn may_lose(&self, path: &[String]) -> bool {
        // List items have no names of their own.
        let keys = path.iter().filter(|key| key.parse::<usize>().is_err());
        let path = keys.fold(String::new(), |path, key| path + "." + key) + ".";
        let mut fields = self.drops.iter();
        fields.any(|field| path.starts_with(&format!(".{field}.")))
    }

    pub(crate) fn crd(&self) -> CustomResourceDefinition {
        self.version.crd()
    }

    /// Converts an object of this version to the hub (`up`), or the other way round.
    pub(crate) fn convert(&self, object: &Value, up: bool) -> Result<Value, Reason> {
        let group = H::group(&());
        let (from, to, version) = match up {
            true => (Some(self), None, H::version(&())),
            false => (None, Some(self), self.name.as_str().into()),
        };
        let (object, mut output) = (object.to_string(), Vec::new());
        let fields: Fields = from_str(&object).map_err(|error| error.to_string())?;
        convert::convert(
            &fields,
            from,
            to,
            &format!("{group}/{version}"),
            &mut output,
        )?;
        from_slice(&output).map_err(|error| error.to_string())
    }

    /// An object as its type serializes it, of the hub or of this version.
    pub(crate) fn normalize(&self, object: &Value, hub: bool) -> Result<Value, Reason> {
        let object = object.to_string();
        let fields: Fields = from_str(&object).map_err(|error| error.to_string())?;
        let node = object::read(&fields).map_err(|error| error.to_string())?;
        match hub {
            true => normalize::<H>(&node),
            false => self.version.normalize(&node),
        }
    }
}
