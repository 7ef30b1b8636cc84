//! The type of the webhooks under test, of which the API server knows more than they do.

use anyhow::Result;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResource,
    api::{DynamicObject, PostParams},
    core::ApiResource,
};
use operator_runtime::{
    CrdError, Crds,
    envtest::{Cluster, NAMESPACE},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json};

/// The desired state of a Gadget.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Gadget",
    namespaced,
    status = "GadgetStatus"
)]
pub struct GadgetSpec {
    /// Odd. The schema allows any string as well, as after a change of the type.
    #[schemars(extend("x-kubernetes-int-or-string" = true), transform = without_type)]
    pub size: Option<i32>,
    /// `fast`, `slow` or `owned`; immutable.
    pub mode: Option<String>,
    /// An existing ConfigMap, if the mode is `owned`.
    pub owner: Option<String>,
    #[serde(default)]
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct Part {
    pub name: String,
    pub weight: Option<i32>,
}

/// The observed state of a Gadget.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct GadgetStatus {
    pub state: Option<String>,
}

fn without_type(schema: &mut schemars::Schema) {
    for key in ["type", "format"] {
        schema.remove(key);
    }
}

/// The CRD, with fields of a newer version of the operator: `spec.color` and `spec.parts[].color`.
pub fn crds() -> std::result::Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<Gadget>();
    let mut crds = crds.merge()?;
    let schema = crds[0].spec.versions[0].schema.as_mut();
    let schema = schema.and_then(|schema| schema.open_api_v3_schema.as_mut());
    let mut value = json!(schema);
    for fields in [
        "/properties/spec/properties",
        "/properties/spec/properties/parts/items/properties",
    ] {
        let fields = value.pointer_mut(fields).expect("the fields of a Gadget");
        fields["color"] = json!({ "type": "string" });
    }
    if let Some(schema) = schema {
        *schema = from_value(value).expect("a schema");
    }
    Ok(crds)
}

/// Gadgets as JSON.
pub fn raw(cluster: &Cluster) -> Result<Api<DynamicObject>> {
    let resource = ApiResource::erase::<Gadget>(&());
    Ok(Api::namespaced_with(
        cluster.client()?,
        NAMESPACE,
        &resource,
    ))
}

pub fn object(metadata: Value, spec: Value) -> Result<DynamicObject> {
    Ok(from_value(json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Gadget",
        "metadata": metadata,
        "spec": spec,
    }))?)
}

/// Stores objects that do not decode as [`Gadget`], which needs a cluster without the webhooks.
pub async fn store_undecodable(cluster: &Cluster) -> Result<()> {
    cluster.install(crds()).await?;
    for name in ["to-repair", "to-delete"] {
        let object = object(
            json!({ "name": name }),
            json!({"size": "many", "mode": "slow"}),
        )?;
        raw(cluster)?
            .create(&PostParams::default(), &object)
            .await?;
    }
    Ok(())
}
