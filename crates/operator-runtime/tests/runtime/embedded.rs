//! Kubernetes' own types in a CRD have the schema that controller-gen writes for the same type in Go.
//!
//! `embedded/controller-gen.yaml` is the output of controller-gen for
//! `tests/controller-gen/embedded/types.go`; `make schemas` runs it again and compares.

mod difference;

use std::{collections::BTreeMap, fs};

use anyhow::Result;
use difference::{Difference, differences};
use k8s_openapi::{
    api::{
        batch::v1::JobTemplateSpec,
        core::v1::{
            Affinity, EnvVar, EnvVarSource, LocalObjectReference, ObjectReference,
            PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate, PodTemplateSpec, Probe,
            Volume,
        },
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::runtime::RawExtension,
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{Condition, LabelSelector, MicroTime, Time},
        util::intstr::IntOrString,
    },
};
use kube::{
    Api, CustomResource, CustomResourceExt, KubeSchema,
    api::{Patch, PatchParams},
};
use operator_runtime::{
    Crds,
    envtest::{Cluster, NAMESPACE},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Embedded",
    namespaced,
    status = "EmbeddedStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedSpec {
    pub template: PodTemplateSpec,
    pub job_template: JobTemplateSpec,
    pub reference: ObjectReference,
    pub secret: LocalObjectReference,
    pub selector: LabelSelector,
    pub claim: PersistentVolumeClaimSpec,
    pub affinity: Affinity,
    pub probe: Probe,
    pub volumes: Vec<Volume>,
    pub sources: BTreeMap<String, EnvVarSource>,
    pub limits: BTreeMap<String, Quantity>,
    pub size: Quantity,
    pub port: IntOrString,
    pub since: Time,
    pub heartbeat: MicroTime,
    pub settings: RawExtension,
    pub nested: Nested,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Nested {
    pub env: Vec<EnvVar>,
}

#[derive(Clone, Debug, Deserialize, KubeSchema, Serialize)]
pub struct EmbeddedStatus {
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

fn merged(mut crds: Vec<CustomResourceDefinition>) -> CustomResourceDefinition {
    crds.remove(0)
}

fn of<K: CustomResourceExt + JsonSchema + DeserializeOwned>() -> CustomResourceDefinition {
    let mut crds = Crds::default();
    crds.add_storage::<K>();
    merged(crds.merge().unwrap())
}

/// The schema of the only version.
fn schema(crd: &impl Serialize) -> Value {
    let crd = serde_json::to_value(crd).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

/// The differences in the fields of Kubernetes' types. Around them, kube's schema differs: a status may be
/// null, and the root lacks `apiVersion`, `kind` and `metadata`, which the API server adds.
fn against_go(crd: &CustomResourceDefinition) -> Vec<Difference> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/runtime/embedded/controller-gen.yaml"
    );
    let go: Value = serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let (go, rust) = (schema(&go), schema(crd));
    let of = |part: &str| {
        let [go, rust] = [&go, &rust].map(|schema| schema.pointer(part).unwrap());
        differences(part, go, rust)
    };
    let parts = [
        "/properties/spec",
        "/properties/status/properties/conditions",
    ];
    parts.into_iter().flat_map(of).collect()
}

fn by_keyword(differences: &[Difference]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for difference in differences {
        *counts.entry(difference.keyword.as_str()).or_default() += 1;
    }
    counts
}

#[test]
fn a_crd_equals_the_output_of_controller_gen() {
    let kube = against_go(&Embedded::crd());
    let kube = by_keyword(&kube);
    println!("without what controller-gen says: {kube:#?}");
    assert!(kube["x-kubernetes-list-type"] > 20, "{kube:#?}");

    let ours = against_go(&of::<Embedded>());
    let first: Vec<_> = ours.iter().take(20).collect();
    assert!(ours.is_empty(), "{:#?}\n{first:#?}", by_keyword(&ours));
}

/// A spec whose Pod template has a container with `env` and a port.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Workload",
    namespaced
)]
pub struct WorkloadSpec {
    pub template: PodTemplateSpec,
}

fn workload(env: &str) -> Patch<Value> {
    let container = json!({
        "name": "main",
        "env": [{ "name": env, "value": "1" }],
        "ports": [{ "containerPort": 80 }],
    });
    Patch::Apply(json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Workload",
        "metadata": { "name": "shared" },
        "spec": { "template": {
            "metadata": { "labels": { env: "set" } },
            "spec": { "containers": [container] },
        } },
    }))
}

#[tokio::test]
async fn two_managers_each_own_an_entry_of_a_list() -> Result<()> {
    let cluster = Cluster::start()?;
    // Strict validation refuses a list map key that is neither required nor has a default.
    let strict = PatchParams::apply("test").validation_strict().dry_run();
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client()?);
    let crd = of::<Embedded>();
    let name = Embedded::crd_name();
    let embedded = api.patch(name, &strict, &Patch::Apply(&crd)).await?;
    assert_eq!(against_go(&embedded).len(), 0, "the API server keeps all");

    let crds: Result<_, String> = Ok(vec![of::<Workload>()]);
    cluster.install(crds).await?;
    let api: Api<Workload> = Api::namespaced(cluster.client()?, NAMESPACE);
    for (manager, env) in [("one", "FIRST"), ("two", "SECOND")] {
        let params = PatchParams::apply(manager).validation_strict();
        api.patch("shared", &params, &workload(env)).await?;
    }
    let shared = api.get("shared").await?;
    let template = shared.spec.template;
    let spec = template.spec.unwrap();
    let env = spec.containers[0].env.iter().flatten();
    let names: Vec<_> = env.map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["FIRST", "SECOND"]);
    let ports = spec.containers[0].ports.as_deref().unwrap();
    assert_eq!(ports[0].protocol.as_deref(), Some("TCP"));
    let labels = template.metadata.unwrap().labels.unwrap();
    assert_eq!(labels.len(), 2, "the metadata of a template is kept");
    Ok(())
}

/// Attributes of a type's author, beside the schemas of the fields' types.
#[derive(Clone, Debug, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "Own")]
pub struct OwnSpec {
    /// The location.
    #[schemars(extend("x-kubernetes-map-type" = "granular"))]
    pub reference: Option<ObjectReference>,
    #[x_kube(validation = "self.matchLabels.size() > 0")]
    pub selector: LabelSelector,
    #[schemars(transform = without_metadata)]
    pub claim: PersistentVolumeClaimTemplate,
    pub any: Source,
    pub either: Either,
}

/// A variant is a property.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    Secret(LocalObjectReference),
    Env(Vec<EnvVar>),
}

/// A variant is identified by its properties.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Either {
    Secret(LocalObjectReference),
    Limits { limits: BTreeMap<String, Quantity> },
}

fn without_metadata(schema: &mut schemars::Schema) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove("metadata");
    }
}

#[test]
fn attributes_of_a_field_stay() {
    let schema = schema(&of::<Own>());
    let of = |name: &str| &schema["properties"]["spec"]["properties"][name];

    let reference = of("reference");
    assert_eq!(reference["description"], "The location.");
    assert_eq!(reference["nullable"], true);
    assert_eq!(reference["x-kubernetes-map-type"], "granular");

    let selector = of("selector");
    assert_eq!(selector["x-kubernetes-map-type"], "atomic");
    assert_eq!(
        selector["x-kubernetes-validations"][0]["rule"],
        "self.matchLabels.size() > 0"
    );

    let claim = &of("claim")["properties"];
    assert_eq!(claim["metadata"], Value::Null);
    let modes = &claim["spec"]["properties"]["accessModes"];
    assert_eq!(modes["x-kubernetes-list-type"], "atomic");

    let any = &of("any")["properties"];
    assert_eq!(any["secret"]["properties"]["name"]["default"], "");
    assert_eq!(any["secret"]["required"], Value::Null);
    let env = &any["env"]["items"];
    assert_eq!(env["required"], json!(["name"]));

    let either = of("either");
    assert_eq!(either["properties"]["name"]["default"], "");
    let limit = &either["properties"]["limits"]["additionalProperties"];
    assert_eq!(limit["anyOf"][0]["type"], "integer");
    assert_eq!(either["anyOf"][0]["required"], Value::Null);
    assert_eq!(either["anyOf"][1]["required"], json!(["limits"]));
}
