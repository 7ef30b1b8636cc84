//! The CRDs of a project, with all versions of a kind in one CRD.

mod embedded;
mod owners;
mod structural;
mod unions;
mod validation;

use std::{collections::BTreeMap, fmt, mem, panic, thread};

use embedded::Types;
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceDefinition, JSONSchemaProps,
    },
    schemars::{JsonSchema, Schema, generate::SchemaSettings},
};
use kube::{
    CustomResourceExt,
    api::ApiResource,
    core::crd::{MergeError, merge_crds},
};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use unions::structural;
pub use validation::{Refusal, refusals};

use super::nullable;
use crate::controller::Hubs;

/// Collects the versions of each kind; see [`Crds::merge`].
///
/// Each version is a [`CustomResourceExt::crd`]. For embedded Kubernetes types, such as a `PodTemplateSpec`
/// or a `Condition`, the schema is the one that controller-gen writes for an operator in Go: list map keys,
/// required fields, defaults and patterns. `spec` is required unless the type can be read without it. Where a CRD cannot say what a type holds, such as a
/// `serde_json::Value` in a map, a tuple, or a type inside itself, it keeps the value as it is.
#[derive(Default)]
pub struct Crds {
    kinds: BTreeMap<String, Kind>,
    types: Option<Types>,
    error: Option<CrdError>,
    description_length: Option<usize>,
    warnings: Vec<String>,
}

/// The longest description of a type of Kubernetes, in characters, unless [`Crds::description_length`] says otherwise. These
/// descriptions are most of the bytes of a CRD that embeds a `PodTemplateSpec`.
const DESCRIPTION_LENGTH: usize = 80;

/// The annotation that becomes the kind of lists, for which kube's derive has no attribute. An imported type has it if the
/// list is not a `<Kind>List`.
const LIST_KIND: &str = "operator-runtime/list-kind";

/// The property of an object that kube's derive always requires.
const SPEC: &str = "spec";

/// Why there are no CRDs.
#[derive(Debug)]
#[non_exhaustive]
pub enum CrdError {
    /// A CRD cannot describe a type.
    Type {
        /// The kind of the type.
        kind: String,
        /// Its version.
        version: String,
        /// The field, from the root: `spec.source`.
        path: String,
        /// The Rust type that has the field.
        owner: String,
        /// The reason.
        why: String,
    },
    /// The versions of a kind cannot be in one CRD.
    Versions(MergeError),
    /// The API server would refuse the CRD of a kind.
    Refused {
        /// The kind.
        kind: String,
        /// Why; not empty.
        refusals: Vec<Refusal>,
    },
}

impl fmt::Display for CrdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type {
                kind,
                version,
                path,
                owner,
                why,
            } => write!(
                f,
                "no CRD can describe `{path}` of {kind} {version}: {why}\n\
                 help: `#[schemars(transform = operator_runtime::structural)]` above `{owner}`"
            ),
            Self::Versions(error) => error.fmt(f),
            Self::Refused { kind, refusals } => {
                write!(f, "the API server would refuse the CRD of {kind}")?;
                refusals.iter().try_for_each(|one| write!(f, "\n{one}"))
            }
        }
    }
}

impl std::error::Error for CrdError {}

#[derive(Default)]
struct Kind {
    versions: Vec<CustomResourceDefinition>,
    stored: String,
    /// The schemas of the versions with the names of Rust types, unless these were generated from a CRD.
    outlines: BTreeMap<String, fn() -> Schema>,
}

impl Crds {
    /// Cuts the descriptions of Kubernetes' own types, such as that of a `PodTemplateSpec` and its fields, to `length`
    /// characters; by default, to 80. With 0, there are none. The descriptions of your types and fields stay whole, and
    /// so do those of an imported CRD.
    #[must_use]
    pub fn description_length(mut self, length: usize) -> Self {
        self.description_length = Some(length);
        self
    }

    /// Adds the storage version of a kind.
    pub fn add_storage<K: CustomResourceExt + JsonSchema + DeserializeOwned>(&mut self) {
        if let Some(crd) = self.structural::<K>() {
            self.add(crd).outline::<K>().store();
        }
    }

    /// Adds another served version of a kind.
    pub fn add_served<K: CustomResourceExt + JsonSchema + DeserializeOwned>(&mut self) {
        if let Some(crd) = self.structural::<K>() {
            self.add(crd).outline::<K>();
        }
    }

    /// Adds the storage version of a kind whose type was generated from a CRD: the schema is that of this CRD,
    /// even where it drops what the type holds.
    pub fn import_storage<K: CustomResourceExt + JsonSchema>(&mut self) {
        let crd = self.crd::<K>(None);
        self.add(crd).store();
    }

    /// Adds another served version of a kind whose type was generated from a CRD.
    pub fn import_served<K: CustomResourceExt + JsonSchema>(&mut self) {
        let crd = self.crd::<K>(None);
        self.add(crd);
    }

    /// One CRD per kind, sorted by name.
    ///
    /// Prints a warning to stderr for a field whose default is another one in the CRD than in Rust, because the field and
    /// the `Default` of its struct differ.
    ///
    /// # Errors
    /// If a CRD cannot describe a type, if a kind has no storage version, if its versions differ in a shared
    /// property, such as the scope, or if the API server would refuse the CRD, as far as [`refusals`] can tell. A CRD of imported
    /// types is judged by `make manifests`.
    pub fn merge(self) -> Result<Vec<CustomResourceDefinition>, CrdError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.warnings
            .iter()
            .for_each(|warning| eprintln!("{warning}"));
        self.kinds.into_values().map(Kind::merge).collect()
    }

    fn crd<K: CustomResourceExt + JsonSchema>(
        &mut self,
        length: Option<usize>,
    ) -> CustomResourceDefinition {
        let types = self.types.get_or_insert_with(Types::load);
        let mut crd = K::crd();
        if let Some(annotations) = &mut crd.metadata.annotations {
            if let Some(list) = annotations.remove(LIST_KIND) {
                crd.spec.names.list_kind = Some(list);
            }
            crd.metadata.annotations = Some(mem::take(annotations)).filter(|all| !all.is_empty());
        }
        nullable::leave_where_written::<K>(&mut crd);
        schemas(&mut crd)
            .for_each(|schema| change(schema, |schema| types.complete::<K>(schema, length)));
        crd
    }

    /// The CRD of a type; `None` if a CRD cannot describe it, which [`merge`](Self::merge) reports.
    fn structural<K: CustomResourceExt + JsonSchema + DeserializeOwned>(
        &mut self,
    ) -> Option<CustomResourceDefinition> {
        let schema = described::<K>();
        if let Err(unions::Place { path, why }) = unions::check(schema.as_value()) {
            let ApiResource { kind, version, .. } = K::api_resource();
            let owner = owners::owner(&owners::outline::<K>(), &path);
            let owner = owner.unwrap_or_else(|| kind.clone());
            self.error.get_or_insert(CrdError::Type {
                kind,
                version,
                path,
                owner,
                why,
            });
            return None;
        }
        let length = self.description_length.unwrap_or(DESCRIPTION_LENGTH);
        let mut crd = self.crd::<K>(Some(length));
        let ApiResource { kind, version, .. } = K::api_resource();
        let may_lack_spec = reads_without_spec::<K>();
        for schema in schemas(&mut crd) {
            if may_lack_spec {
                let required = schema.required.take();
                schema.required =
                    required.map(|all| all.into_iter().filter(|it| it != SPEC).collect());
                schema.required.take_if(|all| all.is_empty());
            }
            for structural::Ignored { path, rust, crd } in change(schema, structural::make) {
                self.warnings.push(format!(
                    "warning: the default of `{path}` of {kind} {version} is {crd} in the CRD, and {rust} in Rust: \
                     the `Default` of its struct says another value than `#[serde(default = \"…\")]` of the field"
                ));
            }
        }
        Some(crd)
    }

    fn add(&mut self, crd: CustomResourceDefinition) -> &mut Kind {
        let name = crd.metadata.name.clone().unwrap_or_default();
        let kind = self.kinds.entry(name).or_default();
        kind.versions.push(crd);
        kind
    }
}

impl Kind {
    /// Remembers the Rust type of the version that was added last.
    fn outline<K: JsonSchema>(&mut self) -> &mut Self {
        let name = self.last();
        self.outlines.insert(name, owners::outline::<K>);
        self
    }

    /// Makes the version that was added last the storage version.
    fn store(&mut self) {
        self.stored = self.last();
    }

    /// The name of the version that was added last.
    fn last(&self) -> String {
        let versions = self.versions.iter().flat_map(|crd| &crd.spec.versions);
        versions
            .last()
            .map_or_else(String::new, |version| version.name.clone())
    }

    /// One CRD with all versions.
    fn merge(self) -> Result<CustomResourceDefinition, CrdError> {
        let merged = merge_crds(self.versions, &self.stored);
        let mut crd = merged.map_err(CrdError::Versions)?;
        crd.spec.versions.sort_by(|a, b| a.name.cmp(&b.name));
        if self.outlines.is_empty() {
            return Ok(crd);
        }
        let mut refusals = refusals(&crd);
        for refusal in &mut refusals {
            let outline = self.outlines.get(&refusal.version);
            refusal.owner = outline.and_then(|outline| owners::owner(&outline(), &refusal.path));
        }
        accepted(&crd, refusals)?;
        Ok(crd)
    }
}

/// Fails if the API server would refuse one of the CRDs, also one of an imported type, which [`Crds::merge`] takes as it is.
pub(super) fn check(crds: &[CustomResourceDefinition]) -> Result<(), CrdError> {
    crds.iter().try_for_each(|crd| accepted(crd, refusals(crd)))
}

fn accepted(crd: &CustomResourceDefinition, refusals: Vec<Refusal>) -> Result<(), CrdError> {
    match refusals.is_empty() {
        true => Ok(()),
        false => Err(CrdError::Refused {
            kind: crd.spec.names.kind.clone(),
            refusals,
        }),
    }
}

/// Whether an object without `spec` can be read as its type. The type of its spec decides, because kube's derive has no attribute
/// for it: serde asks for an option where a field is missing.
fn reads_without_spec<K: CustomResourceExt + DeserializeOwned>() -> bool {
    let ApiResource {
        api_version, kind, ..
    } = K::api_resource();
    let object = json!({ "apiVersion": api_version, "kind": kind, "metadata": {} });
    serde_json::from_value::<K>(object).is_ok()
}

/// The schema of a type, before kube changes it.
///
/// In a thread, because Rust says the name of the thread whose stack overflows, and nothing else: `KubeSchema` describes a type
/// inside itself without an end.
fn described<K: CustomResourceExt + JsonSchema>() -> Schema {
    let generate: fn() -> Schema = || {
        let settings = SchemaSettings::openapi3().with(|it| it.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<K>()
    };
    let ApiResource { kind, version, .. } = K::api_resource();
    let name = format!(
        "{kind} {version} has a type inside itself, which needs JsonSchema instead of KubeSchema"
    );
    let thread = thread::Builder::new().name(name).spawn(generate);
    let schema = thread.expect("the system has a thread").join();
    schema.unwrap_or_else(|panicked| panic::resume_unwind(panicked))
}

/// The schemas of all versions.
fn schemas(crd: &mut CustomResourceDefinition) -> impl Iterator<Item = &mut JSONSchemaProps> {
    let versions = crd.spec.versions.iter_mut();
    versions.filter_map(|version| version.schema.as_mut()?.open_api_v3_schema.as_mut())
}

/// Changes a schema as JSON.
fn change<T>(schema: &mut JSONSchemaProps, change: impl FnOnce(&mut Value) -> T) -> T {
    let mut value = serde_json::to_value(&*schema).expect("a schema is JSON");
    let result = change(&mut value);
    *schema = serde_json::from_value(value).expect("a schema with other keywords is one");
    result
}

/// The storage versions, which are the hubs of kinds without a conversion webhook.
///
/// For such a kind, the API server changes only `apiVersion`, and prunes the object by the schema of the
/// requested version.
pub(super) fn hubs(crds: &[CustomResourceDefinition]) -> Hubs {
    let mut hubs = Hubs::default();
    for spec in crds.iter().map(|crd| &crd.spec) {
        let mut versions = spec.versions.iter();
        if let Some(stored) = versions.find(|version| version.storage) {
            hubs.set((&spec.group, &spec.names.kind), &stored.name);
        }
    }
    hubs
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube::{
        api::{ApiResource, DynamicObject},
        core::GroupVersionKind,
    };
    use serde_json::from_value;

    use super::*;
    use crate::{
        controller::{Controller, Controllers},
        object::ScopedResource,
    };

    async fn reconcile(_: Arc<DynamicObject>, _: Arc<()>) -> kube::Result<()> {
        Ok(())
    }

    #[test]
    fn the_storage_version_is_the_hub() {
        let version = |name, storage| json!({ "name": name, "served": true, "storage": storage });
        let crd = json!({ "metadata": {}, "spec": {
            "group": "example.com",
            "names": { "kind": "Widget", "plural": "widgets" },
            "scope": "Namespaced",
            "versions": [version("v1", true), version("v1alpha1", false)],
        }});
        let crds: [CustomResourceDefinition; 1] = [from_value(crd).unwrap()];
        let is_allowed = |version| {
            let kind = GroupVersionKind::gvk("example.com", version, "Widget");
            let kind = ScopedResource::namespaced(ApiResource::from_gvk(&kind));
            let controllers = Controllers::from(Controller::dynamic("widget", kind, reconcile));
            controllers.check(hubs(&crds)).is_ok()
        };
        assert!(is_allowed("v1"));
        assert!(!is_allowed("v1alpha1"));
    }
}
