//! Fields without a value: absent or null, the API server's handling of a null that is not allowed, and objects without `spec`.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResource, CustomResourceExt, ResourceExt,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    CrdError, Crds,
    envtest::{Cluster, NAMESPACE, eventually},
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, from_value, json};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Default, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Note",
    namespaced,
    status = "NoteStatus"
)]
#[serde(rename_all = "camelCase")]
struct NoteSpec {
    /// Written as null when it has no value.
    written: Option<String>,
    /// Omitted when it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct NoteStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
}

fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<Note>();
    crds.merge()
}

fn note(name: &str, spec: Value) -> Result<DynamicObject> {
    Ok(from_value(json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Note",
        "metadata": { "name": name },
        "spec": spec,
    }))?)
}

#[tokio::test]
async fn an_omitted_field_is_absent_and_a_stored_null_is_dropped() -> Result<()> {
    let nulls = || json!({ "written": null, "leftOut": null });
    let left = json!({ "written": null });
    let cluster = Cluster::start()?;
    let api: Api<DynamicObject> = Api::namespaced_with(
        cluster.client()?,
        NAMESPACE,
        &ApiResource::erase::<Note>(&()),
    );
    // In kube's own CRD, both are nullable.
    let before = Ok::<_, CrdError>(vec![Note::crd()]);
    cluster.install(before).await?;
    let params = PostParams::default();
    let stored = api.create(&params, &note("stored", nulls())?).await?;
    ensure!(stored.data["spec"] == nulls(), "{stored:?}");

    cluster.install(crds()).await?;
    eventually(PATIENCE, async || {
        let stored = api.get("stored").await?;
        ensure!(stored.data["spec"] == left, "{stored:?}");
        Ok(())
    })
    .await?;

    // The object can be written, and so can one that still contains null.
    let label = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    let labelled = api.patch("stored", &PatchParams::default(), &label).await?;
    ensure!(labelled.data["spec"] == left, "{labelled:?}");
    let mut replaced = note("stored", nulls())?;
    replaced.metadata.resource_version = labelled.resource_version();
    let replaced = api.replace("stored", &params, &replaced).await?;
    ensure!(replaced.data["spec"] == left, "{replaced:?}");
    let created = api.create(&params, &note("created", nulls())?).await?;
    ensure!(created.data["spec"] == left, "{created:?}");

    // A server-side apply of a whole object contains only the fields that the type writes.
    let typed = Note::new("typed", NoteSpec::default());
    let notes: Api<Note> = Api::namespaced(cluster.client()?, NAMESPACE);
    let manager = PatchParams::apply("test");
    notes
        .patch("typed", &manager, &Patch::Apply(&typed))
        .await?;
    let applied = api.get("typed").await?;
    ensure!(applied.data["spec"] == left, "{applied:?}");
    let status = Patch::Merge(json!({ "status": NoteStatus::default() }));
    let patched = api
        .patch_status("typed", &PatchParams::default(), &status)
        .await?;
    ensure!(patched.data["status"] == json!({}), "{patched:?}");

    // This is why a type that writes null keeps `nullable`.
    let object = note("applied", nulls())?;
    let refused = api.patch("applied", &manager, &Patch::Apply(&object)).await;
    let Err(kube::Error::Api(refused)) = refused else {
        anyhow::bail!("{refused:?}");
    };
    ensure!(
        refused.code == 422 && refused.message.contains("spec.leftOut"),
        "{refused:?}"
    );
    Ok(())
}

/// A spec that objects may lack: it is read as an option.
#[derive(Clone, Debug, Default, CustomResource, JsonSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "Blank", namespaced)]
struct BlankSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<i64>,
}

impl<'de> Deserialize<'de> for BlankSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Option::<BTreeMap<String, i64>>::deserialize(deserializer)?;
        let size = values.unwrap_or_default().remove("size");
        Ok(Self { size })
    }
}

#[test]
fn spec_is_required_unless_the_type_can_be_read_without_it() -> Result<()> {
    let mut all = Crds::default();
    all.add_storage::<Note>();
    all.add_storage::<Blank>();
    let required = |crd: &CustomResourceDefinition| {
        let schema = crd.spec.versions[0].schema.clone()?;
        schema.open_api_v3_schema?.required
    };
    let [blank, note] = &all.merge()?[..] else {
        anyhow::bail!("two kinds");
    };
    ensure!(required(blank).is_none(), "{blank:?}");
    ensure!(required(note) == Some(vec!["spec".to_owned()]), "{note:?}");
    Ok(())
}
