//! The operator of these tests: a Web is a release of `tests/charts/web`.

use std::{
    fmt::Debug,
    sync::{Arc, LazyLock},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use helm_render::chart::File;
use k8s_openapi::{
    ClusterResourceScope, NamespaceResourceScope,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, Client, CustomResource, Resource,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use operator_helm::{
    Chart, Crds, Error, InstallsChart, ReleaseStatus, Releases, Values, include_chart,
};
use operator_runtime::{
    Action, Controller, Controllers, CrdError, Manager, ManagerOptions, ReadyCondition, ShardKey,
    WatchScope,
    envtest::{Cluster, NAMESPACE, Operator, eventually},
    webhook::Webhooks,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::former;

/// How long a test waits.
pub const LIMIT: Duration = Duration::from_secs(30);

pub const NAME: &str = "charts-web";

pub const OPTIONS: ManagerOptions = ManagerOptions {
    name: "web.example.com",
    scope: WatchScope::Cluster,
};

pub fn chart() -> &'static Chart {
    static CHART: LazyLock<Chart> = LazyLock::new(|| {
        include_chart!("$CARGO_MANIFEST_DIR/tests/charts/web").with_helm_storage()
    });
    &CHART
}

/// The same chart with a CRD, for the policies that are not the default.
pub fn careful() -> &'static Chart {
    static CHART: LazyLock<Chart> = LazyLock::new(|| {
        let mut files = former::web();
        files.push(("crds/thing.yaml".to_owned(), THING.as_bytes().to_vec()));
        let files = files.into_iter();
        let files = files.map(|(path, bytes)| File::new(path, bytes)).collect();
        let chart = Chart::of(files).expect("a chart");
        chart.with_rollback().with_crds(Crds::Upgrade)
    });
    &CHART
}

/// The CRD of [`careful`].
const THING: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
spec:
  group: example.com
  names: { kind: Thing, plural: things }
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: { type: object, properties: { new: { type: string } } }
";

fn looks() -> &'static Chart {
    static CHART: LazyLock<Chart> =
        LazyLock::new(|| include_chart!("$CARGO_MANIFEST_DIR/tests/charts/looks"));
    &CHART
}

/// A release of `tests/charts/looks`, whose template looks an object up.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "charts.example.com",
    version = "v1alpha1",
    kind = "Look",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    status = "ReleaseStatus"
)]
#[serde(transparent)]
pub struct LookSpec(#[schemars(schema_with = "schema_of_look")] pub Values);

fn schema_of_look(_: &mut SchemaGenerator) -> Schema {
    looks().schema()
}

async fn reconcile_look(look: Arc<Look>, context: Arc<Context>) -> Result<Action, Error> {
    let values = look.spec.0.clone();
    context.releases.reconcile(&*look, values).await
}

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "charts.example.com",
    version = "v1alpha1",
    kind = "Web",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    status = "ReleaseStatus"
)]
#[serde(transparent)]
pub struct WebSpec(#[schemars(schema_with = "schema")] pub Values);

fn schema(_: &mut SchemaGenerator) -> Schema {
    chart().schema()
}

pub struct Context {
    releases: Releases,
}

async fn reconcile(web: Arc<Web>, context: Arc<Context>) -> Result<Action, Error> {
    let values = web.spec.0.clone();
    context.releases.reconcile(&*web, values).await
}

pub fn controllers(chart: &'static Chart) -> Controllers<Context> {
    let controller = Controller::new(NAME, reconcile);
    let controller = controller
        .condition(ReadyCondition::positive("Ready"))
        .finalizer()
        .installs(chart);
    let mut all = Controllers::from(controller);
    let look = Controller::new("charts-look", reconcile_look);
    all.add(look.finalizer().installs(looks()));
    all
}

pub fn context(manager: &Manager, chart: &'static Chart) -> Context {
    let mut releases = Releases::new(manager);
    releases.add::<Web>(manager, NAME, chart);
    releases.add::<Look>(manager, "charts-look", looks());
    Context { releases }
}

pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = operator_runtime::Crds::default();
    crds.add_storage::<Web>();
    crds.add_storage::<Look>();
    crds.merge()
}

/// Starts the operator, with exactly the permissions that the chart asks for.
pub fn run(cluster: &Cluster) -> Result<Operator> {
    run_with(cluster, chart())
}

pub fn run_with(cluster: &Cluster, chart: &'static Chart) -> Result<Operator> {
    let context = move |manager: &Manager| context(manager, chart);
    cluster.run(
        &OPTIONS,
        crds(),
        controllers(chart),
        Webhooks::default(),
        context,
    )
}

/// The controllers, with a share of the releases for each replica.
fn shared() -> Controllers<Context> {
    let controller = Controller::new(NAME, reconcile).installs(chart());
    Controllers::from(controller.sharded(ShardKey::uid()))
}

#[tokio::test]
async fn replicas_do_not_share_releases() -> Result<()> {
    let cluster = Cluster::start()?;
    let context = |manager: &Manager| context(manager, chart());
    let started = cluster.run(&OPTIONS, crds(), shared(), Webhooks::default(), context);
    let error = started.map(drop).unwrap_err().to_string();
    let expected = "cannot have `.sharded(..)`: what a replica knows of a release becomes old";
    ensure!(error.contains(expected), "{error}");
    Ok(())
}

/// A release, from the outside.
pub struct Release {
    pub client: Client,
    pub name: &'static str,
}

impl Release {
    pub fn new(cluster: &Cluster, name: &'static str) -> Result<Self> {
        let client = cluster.client()?;
        Ok(Self { client, name })
    }

    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub fn cluster_api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = ClusterResourceScope, DynamicType = ()>,
    {
        Api::all(self.client.clone())
    }

    /// Creates a custom resource without `spec`, as operator-sdk's CRDs allow it.
    pub async fn create_without_spec(&self) -> Result<()> {
        let kind = ApiResource::erase::<Web>(&());
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), NAMESPACE, &kind);
        let web = DynamicObject::new(self.name, &kind);
        api.create(&PostParams::default(), &web).await?;
        Ok(())
    }

    /// Creates the custom resource.
    pub async fn create(&self, values: Value) -> Result<()> {
        let web: Web = serde_json::from_value(json!({
            "apiVersion": "charts.example.com/v1alpha1",
            "kind": "Web",
            "metadata": { "name": self.name },
            "spec": values,
        }))?;
        self.api().create(&PostParams::default(), &web).await?;
        Ok(())
    }

    /// Merges values into those of the custom resource.
    pub async fn change(&self, values: Value) -> Result<()> {
        let patch = Patch::Merge(json!({ "spec": values }));
        let params = PatchParams::default();
        self.api::<Web>().patch(self.name, &params, &patch).await?;
        Ok(())
    }

    pub async fn delete(&self) -> Result<()> {
        let api: Api<Web> = self.api();
        api.delete(self.name, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Waits until the custom resource is gone.
    pub async fn is_gone(&self) -> Result<()> {
        let api: Api<Web> = self.api();
        eventually(LIMIT, async || match api.get_opt(self.name).await? {
            None => Ok(()),
            Some(web) => bail!("{} exists: {:?}", self.name, web.status),
        })
        .await
    }

    pub async fn status(&self) -> Result<ReleaseStatus> {
        let api: Api<Web> = self.api();
        api.get(self.name).await?.status.context("no status")
    }

    /// Waits until this revision is installed whole, for the newest generation.
    pub async fn is_at(&self, revision: i64) -> Result<ReleaseStatus> {
        let api: Api<Web> = self.api();
        eventually(LIMIT, async || {
            let web = api.get(self.name).await?;
            let status = web.status.unwrap_or_default();
            let is_observed = status.observed_generation == web.metadata.generation;
            match status.revision == Some(revision) && status.pending.is_none() && is_observed {
                true => Ok(status),
                false => bail!("{status:?}"),
            }
        })
        .await
    }

    /// Waits until a condition has this status, reason and, among others, these words.
    pub async fn condition(&self, type_: &str, status: &str, words: &str) -> Result<Condition> {
        eventually(LIMIT, async || {
            let all = self.status().await?.conditions;
            let found = all.iter().find(|it| it.type_ == type_).cloned();
            let found = found.with_context(|| format!("no {type_} in {all:?}"))?;
            match found.status == status && found.message.contains(words) {
                true => Ok(found),
                false => bail!("{found:?}"),
            }
        })
        .await
    }

    /// Waits until an object exists and holds this.
    pub async fn has<K>(&self, name: &str, holds: impl Fn(&K) -> bool) -> Result<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + Debug,
    {
        let api: Api<K> = self.api();
        eventually(LIMIT, async || match api.get_opt(name).await? {
            Some(found) if holds(&found) => Ok(found),
            found => bail!("{name}: {found:?}"),
        })
        .await
    }

    /// Waits until an object is gone.
    pub async fn lacks<K>(&self, name: &str) -> Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + Debug,
    {
        let api: Api<K> = self.api();
        eventually(LIMIT, async || match api.get_opt(name).await? {
            None => Ok(()),
            Some(found) => bail!("{name} exists: {found:?}"),
        })
        .await
    }
}
