//! What templates see of webhooks.

use serde::Serialize;

use crate::syntax::Conversion;

/// `server`: the webhook server as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct ServerContext {
    /// Whether the project has webhooks of any kind.
    pub exists: bool,
    /// Whether objects are defaulted.
    pub defaulting: bool,
    /// Whether objects are validated.
    pub validation: bool,
    /// The CRDs whose versions are converted.
    pub converted: Vec<String>,
    /// Where its certificate comes from: `self-managed`, `cert-manager` or `mounted`.
    pub certificates: String,
}

/// An item of `webhook_groups` and `tested_groups`: modules, as rustfmt sorts them.
#[derive(Clone, Debug, Serialize)]
pub struct ModuleContext {
    /// The module.
    pub module: String,
    /// The modules in it; empty for a file.
    pub inner: Vec<ModuleContext>,
}

/// `webhook`: an entry whose objects are defaulted or validated.
#[derive(Clone, Debug, Serialize)]
pub struct WebhookContext {
    /// The group's module.
    pub group_module: String,
    /// The group's directory.
    pub group_file: String,
    /// The version, also its module.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The kind's module.
    pub module: String,
    /// The module's directory.
    pub file: String,
    /// The API group; empty for Kubernetes' `core`.
    pub api_group: String,
    /// The Rust type, as the file calls it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What the file imports: the type's full path, perhaps with another name for it.
    pub import: String,
    /// Whether this project defines the type.
    pub own: bool,
    /// Whether another project defines the type. If not, it has values to compare: it is `Default` and `PartialEq`.
    pub external: bool,
    /// The fields of a smallest object beside its metadata, if it is known.
    pub sample: Option<String>,
    /// Whether it has an integration test: a smallest object is known, or follows from the CRD of another project.
    pub tested: bool,
    /// Whether new and changed objects are defaulted.
    pub defaulting: bool,
    /// Whether new and changed objects are validated.
    pub validation: bool,
}

/// An item of `admissions`: one webhook that is asked before an object is stored.
#[derive(Clone, Debug, Serialize)]
pub struct AdmissionContext {
    /// The function that declares it, from `src/webhooks.rs`.
    pub function: String,
    /// Where the API server calls it, if `PROJECT` says so.
    pub path: Option<String>,
}

/// `conversion`: a kind whose versions are converted to one of them.
#[derive(Clone, Debug, Serialize)]
pub struct ConversionContext {
    /// The full path of the hub's type.
    pub hub: String,
    /// The other versions, by age.
    pub spokes: Vec<SpokeContext>,
}

/// `spoke`: a version that is converted to the hub and back.
#[derive(Clone, Debug, Serialize)]
pub struct SpokeContext {
    /// The group's module.
    pub group_module: String,
    /// The group's directory.
    pub group_file: String,
    /// The version, also its module.
    pub version: String,
    /// The hub's version.
    pub hub: String,
    /// What the file calls this version: the version, or `spoke` where that would make lines too long.
    pub name: String,
    /// What it calls the hub: its version, or `hub`.
    pub hub_name: String,
    /// Whether the hub comes first in the order of imports.
    pub hub_first: bool,
    /// The kind.
    pub kind: String,
    /// The kind's module.
    pub module: String,
    /// The module's directory.
    pub file: String,
    /// The API group.
    pub api_group: String,
    /// The Rust type of the object, in both versions.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What is done with every field: those of new types.
    pub fields: Conversion,
}
