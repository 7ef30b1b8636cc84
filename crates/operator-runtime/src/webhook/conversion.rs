//! Conversion between the versions of a kind.
//!
//! One version is the hub. Each other version is a [`Spoke`], which converts to the hub and back, so
//! versions need not know each other. Fields that the types do not know are preserved at the same place:
//! during an upgrade, an older replica drops no field that a newer one wrote.

mod annotation;
mod convert;
mod elements;
mod kept;
mod node;
mod object;
#[cfg(feature = "envtest")]
mod recorded;
mod review;
mod spoke;
mod take;
#[cfg(test)]
pub(super) mod tests;
mod text;
#[cfg(feature = "testing")]
mod trial;
mod unknown;
mod version;

use std::collections::BTreeMap;

use crate::object::TypedObject;
pub(crate) use review::Review;
#[cfg(any(test, feature = "testing"))]
pub(crate) use review::convert;
pub use spoke::Spoke;

use self::{object::Fields, version::Reason};

/// The versions of a kind, all of which convert to the hub and back.
///
/// [`Spoke`] has an example.
pub struct Conversion {
    group: String,
    kind: String,
    plural: String,
    hub: String,
    versions: Box<dyn Versions>,
}

impl Conversion {
    /// Starts the conversion with the hub `H`; other versions are [added](Hub::add).
    pub fn to<H: TypedObject>() -> Hub<H> {
        Hub {
            spokes: BTreeMap::new(),
        }
    }

    /// The name of its CRD.
    pub(crate) fn definition(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The group and the kind.
    pub(crate) fn group_kind(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }

    /// The version that holds every field.
    pub(crate) fn hub(&self) -> &str {
        &self.hub
    }

    /// Whether it converts this version.
    pub(crate) fn has(&self, version: &str) -> bool {
        self.versions.has(version)
    }

    /// The versions of the hub and its spokes.
    pub(crate) fn versions(&self) -> Vec<String> {
        self.versions.names()
    }
}

/// The hub and its spokes.
pub struct Hub<H> {
    spokes: BTreeMap<String, Spoke<H>>,
}

impl<H: TypedObject> Hub<H> {
    /// Adds a spoke.
    ///
    /// # Panics
    /// If the spoke is of another kind than the hub, or its version was already added.
    pub fn add(&mut self, spoke: Spoke<H>) {
        let (group, kind) = (H::group(&()), H::kind(&()));
        let same = spoke.group_kind.0 == group && spoke.group_kind.1 == kind;
        let (name, (spoke_group, spoke_kind)) = (&spoke.name, &spoke.group_kind);
        assert!(
            same,
            "{spoke_kind} in {spoke_group}/{name} is not a version of {kind} in {group}"
        );
        let there = *name == H::version(&()) || self.spokes.contains_key(name);
        assert!(!there, "{kind} in {group} has {name} twice");
        self.spokes.insert(spoke.name.clone(), spoke);
    }
}

impl<H: TypedObject> From<Hub<H>> for Conversion {
    fn from(hub: Hub<H>) -> Self {
        Self {
            group: H::group(&()).into_owned(),
            kind: H::kind(&()).into_owned(),
            plural: H::plural(&()).into_owned(),
            hub: H::version(&()).into_owned(),
            versions: Box::new(hub),
        }
    }
}

/// A hub without its type parameter.
trait Versions: Send + Sync {
    fn has(&self, version: &str) -> bool;

    fn names(&self) -> Vec<String>;

    /// Appends the object in another version to `answer`. Both versions exist.
    fn convert(
        &self,
        object: &Fields,
        versions: (&str, &str),
        api_version: &str,
        answer: &mut Vec<u8>,
    ) -> Result<(), Reason>;
}

impl<H: TypedObject> Versions for Hub<H> {
    fn has(&self, version: &str) -> bool {
        version == H::version(&()) || self.spokes.contains_key(version)
    }

    fn names(&self) -> Vec<String> {
        let hub = H::version(&()).into_owned();
        self.spokes.keys().cloned().chain([hub]).collect()
    }

    fn convert(
        &self,
        object: &Fields,
        (from, to): (&str, &str),
        api_version: &str,
        answer: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let (from, to) = (self.spokes.get(from), self.spokes.get(to));
        convert::convert(object, from, to, api_version, answer)
    }
}
