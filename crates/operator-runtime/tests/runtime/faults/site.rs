//! The place of a test: a namespace of its own, in a shared control plane.

use std::{
    path::PathBuf,
    sync::LazyLock,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ObjectMeta, Patch, PatchParams, PostParams},
    core::ApiResource,
};
use operator_runtime::envtest::Cluster;
use serde_json::{Value, from_value, json};
use tokio::time::sleep;

use crate::faults::{gate::Gate, journal::Journal, until};
use crate::widget::{self, Widget};

pub struct Site {
    pub namespace: &'static str,
    pub client: Client,
    pub gate: Gate,
    pub kubeconfig: PathBuf,
}

pub fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(Cluster::start);
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

impl Site {
    /// A namespace in the shared control plane.
    pub async fn new(namespace: &'static str) -> Result<Self> {
        let cluster = cluster()?;
        // Two tests may install the same CRDs at once.
        cluster.install(widget::crds()).await?;
        Self::within(cluster, namespace).await
    }

    /// A namespace of a control plane with the CRD.
    pub async fn within(cluster: &Cluster, namespace: &'static str) -> Result<Self> {
        let client = cluster.client()?;
        let api: Api<Namespace> = Api::all(client.clone());
        let object = Namespace {
            metadata: ObjectMeta {
                name: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        };
        api.create(&PostParams::default(), &object).await?;
        let gate = Gate::open(client.clone())?;
        let kubeconfig = gate.kubeconfig(namespace)?;
        Ok(Self {
            namespace,
            client,
            gate,
            kubeconfig,
        })
    }

    pub fn widgets(&self) -> Api<Widget> {
        Api::namespaced(self.client.clone(), self.namespace)
    }

    pub fn children(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), self.namespace)
    }

    /// Widgets as JSON, to create objects that do not decode as [`Widget`].
    pub fn raw(&self) -> Api<DynamicObject> {
        let resource = ApiResource::erase::<Widget>(&());
        Api::namespaced_with(self.client.clone(), self.namespace, &resource)
    }

    pub async fn create(&self, name: &str, size: impl Into<Value>) -> Result<()> {
        self.create_labelled(name, size, json!({})).await
    }

    pub async fn create_labelled(
        &self,
        name: &str,
        size: impl Into<Value>,
        labels: Value,
    ) -> Result<()> {
        let object: DynamicObject = from_value(json!({
            "apiVersion": "test.example.com/v1",
            "kind": "Widget",
            "metadata": { "name": name, "labels": labels },
            "spec": { "size": size.into() },
        }))?;
        self.raw().create(&PostParams::default(), &object).await?;
        Ok(())
    }

    /// Changes the size, which changes the generation.
    pub async fn resize(&self, name: &str, size: impl Into<Value>) -> Result<()> {
        let size: Value = size.into();
        self.merge(name, json!({ "spec": { "size": size } })).await
    }

    pub async fn merge(&self, name: &str, change: Value) -> Result<()> {
        let params = PatchParams::default();
        self.raw()
            .patch(name, &params, &Patch::Merge(change))
            .await?;
        Ok(())
    }

    pub async fn delete(&self, name: &str) -> Result<()> {
        self.widgets()
            .delete(name, &DeleteParams::default())
            .await?;
        Ok(())
    }

    pub async fn delete_child(&self, name: &str) -> Result<()> {
        self.children()
            .delete(name, &DeleteParams::default())
            .await?;
        Ok(())
    }

    /// Waits until the operator has nothing more to do.
    pub async fn quiet(&self) -> Result<()> {
        let quiet = async || {
            let now = Instant::now();
            sleep(Duration::from_millis(700)).await;
            Ok(self.gate.count(now, |_| true) == 0)
        };
        until("the operator is quiet", 20, quiet).await?;
        Ok(())
    }

    /// Waits until each widget was reconciled at its newest generation and is ready.
    pub async fn settled(&self, journal: &Journal, seconds: u64) -> Result<Duration> {
        until(
            "every widget is ready at its newest generation",
            seconds,
            async || {
                let widgets = self.widgets().list(&Default::default()).await;
                let Ok(widgets) = widgets else {
                    return Ok(false);
                };
                Ok(widgets.iter().all(|widget| {
                    let generation = widget.metadata.generation;
                    Some(journal.generation(&widget.name_any())) >= generation && is_ready(widget)
                }))
            },
        )
        .await
    }
}

/// Whether `Ready` is True for the newest generation.
pub fn is_ready(widget: &Widget) -> bool {
    ready(widget).is_some_and(|(status, _)| status == "True")
}

/// Status and reason of `Ready`, for the newest generation.
pub fn ready(widget: &Widget) -> Option<(&str, &str)> {
    let conditions = &widget.status.as_ref()?.conditions;
    let of_now = |generation| generation == widget.metadata.generation;
    let ready = conditions
        .iter()
        .find(|found| found.type_ == "Ready" && of_now(found.observed_generation))?;
    Some((&ready.status, &ready.reason))
}
