//! Objects of the operator's own type that fit neither the schema nor the Rust type.

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, CustomResource,
    api::{DynamicObject, ObjectMeta, PostParams},
    core::ApiResource,
};
use operator_runtime::{
    CrdError, Crds,
    envtest::NAMESPACE,
    webhook::{Denied, Request, Webhook},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{from_value, json};

use crate::webhooks::{cluster, operator};

/// The desired state of a Gauge.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "Gauge", namespaced)]
pub struct GaugeSpec {
    unit: Unit,
    #[schemars(range(min = 1))]
    width: u32,
    #[serde(default)]
    label: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
enum Unit {
    Bar,
    Volt,
}

pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<Gauge>();
    crds.merge()
}

/// The defaulting webhook of a project's own type, as generated.
pub fn defaulting() -> Webhook<Gauge, Client> {
    Webhook::defaulting(default).schema_first()
}

async fn default(gauge: &mut Gauge, request: &Request, _: &Client) -> Result<(), Denied> {
    if gauge.spec.label.is_empty() {
        gauge.spec.label.clone_from(&request.name);
    }
    Ok(())
}

#[tokio::test]
async fn all_errors_are_reported_at_once() -> Result<()> {
    let resource = ApiResource::erase::<Gauge>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(cluster()?.client()?, NAMESPACE, &resource);
    let gauge = |name, spec| -> Result<DynamicObject> {
        Ok(from_value(json!({
            "apiVersion": "test.example.com/v1",
            "kind": "Gauge",
            "metadata": { "name": name },
            "spec": spec,
        }))?)
    };
    let params = PostParams::default();
    let good = gauge("good", json!({"unit": "Bar", "width": 1}))?;
    let stored = api.create(&params, &good).await?;
    ensure!(stored.data["spec"]["label"] == "good", "{stored:?}");
    // Gauges have no validating webhook, and no other object was sent.
    let named = |name| Gauge {
        metadata: ObjectMeta {
            name: Some(String::from(name)),
            ..ObjectMeta::default()
        },
        spec: GaugeSpec {
            unit: Unit::Bar,
            width: 1,
            label: String::new(),
        },
    };
    let operator = operator()?;
    ensure!(operator.defaulted(&named("good")));
    ensure!(!operator.defaulted(&named("other")));
    ensure!(!operator.validated(&named("good")));

    let bad = gauge("bad", json!({"unit": "Mile", "width": 0, "label": 3}))?;
    let refused = api.create(&params, &bad).await;
    let Err(kube::Error::Api(status)) = refused else {
        anyhow::bail!("{refused:?}");
    };
    ensure!(
        (status.code, &*status.reason) == (422, "Invalid"),
        "{status:?}"
    );
    let causes = status.details.context("details")?.causes;
    let mut fields: Vec<_> = causes.iter().map(|cause| &*cause.field).collect();
    fields.sort_unstable();
    ensure!(
        fields == ["spec.label", "spec.unit", "spec.width"],
        "{causes:?}"
    );
    Ok(())
}
