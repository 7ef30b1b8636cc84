//! The operator of a chart that is read at run time: a Large is a release of it.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use helm_render::chart::File;
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, CustomResource, CustomResourceExt,
    api::{ApiResource, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams},
    core::GroupVersionKind,
};
use operator_helm::{
    Chart, Error, InstalledObject, InstallsChart, ReleaseStatus, Releases, Values,
};
use operator_runtime::{
    Action, Controller, Controllers, Manager, ManagerOptions, ReadyCondition, Rules, WatchScope,
    envtest::{Cluster, NAMESPACE, Operator, eventually},
    webhook::Webhooks,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const NAME: &str = "charts-large";

pub const OPTIONS: ManagerOptions = ManagerOptions {
    name: "large.example.com",
    scope: WatchScope::Cluster,
};

/// How long a test waits: some charts have a hundred objects, and other tests take their share of the cores.
pub const LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "charts.example.com",
    version = "v1alpha1",
    kind = "Large",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    status = "ReleaseStatus"
)]
#[serde(transparent)]
pub struct LargeSpec(#[schemars(schema_with = "schema")] pub Values);

thread_local! {
    /// The chart whose schema the CRD is to have.
    static CHART: Cell<Option<&'static Chart>> = const { Cell::new(None) };
}

fn schema(_: &mut SchemaGenerator) -> Schema {
    CHART.get().map_or_else(Schema::default, Chart::schema)
}

fn crd(chart: &'static Chart) -> CustomResourceDefinition {
    CHART.set(Some(chart));
    let crd = Large::crd();
    CHART.set(None);
    crd
}

pub struct Context {
    releases: Releases,
}

async fn reconcile(large: Arc<Large>, context: Arc<Context>) -> Result<Action, Error> {
    let values = large.spec.0.clone();
    context.releases.reconcile(&*large, values).await
}

/// The controllers of the operator of a chart. It also has the permissions of the chart `before`, whose objects it may have to delete.
/// `escalates` are ClusterRoles that grant more than the operator has.
pub fn controllers(
    chart: &'static Chart,
    before: &'static Chart,
    escalates: &'static [&'static str],
) -> Controllers<Context> {
    let controller = Controller::new(NAME, reconcile);
    let mut controller = controller
        .condition(ReadyCondition::positive("Ready"))
        .finalizer()
        .installs(chart);
    if !escalates.is_empty() {
        controller = controller.needs_derived(move || {
            let mut rules = Rules::default();
            rules.allow_rule(PolicyRule {
                api_groups: Some(vec!["rbac.authorization.k8s.io".to_owned()]),
                resources: Some(vec!["clusterroles".to_owned()]),
                resource_names: Some(escalates.iter().map(|it| (*it).to_owned()).collect()),
                verbs: vec!["escalate".to_owned()],
                ..PolicyRule::default()
            });
            rules
        });
    }
    Controllers::from(match std::ptr::eq(chart, before) {
        true => controller,
        false => controller.installs(before),
    })
}

pub fn context(chart: &'static Chart) -> impl FnOnce(&Manager) -> Context + Send + 'static {
    move |manager| {
        let mut releases = Releases::new(manager);
        releases.add::<Large>(manager, NAME, chart);
        Context { releases }
    }
}

/// Starts the operator of a chart, with exactly the permissions that the charts ask for.
pub fn run(
    cluster: &Cluster,
    chart: &'static Chart,
    before: &'static Chart,
    escalates: &'static [&'static str],
) -> Result<Operator> {
    let crds = anyhow::Ok(vec![crd(chart)]);
    let controllers = controllers(chart, before, escalates);
    cluster.run(
        &OPTIONS,
        crds,
        controllers,
        Webhooks::default(),
        context(chart),
    )
}

/// The files of a chart that `tests/helm/charts.sh` downloads once.
pub fn files(chart: &str) -> Result<Vec<File>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/helm/charts.sh");
    let run = Command::new("sh")
        .arg(script)
        .args(["fetched", chart])
        .output()?;
    let error = String::from_utf8_lossy(&run.stderr);
    ensure!(run.status.success(), "{chart} is not there: {error}");
    let root = PathBuf::from(String::from_utf8(run.stdout)?.trim());
    let mut files = Vec::new();
    let mut directories = vec![root.clone()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(&root)?.display().to_string();
            files.push(File::new(name, fs::read(&path)?));
        }
    }
    Ok(files)
}

/// The next version of a chart, which lacks a template.
pub fn upgraded(files: &[File], dropped: &str) -> Result<Vec<File>> {
    let mut next = files.to_vec();
    next.retain(|file| file.name != dropped);
    ensure!(next.len() + 1 == files.len(), "{dropped} is no template");
    for file in &mut next {
        if file.name == "Chart.yaml" {
            let text = file.text().into_owned();
            let lines = text.lines().map(|line| {
                if line.starts_with("version:") {
                    "version: 99.0.0"
                } else {
                    line
                }
            });
            let text = lines.collect::<Vec<_>>().join("\n");
            *file = File::new("Chart.yaml", text.into_bytes());
        }
    }
    Ok(next)
}

/// Why the operator made an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Made {
    /// The release has it.
    Object,
    Hook,
    /// It is of `crds/`, or a Secret of the operator.
    Other,
}

/// An object by its kind, namespace and name.
pub type Id = (String, String, String);

pub fn id(object: &InstalledObject) -> Id {
    let namespace = object.namespace.clone().unwrap_or_default();
    (object.kind.clone(), namespace, object.name.clone())
}

/// A release of a chart, from the outside.
pub struct Release {
    pub client: Client,
    pub name: &'static str,
}

impl Release {
    pub fn new(cluster: &Cluster, name: &'static str) -> Result<Self> {
        let client = cluster.client()?;
        Ok(Self { client, name })
    }

    pub fn api(&self) -> Api<Large> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub async fn create(&self, values: &Value) -> Result<()> {
        let large: Large = serde_json::from_value(json!({
            "apiVersion": "charts.example.com/v1alpha1",
            "kind": "Large",
            "metadata": { "name": self.name },
            "spec": values,
        }))?;
        self.api().create(&Default::default(), &large).await?;
        Ok(())
    }

    /// Merges values into those of the custom resource.
    pub async fn change(&self, values: &Value) -> Result<()> {
        let patch = Patch::Merge(json!({ "spec": values }));
        let params = PatchParams::default();
        self.api().patch(self.name, &params, &patch).await?;
        Ok(())
    }

    pub async fn delete(&self) -> Result<()> {
        self.api().delete(self.name, &Default::default()).await?;
        Ok(())
    }

    pub async fn status(&self) -> Result<ReleaseStatus> {
        let found = self.api().get(self.name).await?;
        found.status.context("no status")
    }

    /// Waits until this revision is installed whole, for the newest generation.
    pub async fn is_at(&self, revision: i64) -> Result<ReleaseStatus> {
        eventually(LIMIT, async || {
            let large = self.api().get(self.name).await?;
            let status = large.status.unwrap_or_default();
            let is_observed = status.observed_generation == large.metadata.generation;
            let released = status.conditions.iter().find(|it| it.type_ == "Released");
            let is_released = released.is_some_and(|it| it.status == "True");
            let is_whole = status.revision == Some(revision) && status.pending.is_none();
            match is_whole && is_observed && is_released {
                true => Ok(status),
                false => bail!("{:?} {:?}", status.pending, status.conditions),
            }
        })
        .await
        .with_context(|| format!("{} is not at revision {revision}", self.name))
    }

    /// Waits until the condition `Released` reports a failure of the newest generation. Returns its reason and message.
    pub async fn failed(&self) -> Result<String> {
        eventually(LIMIT, async || {
            let large = self.api().get(self.name).await?;
            let all = large.status.unwrap_or_default().conditions;
            let released = all.iter().find(|it| it.type_ == "Released");
            let released = released.context("no Released")?;
            let is_observed = released.observed_generation == large.metadata.generation;
            match is_observed && released.status == "False" && !released.reason.ends_with("Running")
            {
                true => Ok(format!("{}: {}", released.reason, released.message)),
                false => bail!("{all:?}"),
            }
        })
        .await
    }

    /// Waits until the custom resource is gone.
    pub async fn is_gone(&self) -> Result<()> {
        eventually(LIMIT, async || {
            match self.api().get_opt(self.name).await? {
                None => Ok(()),
                Some(large) => bail!("{} exists: {:?}", self.name, large.status),
            }
        })
        .await
    }

    /// What the cluster has that the operator made, of all kinds that the API server serves.
    pub async fn made(&self) -> Result<BTreeMap<Id, Made>> {
        let mut made = BTreeMap::new();
        for kind in self.kinds().await? {
            let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind);
            let found = api.list_metadata(&ListParams::default()).await?;
            for object in found {
                let meta = object.metadata;
                let mut writers = meta.managed_fields.iter().flatten();
                let is_ours = |it: &str| it.starts_with(OPTIONS.name);
                if writers.any(|it| it.manager.as_deref().is_some_and(is_ours)) {
                    let why = why(&meta);
                    let names = (meta.namespace.unwrap_or_default(), meta.name);
                    let (namespace, name) = (names.0, names.1.unwrap_or_default());
                    made.insert((kind.kind.clone(), namespace, name), why);
                }
            }
        }
        Ok(made)
    }

    /// The kinds of objects, apart from events, leases and the custom resource.
    async fn kinds(&self) -> Result<Vec<ApiResource>> {
        let groups = self.client.list_api_groups().await?.groups;
        let preferred = groups.into_iter().filter_map(|it| it.preferred_version);
        let versions = preferred.map(|it| it.group_version);
        let aggregated = self.aggregated().await?;
        let mut kinds = Vec::new();
        for version in ["v1".to_owned()].into_iter().chain(versions) {
            if aggregated.contains(&version) {
                continue;
            }
            let list = match version.contains('/') {
                true => self.client.list_api_group_resources(&version).await?,
                false => self.client.list_core_api_resources(&version).await?,
            };
            let (group, version) = version.split_once('/').unwrap_or(("", &version));
            for found in list.resources {
                let is_listed = found.verbs.iter().any(|verb| verb == "list");
                let others = ["Event", "Lease", "Large"];
                if is_listed && !others.contains(&found.kind.as_str()) {
                    let gvk = GroupVersionKind::gvk(group, version, &found.kind);
                    kinds.push(ApiResource::from_gvk_with_plural(&gvk, &found.name));
                }
            }
        }
        Ok(kinds)
    }

    /// The versions of APIs that a chart serves itself: here, nothing answers there.
    async fn aggregated(&self) -> Result<Vec<String>> {
        let gvk = GroupVersionKind::gvk("apiregistration.k8s.io", "v1", "APIService");
        let kind = ApiResource::from_gvk_with_plural(&gvk, "apiservices");
        let services: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind);
        let services = services.list(&ListParams::default()).await?.into_iter();
        let services = services.map(|it| it.data["spec"].clone());
        let services = services.filter(|spec| spec["service"].is_object());
        let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
        let version = |spec: Value| format!("{}/{}", text(&spec["group"]), text(&spec["version"]));
        Ok(services.map(version).collect())
    }

    /// The APIs of the objects of a release, each with its object.
    pub async fn apis(
        &self,
        objects: &[InstalledObject],
    ) -> Result<Vec<(InstalledObject, Api<DynamicObject>)>> {
        let kinds = self.kinds().await?;
        let api = |object: &InstalledObject| {
            let kind = kinds.iter().find(|kind| {
                // The preferred version may be another.
                let group = object.api_version.split_once('/').map_or("", |it| it.0);
                kind.group == group && kind.kind == object.kind
            });
            let kind = kind.with_context(|| format!("{object:?} is not served"))?;
            let client = self.client.clone();
            let api = match &object.namespace {
                Some(namespace) => Api::namespaced_with(client, namespace, kind),
                None => Api::all_with(client, kind),
            };
            Ok((object.clone(), api))
        };
        objects.iter().map(api).collect()
    }
}

fn why(meta: &ObjectMeta) -> Made {
    let annotations: BTreeSet<_> = meta.annotations.iter().flatten().map(|it| it.0).collect();
    let has = |name: &str| annotations.iter().any(|it| *it == name);
    match has("operator-helm/uid") {
        true if has("helm.sh/hook") => Made::Hook,
        true => Made::Object,
        false => Made::Other,
    }
}
