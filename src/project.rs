//! The desired state: `PROJECT` as types, the rules between its parts, and its edits by commands.
//!
//! Invariants: a [`Project`] outside this module keeps every rule, whether a command made it or a person edited the file; edits
//! are pure functions; equal projects are written as equal bytes.

mod compare;
mod correction;
mod crypto;
mod deploy_image;
mod edit;
mod file;
mod finalizer;
mod license;
mod owned;
mod plugin;
mod replicas;
mod rules;
mod runtime;
mod source;
mod view;
mod violation;
mod webhooks;

#[cfg(test)]
pub mod laws;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod webhook_tests;
#[cfg(test)]
mod webhook_type_tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_yaml::Mapping;

pub use self::compare::check_unchanging;
pub use self::correction::FILE;
pub use self::crypto::Crypto;
pub use self::deploy_image::DeployImage;
pub use self::edit::{
    CreateApi, CreateWebhook, DeleteApi, DeleteWebhook, EditApi, EditSettings, External, Gvk,
    Import, Imported, InitOptions, NewVersion, Rename, Target, check_belongs, fixed,
};
use self::file::{FormatVersion, OptionsEntry, is_default};
pub use self::file::{above, missing};
pub use self::license::{CopyrightHolder, Header, License};
pub use self::plugin::{Plugin, PluginEdit};
pub use self::replicas::Replicas;
pub use self::runtime::{PACKAGE as RUNTIME, Runtime};
pub use self::source::{Definition, Source};
pub use self::view::{ApiView, ControllerView, KindView, WebhookView};
pub use self::violation::{Origin, Remedy, Violation};
pub use self::webhooks::{Admission, Certificates, Webhooks};
use crate::advice::Script;
use crate::error::{Failure, Result};
use crate::field::Field;
use crate::name::{
    AnsiblePath, ChartPath, ControllerName, Domain, Group, Kind, LeaseName, Plural, ProjectName,
    Recipe, RustPath, ShortName, Version, api_group,
    kubernetes::{self, CoreType, KubernetesVersion},
    rust,
};
use crate::tree::RelPath;

/// The layout that `PROJECT` names, and the key of our settings under `plugins`.
pub const LAYOUT: &str = "rust.operator-forge/v1";

/// The template set of this binary. `operator-forge update` updates a project of an older set.
pub const TEMPLATES: u32 = 6;

/// Unknown fields, which are written back as they were read.
type Extra = Mapping;

/// A project: the desired state that every command edits or reconciles.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The suffix of its API groups; may be empty.
    pub domain: Domain,
    /// The prefix of the objects in its manifests.
    pub name: ProjectName,
    /// Whether the operator watches the namespaces in `WATCH_NAMESPACE` (with a Role in each) instead of the cluster.
    pub namespaced: bool,
    /// Our own settings.
    pub settings: Settings,
    layout: Vec<String>,
    resources: BTreeMap<Key, Resource>,
    plugins: Extra,
    extra: Extra,
}

/// Our settings under `plugins`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(expecting = "the settings of operator-forge")]
pub struct Settings {
    /// The template set of the project.
    pub templates: u32,
    /// The license of generated Rust files.
    #[serde(default)]
    pub license: License,
    /// The copyright holder; may be empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub owner: CopyrightHolder,
    /// The text of `--license-file`, if the license is [`License::Custom`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub header: Option<Header>,
    /// Where the certificate of webhooks comes from; `None` until a command sets it, which means the default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub certificates: Option<Certificates>,
    /// Where the crate `operator-runtime` comes from.
    #[serde(default)]
    pub runtime: Runtime,
    /// The oldest Kubernetes that the operator works with; `None` until a command sets it, which means the newest that the
    /// templates know.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kubernetes: Option<KubernetesVersion>,
    /// The cryptography of TLS.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crypto: Crypto,
    /// The replicas that share the objects; `None` means one, or two that serve webhooks, of which the leader reconciles.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shards: Option<Replicas>,
    /// The Lease of the operator that this one replaces; `None` means that its name is the operator's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lease: Option<LeaseName>,
    /// The longest description of Kubernetes' types in CRDs, in characters; `None` until a command sets it, which means the
    /// runtime's default.
    #[serde(
        default,
        rename = "crdDescriptionLength",
        skip_serializing_if = "is_default"
    )]
    pub description_length: Option<u32>,
    /// Generated files that the user took over.
    #[serde(default, skip_serializing_if = "is_default")]
    pub owned: BTreeSet<RelPath>,
    /// Our options of entries, in the file; a project in memory has them in its resources.
    #[serde(default, rename = "resources", skip_serializing_if = "is_default")]
    options: Vec<OptionsEntry>,
    #[serde(flatten)]
    extra: Extra,
}

/// The identity of an entry. `PROJECT` is sorted by it: group, kind, domain, then version by age.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The group without the domain.
    pub group: Group,
    /// The kind.
    pub kind: Kind,
    /// The domain: the project's for its own APIs, `k8s.io` or empty for core types, any for external types.
    pub domain: Domain,
    /// The version.
    pub version: Version,
}

/// An entry of `resources`.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// The resource name in URLs and RBAC rules.
    pub plural: Plural,
    /// Set where the project defines this API.
    pub api: Option<Api>,
    /// The controllers that watch this version, by name; the kind's default one has no name of its own.
    controllers: BTreeMap<Option<ControllerName>, Controller>,
    /// Whether it is a core type.
    pub core: bool,
    /// The Rust path of an external type.
    pub external: Option<RustPath>,
    /// The CRD that the types were generated from, if a command read one.
    pub source: Option<Source>,
    /// The Helm chart whose releases the objects are: the fields of its types are the chart's values.
    pub chart: Option<ChartPath>,
    /// The Ansible role or playbook that runs for each object: the fields of its types are variables.
    pub ansible: Option<AnsiblePath>,
    /// Whether its controller is generated so that the revisions of its releases are kept as Helm keeps them.
    pub helm_storage: bool,
    /// Defaulting and validation of objects of this version, and the versions that are converted to it.
    pub webhooks: Option<Webhooks>,
    options: Extra,
    options_entry: Extra,
    extra: Extra,
}

/// How a controller was generated.
#[derive(Clone, Debug, Default, PartialEq)]
struct Controller {
    /// Whether it has a finalizer.
    finalizer: bool,
    /// Its Deployment, which only a default controller has.
    image: Option<DeployImage>,
    extra: Extra,
}

/// The part of an entry that only an API of the project has.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", expecting = "an API")]
pub struct Api {
    /// Whether its objects live in namespaces. As in kubebuilder's file, absent is cluster-scoped.
    #[serde(default, skip_serializing_if = "is_default")]
    pub namespaced: bool,
    /// Short names for kubectl, in the user's order. The file has them among our options.
    #[serde(skip)]
    pub short_names: Vec<ShortName>,
    /// The fields that its types were generated with. The file has them among our options.
    #[serde(skip)]
    pub fields: Fields,
    #[serde(default)]
    crd_version: FormatVersion,
    #[serde(flatten)]
    extra: Extra,
}

/// The fields of an API, in the user's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// The fields of `spec`, and of types that fields have.
    pub spec: Vec<Field>,
    /// The fields of `status`, without those of every status.
    pub status: Vec<Field>,
}

impl Fields {
    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.spec.is_empty() && self.status.is_empty()
    }

    /// Adds the field `size`, unless it is there word for word.
    fn with_size(mut self) -> Self {
        let size = DeployImage::size();
        if !self.spec.contains(&size) {
            self.spec.insert(0, size);
        }
        self
    }

    /// The fields that are not in `there`, word for word.
    fn without(&self, there: &Self) -> Self {
        let new = |these: &[Field], there: &[Field]| {
            let these = these.iter().filter(|field| !there.contains(field));
            these.cloned().collect()
        };
        Self {
            spec: new(&self.spec, &there.spec),
            status: new(&self.status, &there.status),
        }
    }
}

impl Resource {
    /// An entry without any part.
    fn new(plural: Plural) -> Self {
        Self {
            plural,
            api: None,
            controllers: BTreeMap::new(),
            core: false,
            external: None,
            source: None,
            chart: None,
            ansible: None,
            helm_storage: false,
            webhooks: None,
            options: Extra::new(),
            options_entry: Extra::new(),
            extra: Extra::new(),
        }
    }

    /// What its default controller runs in place of a reconcile function of the project.
    pub fn recipe(&self) -> Option<Recipe<'_>> {
        let chart = self.chart.as_ref().map(Recipe::Chart);
        chart.or_else(|| self.ansible.as_ref().map(Recipe::Ansible))
    }
}

impl Key {
    /// The API group as the API server knows it: `cache.example.com`; empty for Kubernetes' `core`.
    pub fn api_group(&self, core: bool) -> String {
        match self.group.as_str() {
            "core" if core => String::new(),
            _ => api_group(&self.group, &self.domain),
        }
    }

    /// The key of another version of the kind.
    pub fn in_version(&self, version: Version) -> Self {
        Self {
            version,
            ..self.clone()
        }
    }

    /// Kubernetes' own type of this group, version and kind.
    pub fn core_type(&self) -> Option<CoreType> {
        kubernetes::find(self.group.as_str(), self.version, &self.kind)
    }

    /// Whether both are versions of one kind.
    pub fn is_same_kind(&self, other: &Self) -> bool {
        self.full_kind() == other.full_kind()
    }

    /// The parts that all versions of a kind share.
    fn full_kind(&self) -> (&Group, &Kind, &Domain) {
        (&self.group, &self.kind, &self.domain)
    }
}

impl fmt::Display for Key {
    /// `cache/v1alpha1, Kind Memcached`, as kubectl and kubebuilder write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = match self.group.as_str() {
            "" => self.domain.as_str(),
            group => group,
        };
        write!(f, "{group}/{}, Kind {}", self.version, self.kind)
    }
}

/// A property that cannot change in a CRD that is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immutable {
    /// The plural, a part of the CRD's name.
    Plural,
    /// The scope.
    Scope,
}

impl Immutable {
    /// The property's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plural => "plural",
            Self::Scope => "scope",
        }
    }

    /// The reason that a cluster cannot follow a change.
    pub fn why(self) -> &'static str {
        match self {
            Self::Plural => {
                "a CRD is named by it: another one is another CRD, without the objects of the first"
            }
            Self::Scope => {
                "the API server refuses another scope: the CRD has to go first, and its objects go with it"
            }
        }
    }
}

impl Project {
    /// Refuses a project of another template set than this binary's: only `update` changes the recorded number.
    pub fn check_templates(&self) -> Result<()> {
        match self.settings.templates {
            TEMPLATES => Ok(()),
            theirs => {
                let failure = Failure::refused(format!(
                    "`{FILE}` was made from template set {theirs}, this operator-forge has template set {TEMPLATES}"
                ));
                Err(match theirs < TEMPLATES {
                    true => failure
                        .note("only `update` moves a project to newer templates, so a new binary alone changes nothing")
                        .advise(Script::forge("update")),
                    false => failure
                        .note("it was made by a newer release")
                        .newer_tool(),
                })
            }
        }
    }

    /// The result of `update`: the same project, with the template set of this binary.
    pub fn with_newest_templates(&self) -> Self {
        let mut project = self.clone();
        project.settings.templates = TEMPLATES;
        project
    }

    /// The operator's name in a cluster.
    pub fn operator(&self) -> String {
        match self.domain.as_str() {
            "" => self.name.to_string(),
            domain => format!("{}.{domain}", self.name),
        }
    }

    /// The version of Kubernetes whose types the project has.
    pub fn kubernetes(&self) -> KubernetesVersion {
        self.settings.kubernetes.unwrap_or_default()
    }

    /// The name of the library in code.
    pub fn library(&self) -> String {
        rust::library_name(&rust::package_name(&self.name))
    }

    /// Drops the setting of certificates with the last webhook.
    fn forget_certificates(&mut self) {
        if self.resources.values().all(|it| it.webhooks.is_none()) {
            self.settings.certificates = None;
        }
    }

    /// The resources in the order of `PROJECT`.
    pub fn resources(&self) -> impl Iterator<Item = (&Key, &Resource)> {
        self.resources.iter()
    }
}
