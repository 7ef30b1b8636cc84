//! Looks in a CRD for what the API server refuses when somebody creates it.
//!
//! The rules are those of `apiextensions.k8s.io/v1` (Kubernetes documentation, "Extend the Kubernetes API with
//! CustomResourceDefinitions"; the details are those of Kubernetes 1.37). A test asks a real API server about thousands of
//! CRDs. These are left to the API server: whether a default fulfils a CEL rule; the format of a default; the conversion
//! webhook.

mod branches;
mod cel;
mod defaults;
mod definition;
mod fields;
mod keywords;
mod node;
mod patterns;
mod rules;
mod schema;

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

pub(super) use cel::escape;

/// Why the API server refuses a CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The version; empty if it is not about one version.
    pub version: String,
    /// The field of the object, from the root: `spec.ports[].name`, `spec.labels{}`; empty if it is not about one field.
    pub path: String,
    /// The Rust type that has this field, if it is known.
    pub owner: Option<String>,
    /// The reason, as a sentence without a full stop.
    pub why: String,
    /// The attribute to write or to change.
    pub help: &'static str,
}

impl fmt::Display for Refusal {
    /// Two lines: the place and the reason, then the help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = [self.version.clone(), format!("`{}`", self.path)];
        let owner = self.owner.as_ref().map(|owner| format!("of `{owner}`"));
        let place = place.into_iter().chain(owner);
        let place: Vec<_> = place
            .filter(|part| !part.is_empty() && part != "``")
            .collect();
        let (place, why, help) = (place.join(" "), &self.why, self.help);
        let separator = if place.is_empty() { "" } else { ": " };
        write!(f, "  {place}{separator}{why}\n  help: {help}")
    }
}

/// Why the API server would refuse to create `crd`; empty if it would not.
pub fn refusals(crd: &CustomResourceDefinition) -> Vec<Refusal> {
    let mut refusals = Refusals::default();
    definition::check(crd, &mut refusals);
    refusals.list
}

/// The refusals so far, and the place that is being judged.
#[derive(Default)]
struct Refusals {
    version: String,
    path: String,
    list: Vec<Refusal>,
}

impl Refusals {
    /// Adds a refusal at the current place.
    fn add(&mut self, help: &'static str, why: impl Into<String>) {
        self.list.push(Refusal {
            version: self.version.clone(),
            path: self.path.clone(),
            owner: None,
            why: why.into(),
            help,
        });
    }

    /// Judges what is below `step`: `[]` for the items of a list, `{}` for the values of a map.
    fn below(&mut self, step: &str, judge: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(step);
        judge(self);
        self.path.truncate(length);
    }

    /// Judges the field `name`.
    fn field(&mut self, name: &str, judge: impl FnOnce(&mut Self)) {
        let separator = if self.path.is_empty() { "" } else { "." };
        self.below(&format!("{separator}{name}"), judge);
    }
}
