//! Adding and removing finalizers, against the fake API server.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt, api::DeleteParams};
use operator_runtime::{
    fake::Fake,
    finalizer::{Event, ensure, remove},
};
use serde_json::json;

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
