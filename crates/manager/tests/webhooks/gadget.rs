//! What the webhooks under test are about: a type of which the API server knows more than they do.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, core::crd::MergeError};
use manager::Crds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{from_value, json};

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
    /// Odd. The API server takes any text as well, as after a change of the type.
    #[schemars(extend("x-kubernetes-int-or-string" = true), transform = without_type)]
    pub size: Option<i32>,
    /// `fast`, `slow` or `owned`; never changes.
    pub mode: Option<String>,
    /// A ConfigMap that exists, if the mode is `owned`.
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

/// The CRD, with fields that a newer version of the operator has: `spec.color` and
/// `spec.parts[].color`.
pub fn crds() -> Result<Vec<CustomResourceDefinition>, MergeError> {
    let mut crds = Crds::default();
    crds.stored::<Gadget>();
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
