//! The CRDs of a project, with the versions of a kind in one definition.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    CustomResourceExt,
    core::crd::{MergeError, merge_crds},
};

/// Collects the versions of each kind; see [`Crds::merge`].
#[derive(Default)]
pub struct Crds(BTreeMap<String, Kind>);

#[derive(Default)]
struct Kind {
    versions: Vec<CustomResourceDefinition>,
    stored: String,
}

impl Crds {
    /// Adds the version of a kind in which etcd keeps its objects.
    pub fn add_storage<K: CustomResourceExt>(&mut self) {
        let crd = K::crd();
        let version = crd
            .spec
            .versions
            .first()
            .map(|version| version.name.clone());
        self.add(crd).stored = version.unwrap_or_default();
    }

    /// Adds another version of a kind, which the API server offers beside the stored one.
    pub fn add_served<K: CustomResourceExt>(&mut self) {
        self.add(K::crd());
    }

    /// One definition a kind, sorted by name.
    ///
    /// # Errors
    /// If a kind has no stored version, or its versions differ in what they must share.
    pub fn merge(self) -> Result<Vec<CustomResourceDefinition>, MergeError> {
        let merge = |kind: Kind| {
            let mut crd = merge_crds(kind.versions, &kind.stored)?;
            crd.spec.versions.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(crd)
        };
        self.0.into_values().map(merge).collect()
    }

    fn add(&mut self, crd: CustomResourceDefinition) -> &mut Kind {
        let name = crd.metadata.name.clone().unwrap_or_default();
        let kind = self.0.entry(name).or_default();
        kind.versions.push(crd);
        kind
    }
}
