//! A chart that is compiled into the operator.

use std::{fmt::Write, sync::Arc};

use chart_api::{kinds, schema};
use helm_render::{
    Options,
    chart::{Chart as HelmChart, File},
    manifest, render,
};
use include_dir::Dir;
use k8s_openapi::{
    api::{core::v1::Secret, rbac::v1::PolicyRule},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::api::{ApiResource, GroupVersionKind};
use operator_runtime::{Controller, Rules, ScopedResource, Verb};
use schemars::Schema;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{doubts, error::Error, object::Object, releases::ReleaseObject, store, values::Values};

/// A Helm chart that an operator installs.
///
/// ```
/// use std::sync::LazyLock;
/// use operator_helm::{Chart, include_chart};
///
/// static CHART: LazyLock<Chart> =
///     LazyLock::new(|| include_chart!("$CARGO_MANIFEST_DIR/tests/charts/web").with_rollback());
/// # fn main() -> Result<(), operator_helm::Error> { CHART.check(&Default::default()) }
/// ```
#[derive(Debug)]
pub struct Chart {
    pub(crate) chart: Arc<HelmChart>,
    /// The text of `values.yaml`, whose comments describe the values.
    values: String,
    /// The digest of all files.
    pub(crate) digest: String,
    /// Whether a template asks which API versions the cluster has.
    pub(crate) asks_for_versions: bool,
    /// The objects of `crds/`.
    pub(crate) crds: Vec<Object>,
    /// Whether it renders something else each time.
    pub(crate) is_random: bool,
    /// Whether a template looks objects up.
    looks_up: bool,
    /// Whether revisions are kept for Helm.
    pub(crate) helm_storage: bool,
    /// Whether the revision before one that fails is installed again.
    pub(crate) rolls_back: bool,
    pub(crate) crd_policy: Crds,
}

/// What a release does with the CRDs of `crds/`. None of them is ever deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crds {
    /// Somebody else installs them.
    Skip,
    /// Creates those that do not exist, as Helm does.
    #[default]
    Create,
    /// Also applies those that exist, with each revision. The API server refuses to remove a version that objects are stored in.
    Upgrade,
}

/// Compiles the chart in a directory into the operator: `include_chart!("$CARGO_MANIFEST_DIR/charts/memcached")` is a [`Chart`].
/// `.helmignore` applies.
///
/// # Panics
/// If the directory holds no chart: with it, no operator can be built.
#[macro_export]
macro_rules! include_chart {
    ($directory:tt) => {{
        // What `include_dir!` expands to names the crate.
        use $crate::include_dir;
        $crate::Chart::embedded($directory, &include_dir::include_dir!($directory))
    }};
}

impl Chart {
    /// The chart of [`include_chart!`].
    #[doc(hidden)]
    pub fn embedded(path: &str, directory: &Dir<'_>) -> Self {
        let mut files = Vec::new();
        collect(directory, &mut files);
        match Self::of(files) {
            Ok(chart) => chart,
            Err(error) => {
                let path = path.trim_start_matches("$CARGO_MANIFEST_DIR/");
                panic!("`{path}` is no chart that can be installed: {error}")
            }
        }
    }

    /// The chart of files with paths such as `templates/service.yaml`. `.helmignore` applies.
    ///
    /// # Errors
    /// The files are no chart.
    pub fn of(mut files: Vec<File>) -> Result<Self, Error> {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let mut hasher = Sha256::new();
        for file in &files {
            for part in [file.name.as_bytes(), &file.data] {
                hasher.update(part.len().to_le_bytes());
                hasher.update(part);
            }
        }
        let values = files.iter().find(|file| file.name == "values.yaml");
        let values = values.map(|file| file.text().into_owned());
        let chart = HelmChart::from_directory(files).map_err(Error::Render)?;
        let mut crds = Vec::new();
        for crd in &chart.crds() {
            for document in manifest::split(&crd.file.text()) {
                crds.extend(Object::read(&crd.path, document)?);
            }
        }
        Ok(Self {
            values: values.unwrap_or_default(),
            digest: hex(&hasher.finalize()),
            asks_for_versions: any_template(&chart, &|text| text.contains("APIVersions")),
            helm_storage: false,
            rolls_back: false,
            crd_policy: Crds::default(),
            is_random: store::is_random(&chart),
            looks_up: any_template(&chart, &|text| text.contains("lookup")),
            crds,
            chart: Arc::new(chart),
        })
    }

    /// Keeps each revision as Helm does, in a Secret, so that `helm list`, `helm history` and `helm get` show the releases. A Secret
    /// holds at most 1 MiB: a larger release fails.
    #[must_use]
    pub fn with_helm_storage(mut self) -> Self {
        self.helm_storage = true;
        self
    }

    /// Installs the revision before an upgrade that fails again: if the API server refuses an object, or a hook fails. Without this,
    /// the release stays as far as it came. What was rendered for a revision is kept in a Secret for that.
    #[must_use]
    pub fn with_rollback(mut self) -> Self {
        self.rolls_back = true;
        self
    }

    /// What a release does with the CRDs of `crds/`.
    #[must_use]
    pub fn with_crds(mut self, policy: Crds) -> Self {
        self.crd_policy = policy;
        self
    }

    /// Checks that the chart renders with these values.
    ///
    /// # Errors
    /// It does not: in the words of Helm.
    pub fn check(&self, values: &Values) -> Result<(), Error> {
        let rendered = render(&self.chart, &values.0, &Options::default());
        rendered.map(drop).map_err(Error::Render)
    }

    /// The schema of the values, for the `spec` of the custom resource: of `values.schema.json` or, without that file, of what
    /// `values.yaml` holds. The comments there describe the fields.
    pub fn schema(&self) -> Schema {
        let mut schema = schema::of(&self.chart);
        schema.describe(&self.values);
        match schema.schema {
            Value::Object(schema) => schema.into(),
            _ => Schema::default(),
        }
    }

    /// The permissions that an operator needs to install the chart: to get, list, watch, create, patch and delete each kind of object
    /// that a template can render, over all its branches, and what the roles of the chart grant. They have notes on what is doubtful
    /// about the chart. What cannot be read of it is a fault, with which `make manifests` fails.
    pub fn rules(&self) -> Rules {
        let found = kinds::of(&self.chart, &[]);
        let mut rules = Rules::default();
        doubts::add(&self.chart, &found.notes, &mut rules);
        for kind in &found.rendered {
            rules.allow_dynamic(&scoped(kind), &MANAGE);
        }
        for kind in &found.looked_up {
            rules.allow_dynamic(&scoped(kind), &[Verb::Get, Verb::List]);
        }
        if found.has_crds && self.crd_policy != Crds::Skip {
            let verbs = &[Verb::Get, Verb::Create, Verb::Patch];
            rules.allow::<CustomResourceDefinition>(verbs);
        }
        if self.helm_storage {
            rules.allow::<Secret>(&[Verb::List]);
        }
        if self.is_kept() || self.helm_storage {
            let verbs = &[Verb::Get, Verb::Create, Verb::Patch, Verb::Delete];
            rules.allow::<Secret>(verbs);
        }
        for grant in found.granted {
            // A rule that cannot be read is none: the API server refuses the role.
            if let Ok(rule) = serde_json::from_value::<PolicyRule>(grant.rule) {
                rules.allow_rule(rule);
            }
        }
        for (kind, name) in found.bound {
            let plural = format!("{}s", kind.to_lowercase());
            rules.allow_rule(PolicyRule {
                api_groups: Some(vec!["rbac.authorization.k8s.io".to_owned()]),
                resources: Some(vec![plural]),
                resource_names: Some(vec![name]),
                verbs: vec!["bind".to_owned()],
                ..PolicyRule::default()
            });
        }
        rules
    }

    /// Whether what it rendered is used again: because it would render something else, perhaps also because it sees its own objects.
    pub(crate) fn is_reused(&self) -> bool {
        self.is_random || self.looks_up
    }

    /// Whether what it rendered is kept: to use it again, or for a rollback.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_reused() || self.rolls_back
    }

    /// The name and the version, such as `memcached-1.2.3`.
    pub(crate) fn label(&self) -> String {
        let metadata = &self.chart.metadata;
        format!("{}-{}", metadata.name, metadata.version)
    }
}

/// What a controller has that installs a chart.
pub trait InstallsChart {
    /// Grants the controller the [permissions](Chart::rules) to install the chart.
    #[must_use]
    fn installs(self, chart: &'static Chart) -> Self;
}

impl<K: ReleaseObject, C: Send + Sync + 'static> InstallsChart for Controller<K, C> {
    fn installs(self, chart: &'static Chart) -> Self {
        // The admission plugin OwnerReferencesPermissionEnforcement asks for it, where a reference blocks the owner's deletion.
        let controller = self.needs_subresource::<K>("finalizers", &[Verb::Update]);
        controller
            .needs_one_replica(
                "what a replica knows of a release becomes old while another one has it",
            )
            .needs_derived(|| chart.rules())
    }
}

/// What a release does with its objects.
const MANAGE: [Verb; 6] = [
    Verb::Get,
    Verb::List,
    Verb::Watch,
    Verb::Create,
    Verb::Patch,
    Verb::Delete,
];

fn scoped(kind: &kinds::RenderedKind) -> ScopedResource {
    let gvk = GroupVersionKind::gvk(&kind.group, &kind.version, &kind.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &kind.plural);
    match kind.namespaced {
        true => ScopedResource::namespaced(resource),
        false => ScopedResource::cluster_scoped(resource),
    }
}

fn collect(directory: &Dir<'_>, files: &mut Vec<File>) {
    for file in directory.files() {
        // Charts of other systems have `\` in no path.
        let name = file.path().to_string_lossy().replace('\\', "/");
        files.push(File::new(name, file.contents()));
    }
    for inner in directory.dirs() {
        collect(inner, files);
    }
}

/// Whether this holds for the text of any template, also of charts that this one depends on.
fn any_template(chart: &HelmChart, holds: &dyn Fn(&str) -> bool) -> bool {
    let mut own = chart.templates.iter();
    own.any(|file| holds(&file.text()))
        || chart.dependencies.iter().any(|it| any_template(it, holds))
}

/// The bytes as a text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
