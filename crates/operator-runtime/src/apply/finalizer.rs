//! Runs cleanup before an object is deleted.

use std::{fmt::Debug, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::apply::{answer, conditions::ReadyCondition, status, written};

/// The state of an object that should have a finalizer, and the action that follows.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<K> {
    /// Reconcile this object, which has the finalizer.
    Apply(K),
    /// The object is being deleted: clean up, then [`remove`] the finalizer.
    Cleanup,
    /// The object is being deleted and no longer has this finalizer: do nothing.
    Gone,
}

/// Applies `object` with the finalizer `name`, or cleans up and removes the finalizer.
///
/// | the object | what runs |
/// |---|---|
/// | is not being deleted | `apply`, after the finalizer was added |
/// | is being deleted, and has the finalizer | `cleanup`; if it succeeds, the finalizer is removed |
/// | is being deleted, and waits for finalizers of others | nothing |
///
/// Sends nothing for an object that has its finalizer. For a cleanup that takes more than one reconcile,
/// fail until it is done, or use [`ensure`] and [`remove`].
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use std::sync::Arc;
/// use kube::Client;
/// use operator_runtime::{Action, Controller, api_of, finalizer};
///
/// const NAME: &str = "cache.example.com/backup";
///
/// async fn reconcile(memcached: Arc<Memcached>, client: Arc<Client>) -> kube::Result<Action> {
///     let api = api_of(&client, &*memcached);
///     let apply = |memcached| apply(memcached, &client);
///     finalizer::run(&api, memcached, NAME, apply, delete_backups).await
/// }
///
/// async fn apply(memcached: Arc<Memcached>, client: &Client) -> kube::Result<Action> {
///     Ok(Action::await_change())
/// }
///
/// async fn delete_backups(memcached: Arc<Memcached>) -> kube::Result<()> {
///     Ok(())
/// }
///
/// Controller::new("memcached", reconcile).finalizer();
/// ```
///
/// # Errors
/// Errors of `apply`, of `cleanup` and of the API server; a conflict if `object` is not the newest version.
/// The cleanup itself may write the object's status or metadata.
pub async fn run<K, A, E>(
    api: &Api<K>,
    object: Arc<K>,
    name: &str,
    apply: impl AsyncFnOnce(Arc<K>) -> Result<A, E>,
    cleanup: impl AsyncFnOnce(Arc<K>) -> Result<(), E>,
) -> Result<A, E>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
    A: From<()>,
    E: From<kube::Error>,
{
    if object.meta().deletion_timestamp.is_none() {
        let object = match has(&*object, name) {
            true => object,
            false => Arc::new(add(api, &*object, name).await?),
        };
        return apply(object).await;
    }
    if has(&*object, name) {
        cleanup(object.clone()).await?;
        remove_cleaned(api, &*object, name).await?;
    }
    Ok(().into())
}

/// Removes the finalizer, also if `object` has changed during the cleanup. A changed spec is a conflict: it
/// may need another cleanup.
async fn remove_cleaned<K>(api: &Api<K>, object: &K, name: &str) -> kube::Result<()>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let conflict = match remove(api, object, name).await {
        Err(kube::Error::Api(status)) if status.is_conflict() => status,
        result => return result,
    };
    let what = |object: &K| (object.uid(), object.meta().generation);
    match api.get_opt(&object.name_any()).await? {
        Some(newest) if what(&newest) == what(object) => remove(api, &newest, name).await,
        _ => Err(kube::Error::Api(conflict)),
    }
}

/// Adds the finalizer `name` to `object` unless the object is being deleted, and returns the next action.
/// [`run`] also calls [`remove`].
///
/// Sends nothing if the finalizer is present. Unlike kube's `finalizer`, this function does not wait for
/// the object to come back through the watch.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.rs")); }
/// # use example::Memcached;
/// use kube::Api;
/// use operator_runtime::finalizer::{self, Event};
///
/// const NAME: &str = "cache.example.com/backup";
///
/// async fn reconcile(api: &Api<Memcached>, memcached: &Memcached) -> kube::Result<()> {
///     match finalizer::ensure(api, memcached, NAME).await? {
///         Event::Apply(memcached) => create(&memcached).await,
///         Event::Cleanup => {
///             delete_backups(memcached).await?;
///             finalizer::remove(api, memcached, NAME).await
///         }
///         Event::Gone => Ok(()),
///     }
/// }
/// # async fn create(_: &Memcached) -> kube::Result<()> { Ok(()) }
/// # async fn delete_backups(_: &Memcached) -> kube::Result<()> { Ok(()) }
/// ```
///
/// # Errors
/// Errors of the API server; a conflict if `object` is not the newest version.
pub async fn ensure<K>(api: &Api<K>, object: &K, name: &str) -> kube::Result<Event<K>>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let is_deleted = object.meta().deletion_timestamp.is_some();
    Ok(match (is_deleted, has(object, name)) {
        (true, true) => Event::Cleanup,
        (true, false) => Event::Gone,
        (false, true) => Event::Apply(object.clone()),
        (false, false) => Event::Apply(add(api, object, name).await?),
    })
}

fn has(object: &impl Resource, name: &str) -> bool {
    object.finalizers().iter().any(|found| found == name)
}

async fn add<K>(api: &Api<K>, object: &K, name: &str) -> kube::Result<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let mut finalizers = object.finalizers().to_vec();
    finalizers.push(name.to_owned());
    replace(api, object, &finalizers).await
}

/// Reports in `condition` that `object` is being deleted: not ready, with the reason `Terminating`. Returns
/// the updated object.
///
/// Sends nothing if the condition already has the bad status, for example after a failed cleanup: its
/// reason stays. A type without conditions stays unchanged.
///
/// # Errors
/// Errors of the API server; a conflict if `object` is not the newest version.
pub async fn terminating<K>(api: &Api<K>, object: &K, condition: ReadyCondition) -> kube::Result<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    let message = "the object is being deleted";
    let condition = condition.of(object, false, "Terminating", message);
    let is_shown = |old: &Condition, new: &Condition| {
        let what = |of: &Condition| (of.type_.clone(), of.status.clone(), of.observed_generation);
        what(old) == what(new)
    };
    let status = status::showing(object, condition, is_shown);
    match status.map_err(kube::Error::SerdeError)? {
        Some(status) => status::write(api, object, &status).await,
        None => Ok(object.clone()),
    }
}

/// Removes the finalizer `name` from `object`, so that the deletion can complete.
///
/// # Errors
/// Errors of the API server; a conflict if `object` is not the newest version.
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
        // The object was deleted before the watch showed the deletion.
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
    let written = answer::patch(api, &name, &params, &Patch::Merge(patch)).await?;
    written::note(written.meta());
    Ok(written)
}
