//! What operator-sdk leaves behind: the objects of a release, Helm's Secret, the finalizer and the conditions.

use std::io::Write;

use anyhow::{Context as _, Error, Result, ensure};
use data_encoding::BASE64;
use flate2::{Compression, write::GzEncoder};
use helm_render::{
    Options,
    chart::{Chart, File, Release as OfRelease},
    render,
};
use include_dir::{Dir, include_dir};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{ConfigMap, Secret, Service},
    rbac::v1::ClusterRole,
};
use kube::{
    Api, Resource, ResourceExt,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use operator_helm::include_dir;
use operator_runtime::{ScopedResource, envtest::NAMESPACE};
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};

use crate::web::{Release, Web};

/// The field manager of operator-sdk: the name of its program.
const MANAGER: &str = "helm-operator";

pub const FINALIZER: &str = "helm.sdk.operatorframework.io/uninstall-release";

static WEB: Dir = include_dir!("$CARGO_MANIFEST_DIR/tests/charts/web");

/// What the former version of the chart has more than `tests/charts/web`: an object, one outside of namespaces, and fields.
const MORE: [(&str, &str); 4] = [
    (
        "templates/dropped.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-dropped\n",
    ),
    (
        "templates/dropped-role.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {{ .Release.Name }}-dropped\nrules: []\n",
    ),
    (
        "templates/disk.yaml",
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: {{ .Release.Name }}-disk\nspec:\n  schedule: 0 0 * * *\n  jobTemplate: {spec: \
         {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}], volumes: [{name: data, emptyDir: {}}]}}}}\n",
    ),
    (
        "templates/config.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-config\ndata:\n  message: hello\n  dropped: \"true\"\n",
    ),
];

/// The files of `tests/charts/web`.
pub fn web() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    collect(&WEB, &mut files);
    files
}

/// The files of the chart that the former operator installs.
pub fn chart() -> Vec<(String, Vec<u8>)> {
    let mut files = web();
    files.retain(|(path, _)| MORE.iter().all(|(more, _)| path != more));
    let more = MORE.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    files.extend(more);
    files
}

fn collect(directory: &Dir<'_>, files: &mut Vec<(String, Vec<u8>)>) {
    let own = directory.files();
    files.extend(own.map(|file| (file.path().display().to_string(), file.contents().to_vec())));
    for inner in directory.dirs() {
        collect(inner, files);
    }
}

/// Creates the custom resource and what operator-sdk would have made of it, as revision 1.
pub async fn install(release: &Release, values: Value) -> Result<()> {
    release.create(values.clone()).await?;
    let webs: Api<Web> = release.api();
    let params = PatchParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let mark = Patch::Merge(json!({ "metadata": { "finalizers": [FINALIZER] } }));
    let web = webs.patch(release.name, &params, &mark).await?;
    let condition = json!({
        "type": "Deployed", "status": "True", "reason": "InstallSuccessful", "message": "notes",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    });
    let status = Patch::Merge(json!({ "status": { "conditions": [condition] } }));
    webs.patch_status(release.name, &params, &status).await?;

    let files = chart().into_iter();
    let chart = Chart::from_files(files.map(|(path, bytes)| File::new(path, bytes)).collect())?;
    let options = Options {
        release: OfRelease {
            name: release.name.to_owned(),
            namespace: NAMESPACE.to_owned(),
            revision: 1,
            is_upgrade: false,
        },
        ..Options::default()
    };
    let values = from_value(values)?;
    let rendered = render(&chart, &values, &options)?;
    let owner = json!({
        "apiVersion": "charts.example.com/v1alpha1", "kind": "Web", "name": release.name, "uid": web.uid(),
        "controller": true, "blockOwnerDeletion": true,
    });
    let mut manifest = String::new();
    for found in &rendered.manifests.manifests {
        manifest.push_str(&format!("---\n# Source: {}\n{}\n", found.path, found.text));
        let mut object =
            Value::Object(helm_render::chart::values(&found.text).map_err(Error::msg)?);
        let metadata = &mut object["metadata"];
        metadata["labels"]["app.kubernetes.io/managed-by"] = json!("Helm");
        metadata["labels"]["helm.sdk.operatorframework.io/chart"] = json!("web");
        metadata["annotations"]["meta.helm.sh/release-name"] = json!(release.name);
        metadata["annotations"]["meta.helm.sh/release-namespace"] = json!(NAMESPACE);
        let is_namespaced = object["kind"] != "ClusterRole";
        if is_namespaced && object["metadata"]["annotations"]["helm.sh/resource-policy"] != "keep" {
            object["metadata"]["ownerReferences"] = json!([owner]);
        }
        let object: DynamicObject = from_value(object)?;
        let types = object.types.clone().context("no type")?;
        let kind = GroupVersionKind::try_from(types)?;
        let kind = ScopedResource::discover(&release.client, &kind).await?;
        let kind = kind.context("not served")?;
        let namespace = is_namespaced.then_some(NAMESPACE);
        let api: Api<DynamicObject> = kind.api(release.client.clone(), namespace);
        api.create(&created(), &object).await?;
    }
    let stored = json!({
        "name": release.name, "namespace": NAMESPACE, "version": 1, "manifest": manifest,
        "info": { "status": "deployed" }, "chart": { "metadata": { "name": "web" } },
    });
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(stored.to_string().as_bytes())?;
    let packed = BASE64.encode(&packed.finish()?);
    let name = format!("sh.helm.release.v1.{}.v1", release.name);
    let labels =
        json!({ "owner": "helm", "name": release.name, "status": "deployed", "version": "1" });
    let secret: Secret = from_value(json!({
        "metadata": { "name": name, "labels": labels, "ownerReferences": [owner] },
        "type": "helm.sh/release.v1",
        "data": { "release": BASE64.encode(packed.as_bytes()) },
    }))?;
    release.api::<Secret>().create(&created(), &secret).await?;
    Ok(())
}

/// The fields of an object that operator-sdk owns, without those of the status.
pub fn owned<K: Resource>(object: &K) -> Vec<Value> {
    let entries = object.meta().managed_fields.iter().flatten();
    let own = entries.filter(|entry| entry.manager.as_deref() == Some(MANAGER));
    let own = own.filter(|entry| entry.subresource.is_none());
    own.filter_map(|entry| entry.fields_v1.as_ref().map(|it| it.0.clone()))
        .collect()
}

async fn has_no_former_field<K>(api: Api<K>, name: &str) -> Result<K>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let object = api.get(name).await?;
    let left = owned(&object);
    ensure!(left.is_empty(), "{name}: {left:?}");
    let label = "helm.sdk.operatorframework.io/chart";
    ensure!(!object.labels().contains_key(label), "{object:?}");
    Ok(object)
}

/// Checks that a release has exactly what `tests/charts/web` renders.
pub async fn is_taken_over(release: &Release) -> Result<()> {
    let name = release.name;
    has_no_former_field::<StatefulSet>(release.api(), name).await?;
    has_no_former_field::<Service>(release.api(), name).await?;
    let config = has_no_former_field(release.api::<ConfigMap>(), &format!("{name}-config")).await?;
    let keys = config.data.as_ref().map(|it| Vec::from_iter(it.keys()));
    ensure!(keys == Some(vec![&"message".to_owned()]), "{config:?}");
    has_nothing_dropped(release).await
}

/// Checks that what `tests/charts/web` does not render is gone.
pub async fn has_nothing_dropped(release: &Release) -> Result<()> {
    let dropped = format!("{}-dropped", release.name);
    release.lacks::<ConfigMap>(&dropped).await?;
    let roles = release.cluster_api::<ClusterRole>();
    let role = roles.get_opt(&dropped).await?;
    ensure!(role.is_none(), "{role:?}");
    Ok(())
}

fn created() -> PostParams {
    PostParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PostParams::default()
    }
}
