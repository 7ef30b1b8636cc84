//! Adding and removing finalizers, against the fake API server.

use std::{cell::Cell, sync::Arc};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use operator_runtime::{
    Action, api_of,
    fake::Fake,
    finalizer::{self, Event, ensure, remove},
};
use serde_json::{Value, json};

use crate::widget::{Widget, WidgetSpec};

const NAME: &str = "test.example.com/cleanup";

fn config_map(finalizers: &[&str]) -> ConfigMap {
    let metadata = json!({ "name": "a", "finalizers": finalizers });
    serde_json::from_value(json!({ "metadata": metadata })).unwrap()
}

fn is_conflict<T>(result: kube::Result<T>) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if status.is_conflict())
}

#[tokio::test]
async fn an_object_is_deleted_after_its_cleanup() {
    let fake = Fake::default();
    let api = Api::default_namespaced(fake.client());
    let object = fake.insert(config_map(&["another/one"]));

    let added = ensure(&api, &object, NAME).await.unwrap();
    let Event::Apply(object) = added else {
        panic!("it is not deleted: {added:?}");
    };
    assert_eq!(object.finalizers(), ["another/one", NAME]);
    let again = ensure(&api, &object, NAME).await.unwrap();
    assert_eq!(again, Event::Apply(object));
    assert_eq!(fake.writes().len(), 1);

    api.delete("a", &DeleteParams::default()).await.unwrap();
    let deleted = fake.get("a").unwrap();
    assert_eq!(ensure(&api, &deleted, NAME).await.unwrap(), Event::Cleanup);
    remove(&api, &deleted, NAME).await.unwrap();
    let others: ConfigMap = fake.get("a").unwrap();
    assert_eq!(others.finalizers(), ["another/one"]);
    assert_eq!(ensure(&api, &others, NAME).await.unwrap(), Event::Gone);
    let writes = fake.writes().len();
    remove(&api, &others, NAME).await.unwrap();
    assert_eq!(fake.writes().len(), writes);
    remove(&api, &others, "another/one").await.unwrap();
    assert_eq!(fake.get::<ConfigMap>("a"), None);
}

#[tokio::test]
async fn finalizers_of_others_stay() {
    let fake = Fake::default();
    let api = Api::default_namespaced(fake.client());
    let object = fake.insert(config_map(&[]));
    ensure(&api, &object, "another/one").await.unwrap();
    assert!(is_conflict(ensure(&api, &object, NAME).await));
    let newest: ConfigMap = fake.get("a").unwrap();
    ensure(&api, &newest, NAME).await.unwrap();
    assert!(is_conflict(remove(&api, &newest, "another/one").await));
    let newest: ConfigMap = fake.get("a").unwrap();
    assert_eq!(newest.finalizers(), ["another/one", NAME]);
}

/// Runs the finalizer for the newest object; returns what has run.
async fn run(
    fake: &Fake,
    during: impl AsyncFnOnce(&Widget) -> kube::Result<()>,
) -> kube::Result<&'static str> {
    let widget = Arc::new(fake.get::<Widget>("a").unwrap());
    let api = api_of(&fake.client(), &*widget);
    let (ran, during) = (Cell::new("nothing"), Cell::new(Some(during)));
    let run = async |what, widget: Arc<Widget>| {
        ran.set(what);
        assert!(widget.finalizers().iter().any(|name| name == NAME));
        during.take().expect("only one runs")(&widget).await
    };
    let apply = async |widget| run("apply", widget).await.map(Action::from);
    let cleanup = async |widget| run("cleanup", widget).await;
    let result = finalizer::run(&api, widget, NAME, apply, cleanup).await;
    result.map(|_| ran.get())
}

/// Patches the object that a cleanup has.
async fn patch(fake: &Fake, patch: &Value) -> kube::Result<()> {
    let api: Api<Widget> = Api::default_namespaced(fake.client());
    let params = PatchParams::default();
    api.patch("a", &params, &Patch::Merge(patch)).await?;
    Ok(())
}

#[tokio::test]
async fn a_finalizer_is_removed_after_the_cleanup_and_not_before() -> kube::Result<()> {
    let fake = Fake::default();
    let api: Api<Widget> = Api::default_namespaced(fake.client());
    let mut widget = Widget::new("a", WidgetSpec::default());
    widget.finalizers_mut().push("another/one".to_owned());
    fake.insert(widget);
    for _ in 0..2 {
        assert_eq!(run(&fake, async |_| Ok(())).await?, "apply");
        assert_eq!(fake.writes().len(), 1, "the finalizer is added once");
    }
    api.delete("a", &DeleteParams::default()).await?;
    let fails = async |_: &Widget| Err(kube::Error::LinesCodecMaxLineLengthExceeded);
    run(&fake, fails).await.unwrap_err();
    assert!(is_conflict(
        run(&fake, async |_| {
            // The cleanup was for another spec.
            patch(&fake, &json!({ "spec": { "size": 7 } })).await
        })
        .await
    ));
    let kept: Widget = fake.get("a").unwrap();
    assert_eq!(kept.finalizers(), ["another/one", NAME]);
    // A cleanup may report its progress.
    let writes = async |_: &Widget| {
        patch(
            &fake,
            &json!({ "metadata": { "labels": { "cleanup": "done" } } }),
        )
        .await
    };
    assert_eq!(run(&fake, writes).await?, "cleanup");
    let left: Widget = fake.get("a").unwrap();
    assert_eq!(left.finalizers(), ["another/one"]);
    assert_eq!(run(&fake, async |_| Ok(())).await?, "nothing");
    Ok(())
}
