//! Doing something before an object goes.

use std::fmt::Debug;

use kube::{
    Api, Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

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
    if finalizers.len() != object.finalizers().len() {
        replace(api, object, &finalizers).await?;
    }
    Ok(())
}

async fn replace<K>(api: &Api<K>, object: &K, finalizers: &[String]) -> kube::Result<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let patch = json!({ "metadata": {
        "resourceVersion": object.resource_version(),
        "finalizers": finalizers,
    }});
    let name = object.name_any();
    api.patch(&name, &PatchParams::default(), &Patch::Merge(patch))
        .await
}
