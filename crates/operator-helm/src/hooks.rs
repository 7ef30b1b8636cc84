//! Hooks: objects that run at a time of a release's life.

use helm_render::manifest::DeletePolicy;
use kube::{
    Api, ResourceExt,
    api::{DynamicObject, ObjectMeta},
};
use operator_runtime::Applier;
use serde_json::Value;

use crate::{
    apply::Owner, error::Error, marks, object::Object, readiness, releases::ReleaseObject,
    rendering::Hook,
};

/// How far a hook is.
pub(crate) enum Progress {
    Done,
    /// What it waits for.
    Waiting(String),
}

/// Creates a hook for `run`, such as `3/pre-upgrade`, or looks how far it is. Waits for Jobs and Pods only, as Helm does.
///
/// # Errors
/// It failed, or it cannot be created.
pub(crate) async fn advance<K: ReleaseObject>(
    owner: &Owner<'_, K>,
    applier: &Applier,
    hook: &Hook,
    run: &str,
) -> Result<Progress, Error> {
    let object = &hook.object;
    let kind = owner.kind(object).await?;
    let namespace = owner.namespace_of(object, &kind);
    let installed = object.installed(namespace.as_deref());
    let api: Api<DynamicObject> = kind.api(owner.cluster.client.clone(), namespace.as_deref());
    let found = match api.get_opt(&object.name).await? {
        Some(found) if run_of(&found.metadata) == Some(run) => found,
        Some(found) => {
            if !replaces(hook) {
                return Err(failed(object, "an object of this name exists already"));
            }
            // A hook of Helm is replaced by the next one, whoever made it.
            let is_hook = found.annotations().contains_key("helm.sh/hook");
            if !is_hook || !owner.delete_hook(&installed, &found.metadata).await? {
                return match is_hook {
                    true => Ok(Progress::Waiting(format!("the deletion of {object}"))),
                    false => Err(failed(
                        object,
                        "an object of this name exists that is no hook",
                    )),
                };
            }
            create(owner, applier, object, run, &api).await?
        }
        None => create(owner, applier, object, run, &api).await?,
    };
    let found = serde_json::to_value(&found).unwrap_or_default();
    let Some(result) = result(object, &found) else {
        return Ok(Progress::Waiting(format!("the hook {object}")));
    };
    let policy = match result {
        Ok(()) => DeletePolicy::HookSucceeded,
        Err(_) => DeletePolicy::HookFailed,
    };
    if hook.policies.contains(&policy) {
        owner.delete(&installed).await?;
    }
    match result {
        Ok(()) => Ok(Progress::Done),
        Err(message) => Err(failed(object, &message)),
    }
}

async fn create<K: ReleaseObject>(
    owner: &Owner<'_, K>,
    applier: &Applier,
    object: &Object,
    run: &str,
    api: &Api<DynamicObject>,
) -> Result<DynamicObject, Error> {
    owner.apply(applier, object, Some(run), true).await?;
    Ok(api.get(&object.name).await?)
}

/// The run that a hook was created for.
fn run_of(meta: &ObjectMeta) -> Option<&str> {
    let annotations = meta.annotations.as_ref();
    annotations
        .and_then(|it| it.get(marks::RUN))
        .map(String::as_str)
}

/// Whether a hook of a former run is deleted first, as it is by default.
fn replaces(hook: &Hook) -> bool {
    hook.policies.is_empty() || hook.policies.contains(&DeletePolicy::BeforeHookCreation)
}

/// Whether the hook has succeeded; `None` while it runs.
fn result(object: &Object, found: &Value) -> Option<Result<(), String>> {
    match object.kind.kind.as_str() {
        "Job" => readiness::job_is_done(found),
        "Pod" => readiness::pod_is_done(found),
        _ => Some(Ok(())),
    }
}

fn failed(object: &Object, message: &str) -> Error {
    Error::Hook {
        object: object.to_string(),
        path: object.path.clone(),
        message: message.to_owned(),
    }
}
