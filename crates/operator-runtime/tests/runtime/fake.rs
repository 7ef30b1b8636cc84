//! The fake API server answers as the real one does.

use std::fmt::Debug;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams, Preconditions},
    core::Status,
};
use operator_runtime::{envtest::Cluster, fake::Fake};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, from_value, json};

use crate::widget::Widget;

/// The responses in a comparable form, in order.
#[derive(Debug, Default)]
struct Transcript(Vec<String>);

impl Transcript {
    /// Records the parts that do not depend on the server: versions and times only as present or absent.
    fn object<K: Serialize>(&mut self, step: &str, answer: kube::Result<K>) -> Option<Value> {
        let (line, object) = match answer {
            Ok(object) => {
                let object = json!(object);
                (visible(&object), Some(object))
            }
            Err(kube::Error::Api(status)) => (refusal(&status), None),
            Err(error) => (error.to_string(), None),
        };
        self.0.push(format!("{step}: {line}"));
        object
    }

    fn note(&mut self, step: &str, what: impl Debug) {
        self.0.push(format!("{step}: {what:?}"));
    }
}

fn visible(object: &Value) -> String {
    let metadata = &object["metadata"];
    let has = |field: &str| !metadata[field].is_null();
    format!(
        "{} generation {} finalizers {} labels {} uid {} version {} created {} deleted {} content {} {} {}",
        metadata["name"],
        metadata["generation"],
        metadata["finalizers"],
        metadata["labels"],
        has("uid"),
        has("resourceVersion"),
        has("creationTimestamp"),
        has("deletionTimestamp"),
        object["data"],
        object["spec"],
        object["status"],
    )
}

fn refusal(status: &Status) -> String {
    let details = status.details.as_ref();
    let details = details.map(|details| (&details.name, &details.group, &details.kind));
    // The rest of a message explains more than the fake's.
    let message = status.message.split(';').next().unwrap_or_default();
    match status.code {
        404 | 409 => format!("{} {} {message} {details:?}", status.code, status.reason),
        // The real one gives no reason.
        500 => "500".to_owned(),
        code => format!("{code} {}", status.reason),
    }
}

/// The life of both types of objects; `part` is the field that they have.
async fn life<K>(api: &Api<K>, object: Value, part: &str) -> Transcript
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    let mut seen = Transcript::default();
    let (post, apply) = (PostParams::default(), PatchParams::apply("test").force());
    let params = PatchParams::default();
    let typed = |object: &Value| from_value::<K>(object.clone()).unwrap();

    seen.object("get none", api.get("a").await);
    let none = api.delete("a", &DeleteParams::default()).await;
    seen.object("delete none", none.map(|_| ()));
    let merge = Patch::Merge(json!({ "metadata": { "labels": { "x": "y" } } }));
    seen.object("patch none", api.patch("a", &params, &merge).await);

    let first = seen
        .object("create", api.create(&post, &typed(&object)).await)
        .unwrap();
    seen.object("create again", api.create(&post, &typed(&object)).await);
    seen.object("create what was read", {
        let mut read = first.clone();
        read["metadata"]["name"] = "b".into();
        api.create(&post, &typed(&read)).await
    });
    let merged = seen
        .object("merge", api.patch("a", &params, &merge).await)
        .unwrap();
    let same = seen
        .object("merge again", api.patch("a", &params, &merge).await)
        .unwrap();
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    seen.note("a change is a version", version(&merged) == version(&first));
    seen.note("nothing is none", version(&same) == version(&merged));

    let replaced = api.replace("a", &post, &typed(&first)).await;
    seen.object("replace stale", replaced);
    let mut new = same.clone();
    new[part] = json!({ "size": 2 });
    if part == "data" {
        new[part] = json!({ "size": "2" });
    }
    seen.object("replace", api.replace("a", &post, &typed(&new)).await);
    let stale = json!({ "metadata": { "resourceVersion": version(&first), "labels": null } });
    seen.object(
        "merge stale",
        api.patch("a", &params, &Patch::Merge(stale)).await,
    );
    let patch = json!([
        { "op": "test", "path": "/metadata/labels/x", "value": "y" },
        { "op": "add", "path": "/metadata/finalizers", "value": ["test.example.com/a"] },
    ]);
    let patch = Patch::<()>::Json(from_value(patch).unwrap());
    seen.object("json", api.patch("a", &params, &patch).await);

    let mut applied = object.clone();
    applied["metadata"] = json!({ "name": "b", "labels": { "app": "web" } });
    let mut changed = applied.clone();
    changed[part] = new[part].clone();
    let mut nameless = applied.clone();
    nameless["metadata"] = json!({});
    let untyped = json!({ "metadata": { "name": "b" } });
    for (step, name, body) in [
        ("apply new", "b", applied),
        ("apply", "b", changed),
        ("apply without a name", "c", nameless),
        ("apply without a type", "b", untyped),
    ] {
        let answer = api.patch(name, &apply, &Patch::Apply(body)).await;
        seen.object(step, answer);
    }
    let rename = Patch::Merge(json!({ "metadata": { "name": "c" } }));
    seen.object("rename", api.patch("b", &params, &rename).await);
    select(api, &mut seen).await;
    delete(api, &mut seen).await;

    let mut generated = object;
    generated["metadata"] = json!({ "generateName": "g-" });
    let generated = api.create(&post, &typed(&generated)).await.unwrap();
    let name = generated.meta().name.clone().unwrap_or_default();
    seen.note("generated", (name.starts_with("g-"), name.len()));
    let (delete, all) = (DeleteParams::default(), ListParams::default());
    api.delete_collection(&delete, &all.labels("!app"))
        .await
        .unwrap();
    seen.note("deleted all", api.get_opt(&name).await.unwrap().is_none());
    seen
}

/// Lists with selectors: `a` has the label `x=y`, and `b` has `app=web`.
async fn select<K>(api: &Api<K>, seen: &mut Transcript)
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    for selector in "|app=web|app!=web|x|!x|app in (api,web)|x notin (y)".split('|') {
        let params = ListParams::default().labels(selector);
        let list = api.list(&params).await.unwrap();
        let names = list.items.iter().map(|object| object.meta().name.clone());
        seen.note(selector, names.collect::<Vec<_>>());
    }
    let params = ListParams::default().fields("metadata.name=b");
    let list = api.list(&params).await.unwrap();
    seen.note("one by field", list.items.len());
}

/// Deletes `a`, which has a finalizer, and `b`, which has none.
async fn delete<K>(api: &Api<K>, seen: &mut Transcript)
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    let params = PatchParams::default();
    let wrong = DeleteParams::default().preconditions(Preconditions {
        uid: Some("other".into()),
        ..Preconditions::default()
    });
    let another = api.delete("a", &wrong).await;
    seen.note("delete another", another.map(|_| ()).map_err(code));
    let delete = DeleteParams::default();
    for step in ["delete", "delete again"] {
        let answer = api.delete("a", &delete).await.unwrap();
        seen.note(step, answer.is_left());
    }
    seen.object("is deleted", api.get("a").await);
    let more =
        Patch::Merge(json!({ "metadata": { "finalizers": ["test.example.com/a", "b.c/d"] } }));
    seen.object("no more finalizers", api.patch("a", &params, &more).await);
    let none = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    seen.object("last finalizer", api.patch("a", &params, &none).await);
    seen.object("is gone", api.get("a").await);
    let gone = api.delete("b", &delete).await.unwrap().is_right();
    seen.note("delete at once", gone);
}

/// The life of a status, independent of the rest.
async fn status(api: &Api<Widget>) -> Transcript {
    let mut seen = Transcript::default();
    let (post, params) = (PostParams::default(), PatchParams::default());
    let mut widget = Widget::new("s", crate::widget::WidgetSpec { size: 1 });
    widget.status = Some(crate::widget::WidgetStatus::default());
    let widget = seen
        .object("no status", api.create(&post, &widget).await)
        .unwrap();
    let both = json!({ "spec": { "size": 2 }, "status": { "observedGeneration": 7 } });
    let both = Patch::Merge(both);
    seen.object("main", api.patch("s", &params, &both).await);
    seen.object("status", api.patch_status("s", &params, &both).await);
    seen.object(
        "stale",
        api.replace_status("s", &post, &from_value(widget).unwrap())
            .await,
    );
    let mut newest = api.get_status("s").await.unwrap();
    newest.spec.size = 3;
    newest.status.as_mut().unwrap().observed_generation = Some(8);
    seen.object("replaced", api.replace_status("s", &post, &newest).await);
    let applied = json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Widget",
        "status": { "observedGeneration": 9 },
    });
    let apply = PatchParams::apply("test").force();
    seen.object(
        "applied",
        api.patch_status("s", &apply, &Patch::Apply(&applied)).await,
    );
    seen.object(
        "applied to none",
        api.patch_status("t", &apply, &Patch::Apply(&applied)).await,
    );
    seen.object("replaced wholly", {
        let mut newest = api.get("s").await.unwrap();
        newest.status = None;
        newest.spec.size = 4;
        api.replace("s", &post, &newest).await
    });
    newest.metadata.resource_version = None;
    seen.object("without a version", api.replace("s", &post, &newest).await);
    seen
}

/// The eviction of a Pod without a node, which has nothing to wait for.
async fn eviction(api: &Api<Pod>) -> Transcript {
    let mut seen = Transcript::default();
    let pod = json!({
        "metadata": { "name": "p" },
        "spec": { "containers": [{ "name": "a", "image": "b" }] },
    });
    let params = EvictParams::default();
    seen.object("evict none", api.evict("p", &params).await);
    let pod = from_value(pod).unwrap();
    api.create(&PostParams::default(), &pod).await.unwrap();
    seen.object("evict", api.evict("p", &params).await);
    seen.object("evicted", api.get("p").await);
    seen
}

fn code(error: kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        _ => 0,
    }
}

async fn all(client: Client) -> Vec<String> {
    let widgets = Api::default_namespaced(client.clone());
    let widget = json!({
        "apiVersion": "test.example.com/v1",
        "kind": "Widget",
        "metadata": { "name": "a" },
        "spec": { "size": 1 },
    });
    let mut lines = life::<Widget>(&widgets, widget, "spec").await.0;
    lines.extend(status(&widgets).await.0);
    let config_map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "a" },
        "data": { "size": "1" },
    });
    lines.extend(eviction(&Api::default_namespaced(client.clone())).await.0);
    let config_maps = Api::<ConfigMap>::default_namespaced(client);
    lines.extend(life(&config_maps, config_map, "data").await.0);
    lines
}

#[tokio::test]
async fn the_fake_answers_as_the_api_server() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crate::widget::crds()).await?;
    let real = all(cluster.client()?).await;
    let fake = all(Fake::default().client()).await;
    let differ = |(real, fake): &(&String, &String)| real != fake;
    let pairs = real.iter().zip(&fake).filter(differ);
    let differences: Vec<_> = pairs
        .map(|(real, fake)| format!("{real}\n{fake}\n"))
        .collect();
    ensure!(differences.is_empty(), "\n{}", differences.join("\n"));
    ensure!(real.len() == fake.len());
    Ok(())
}
