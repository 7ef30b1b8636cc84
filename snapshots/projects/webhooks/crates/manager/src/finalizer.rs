//! Doing something before an object goes.

use std::fmt::Debug;

use kube::{
    Api, Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::written;

/// What is to be done with an object that has a finalizer.
#[derive(Clone, Debug, PartialEq)]
pub enum Finalizer<K> {
    /// Reconcile this: the object as it is now, with the finalizer.
    Reconcile(K),
    /// It is being deleted: clean up, then [`remove`] the finalizer.
    CleanUp,
    /// It is being deleted, and has no finalizer of this name any more: do nothing.
    Gone,
}

/// Puts the finalizer `name` on `object` unless it is being deleted, and says what to do now.
///
/// Sends nothing if the finalizer is there. Unlike kube's `finalizer`, this does not wait for the
/// object to come back through the watch.
///
/// # Errors
/// Those of the API server; a conflict if `object` is not its newest version.
pub async fn add<K>(api: &Api<K>, object: &K, name: &str) -> kube::Result<Finalizer<K>>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let has = object.finalizers().iter().any(|found| found == name);
    if object.meta().deletion_timestamp.is_some() {
        return Ok(match has {
            true => Finalizer::CleanUp,
            false => Finalizer::Gone,
        });
    }
    if has {
        return Ok(Finalizer::Reconcile(object.clone()));
    }
    let mut finalizers = object.finalizers().to_vec();
    finalizers.push(name.to_owned());
    let object = replace(api, object, &finalizers).await?;
    Ok(Finalizer::Reconcile(object))
}

/// Takes the finalizer `name` from `object`, which then may go.
///
/// # Errors
/// Those of the API server; a conflict if `object` is not its newest version.
pub async fn remove<K>(api: &Api<K>, object: &K, name: &str) -> kube::Result<()>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let mut finalizers = object.finalizers().to_vec();
    finalizers.retain(|found| found != name);
    if finalizers.len() == object.finalizers().len() {
        return Ok(());
    }
    match replace(api, object, &finalizers).await {
        // It went before the watch has shown it.
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => result.map(|_| ()),
    }
}

async fn replace<K>(api: &Api<K>, object: &K, finalizers: &[String]) -> kube::Result<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let patch = json!({ "metadata": {
        "resourceVersion": object.resource_version(),
        "finalizers": finalizers,
    }});
    let (name, params) = (object.name_any(), PatchParams::default());
    let written = api.patch(&name, &params, &Patch::Merge(patch)).await?;
    written::note(written.meta());
    Ok(written)
}

#[cfg(all(test, feature = "fake"))]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::DeleteParams;

    use super::*;
    use crate::fake::Fake;

    const NAME: &str = "test.example.com/cleanup";

    fn config_map(finalizers: &[&str]) -> ConfigMap {
        let metadata = json!({ "name": "a", "finalizers": finalizers });
        serde_json::from_value(json!({ "metadata": metadata })).unwrap()
    }

    fn is_conflict<T>(result: kube::Result<T>) -> bool {
        matches!(result, Err(kube::Error::Api(status)) if status.is_conflict())
    }

    #[tokio::test]
    async fn an_object_goes_when_it_was_cleaned_up() {
        let fake = Fake::default();
        let api = Api::default_namespaced(fake.client());
        let object = fake.add(config_map(&["another/one"]));

        let added = add(&api, &object, NAME).await.unwrap();
        let Finalizer::Reconcile(object) = added else {
            panic!("it is not deleted: {added:?}");
        };
        assert_eq!(object.finalizers(), ["another/one", NAME]);
        let again = add(&api, &object, NAME).await.unwrap();
        assert_eq!(again, Finalizer::Reconcile(object));
        assert_eq!(fake.writes().len(), 1);

        api.delete("a", &DeleteParams::default()).await.unwrap();
        let deleted = fake.get("a").unwrap();
        assert_eq!(add(&api, &deleted, NAME).await.unwrap(), Finalizer::CleanUp);
        remove(&api, &deleted, NAME).await.unwrap();
        let others: ConfigMap = fake.get("a").unwrap();
        assert_eq!(others.finalizers(), ["another/one"]);
        assert_eq!(add(&api, &others, NAME).await.unwrap(), Finalizer::Gone);
        let writes = fake.writes().len();
        remove(&api, &others, NAME).await.unwrap();
        assert_eq!(fake.writes().len(), writes);
        remove(&api, &others, "another/one").await.unwrap();
        assert_eq!(fake.get::<ConfigMap>("a"), None);
    }

    #[tokio::test]
    async fn finalizers_that_others_changed_meanwhile_stay() {
        let fake = Fake::default();
        let api = Api::default_namespaced(fake.client());
        let object = fake.add(config_map(&[]));
        add(&api, &object, "another/one").await.unwrap();
        assert!(is_conflict(add(&api, &object, NAME).await));
        let newest: ConfigMap = fake.get("a").unwrap();
        add(&api, &newest, NAME).await.unwrap();
        assert!(is_conflict(remove(&api, &newest, "another/one").await));
        let newest: ConfigMap = fake.get("a").unwrap();
        assert_eq!(newest.finalizers(), ["another/one", NAME]);
    }
}
