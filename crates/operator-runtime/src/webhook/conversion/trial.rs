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

    pub(crate) fn is_fallible(&self) -> bool {
        self.fallible
    }

    /// Whether the value at `path`, of keys and indexes of lists, may be lost.
    pub(crate) fn may_lose_at(&self, path: &[String]) -> bool {
        // The annotation tells what is lost, which the fields themselves do, too.
        if path.first().is_some_and(|key| key == "metadata") {
            return true;
        }
        let keys = path.iter().filter(|key| key.parse::<usize>().is_err());
        self.may_lose(keys.map(String::as_str))
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
