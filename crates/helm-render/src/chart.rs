//! Charts: what a directory or an archive holds, and what becomes of it before templates are executed.
//!
//! [`render`](crate::render) takes all the steps; each is a method of [`Chart`].

mod archive;
mod bounds;
mod capabilities;
mod decode;
mod dependencies;
mod directory;
mod files;
mod glob;
mod ignore;
mod import;
mod load;
mod metadata;
pub(crate) mod schema;
pub(crate) mod scope;
mod version;

use std::{collections::BTreeSet, sync::Arc};

pub(crate) use self::decode::{At, Decode, decode_fields, object, read};
pub use self::{
    bounds::Bounds,
    capabilities::{Capabilities, HelmVersion, KubeVersion},
    load::{files, values},
    metadata::{Dependency, Import, Lock, Maintainer, Metadata},
    scope::{Release, Template},
};
use crate::{
    Error,
    go::path,
    values::{self, Defaults, Nulls, Table},
};

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the chart, with `/`.
    pub name: String,
    /// What it holds.
    pub data: Arc<[u8]>,
}

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// `Chart.yaml`, with the dependencies of `requirements.yaml` for one of `apiVersion: v1`.
    pub metadata: Metadata,
    /// `Chart.lock`, or `requirements.lock`.
    pub lock: Option<Lock>,
    /// `values.yaml`; after [`Chart::process_dependencies`], with what is imported.
    pub values: Table,
    /// `values.schema.json`.
    pub schema: Option<Arc<[u8]>>,
    /// The files in `templates/`.
    pub templates: Vec<File>,
    /// All other files, also those in `crds/`.
    pub files: Vec<File>,
    /// The charts in `charts/`.
    pub dependencies: Vec<Chart>,
    /// The path of the chart around it, where Helm has another one than that which it is in.
    parent_path: Option<String>,
}

/// A file in `crds/` of a chart or of one that it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crd {
    /// The path that Helm prints, such as `parent/charts/child/crds/a.yaml`.
    pub path: String,
    /// The file.
    pub file: File,
}

impl File {
    /// A file of a name.
    pub fn new(name: impl Into<String>, data: impl Into<Arc<[u8]>>) -> Self {
        Self {
            name: name.into(),
            data: data.into(),
        }
    }

    /// The text. Bytes that are no UTF-8 become U+FFFD.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.data)
    }
}

impl Defaults for Chart {
    fn name(&self) -> &str {
        &self.metadata.name
    }

    fn values(&self) -> &Table {
        &self.values
    }

    fn dependencies(&self) -> Vec<&Self> {
        self.dependencies.iter().collect()
    }
}

impl Chart {
    /// Its name: for one that is used under an alias, and after [`Chart::process_dependencies`], the alias.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Whether it renders nothing itself, because it is of the type `library`.
    pub fn is_library(&self) -> bool {
        self.metadata.kind.eq_ignore_ascii_case("library")
    }

    /// The values that templates see: those of the chart and its dependencies under the given ones.
    ///
    /// # Errors
    /// The value of a dependency is no table. The messages of what was left out are added to `warnings`.
    pub fn render_values(&self, given: &Table, warnings: &mut Vec<String>) -> Result<Table, Error> {
        values::coalesce(self, given, Nulls::Remove, warnings)
    }

    /// The files in `crds/` of the chart, then those of its dependencies.
    pub fn crds(&self) -> Vec<Crd> {
        let mut crds = Vec::new();
        self.add_crds(self.name(), &mut crds);
        crds
    }

    /// Its path in that of the chart around it, such as `parent/charts/child`.
    fn path_in(&self, around: &str) -> String {
        let around = self.parent_path.as_deref().unwrap_or(around);
        format!("{around}/charts/{}", self.name())
    }

    /// The listed dependencies that are not in `charts/`, under the names that they are listed with: Helm refuses to render a
    /// chart that has any. To be asked before [`Chart::process_dependencies`].
    pub fn missing_dependencies(&self) -> Vec<&str> {
        let there: BTreeSet<&str> = self.dependencies.iter().map(Self::name).collect();
        let names = self.metadata.depends_on().map(|it| it.name.as_str());
        names.filter(|name| !there.contains(name)).collect()
    }

    fn add_crds(&self, path: &str, crds: &mut Vec<Crd>) {
        for file in &self.files {
            let is_crd = file.name.starts_with("crds/") && {
                let extension = path::extension(&file.name).to_ascii_lowercase();
                matches!(extension.as_str(), ".yaml" | ".yml" | ".json")
            };
            if is_crd {
                crds.push(Crd {
                    path: path::join(path, &file.name),
                    file: file.clone(),
                });
            }
        }
        for dependency in &self.dependencies {
            dependency.add_crds(&dependency.path_in(path), crds);
        }
    }

    /// Checks that the chart can be installed, as `helm template` does before all else. The dependencies must not be processed yet.
    ///
    /// # Errors
    /// It is a library, or a chart that it depends on is not in `charts/`.
    pub fn check_installable(&self) -> Result<(), Error> {
        let kind = &self.metadata.kind;
        if !matches!(kind.as_str(), "" | "application") {
            return Err(Error::new(format!("{kind} charts are not installable")));
        }
        let missing = self.missing_dependencies();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(Error::new(format!(
                "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing \
                 dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
                missing.join(", ")
            ))),
        }
    }

    /// Checks `kubeVersion` of `Chart.yaml`. Charts that it depends on are not asked: Helm asks only the chart itself.
    ///
    /// # Errors
    /// The version is outside of the range, or one of both cannot be read.
    pub fn check_kube_version(&self, version: &KubeVersion) -> Result<(), Error> {
        let range = &self.metadata.kube_version;
        if range.is_empty() || version::is_in_range(range, version.normalized()) {
            return Ok(());
        }
        Err(Error::new(format!(
            "chart requires kubeVersion: {range} which is incompatible with Kubernetes {}",
            version.version
        )))
    }
}

#[cfg(test)]
mod tests;
