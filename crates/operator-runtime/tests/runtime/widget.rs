//! The type of the operators under test.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use operator_runtime::{CrdError, Crds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of a Widget.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Widget",
    namespaced,
    status = "WidgetStatus"
)]
pub struct WidgetSpec {
    /// The schema allows any string as well, as after a change of the type.
    #[serde(default)]
    #[schemars(extend("x-kubernetes-int-or-string" = true), transform = without_type)]
    pub size: i32,
}

/// The observed state of a Widget.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

fn without_type(schema: &mut schemars::Schema) {
    for key in ["type", "format"] {
        schema.remove(key);
    }
}

/// The CRD of [`Widget`].
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<Widget>();
    crds.merge()
}
