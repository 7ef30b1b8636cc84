//! Hooks: objects that run at a time of a release's life.

use helm_render::manifest::{DeletePolicy, Event};
use kube::{
    Api,
    api::{DynamicObject, ObjectMeta},
};
use operator_runtime::Applier;
use serde_json::Value;

use crate::{
    apply::Owner,
    error::Error,
    marks,
    object::{Object, STAYING},
    readiness,
    release::Run,
    releases::ReleaseObject,
    rendering::{Hook, Rendering},
};

/// How far a hook is.
enum Progress {
    Done,
    /// What it waits for.
    Waiting(String),
}

impl<K: ReleaseObject> Run<'_, K> {
    /// Runs the hooks of an event, each once. Returns what they wait for, if they do. As in Helm, those that are to go when they succeeded
    /// go after all have.
    pub(crate) async fn run_hooks(
        &mut self,
        rendering: &Rendering,
        revision: i64,
        event: Event,
    ) -> Result<Option<String>, Error> {
        let hooks: Vec<&Hook> = rendering.hooks_of(event).collect();
        let end = format!("{}: all", event.name());
        let are_skipped = self.owner().annotation(marks::SKIP_HOOKS) == Some("true");
        if hooks.is_empty() || are_skipped || self.has_run(&end) {
            return Ok(None);
        }
        if let Some(failed) = self
            .status
            .pending
            .as_ref()
            .and_then(|it| it.failed.clone())
        {
            return Err(Error::HookFailed(failed));
        }
        let run = format!("{revision}/{}", event.name());
        for (at, hook) in hooks.iter().enumerate() {
            let done = format!(
                "{}: {} {}",
                event.name(),
                hook.object.kind.group,
                hook.object
            );
            if self.has_run(&done) {
                continue;
            }
            match advance(&self.owner(), &self.releases.applier, hook, &run).await {
                Ok(Progress::Waiting(why)) => return Ok(Some(why)),
                Ok(Progress::Done) => self.note_run(done).await?,
                Err(error @ Error::Hook { .. }) => {
                    if hook.policies.contains(&DeletePolicy::HookFailed) {
                        // Before it is deleted, so that it does not run again.
                        let pending = self.status.pending.get_or_insert_default();
                        pending.failed = Some(error.to_string());
                        self.save().await?;
                        self.delete_hook(hook).await?;
                    }
                    self.delete_succeeded(&hooks[..at]).await?;
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
        self.delete_succeeded(&hooks).await?;
        self.note_run(end).await?;
        Ok(None)
    }

    fn has_run(&self, hook: &str) -> bool {
        let pending = self.status.pending.as_ref();
        pending.is_some_and(|pending| pending.hooks.iter().any(|it| it == hook))
    }

    async fn note_run(&mut self, hook: String) -> Result<(), Error> {
        self.status.pending.get_or_insert_default().hooks.push(hook);
        self.save().await
    }

    async fn delete_succeeded(&self, hooks: &[&Hook]) -> Result<(), Error> {
        for hook in hooks.iter().rev() {
            if hook.policies.contains(&DeletePolicy::HookSucceeded) {
                self.delete_hook(hook).await?;
            }
        }
        Ok(())
    }

    /// Deletes the object of a hook, if it is of this release.
    pub(crate) async fn delete_hook(&self, hook: &Hook) -> Result<(), Error> {
        let owner = self.owner();
        let kind = self.releases.cluster.find(&hook.object.kind).await?;
        let Some(kind) = kind.filter(|_| !STAYING.contains(&hook.object.kind.kind.as_str())) else {
            return Ok(());
        };
        let namespace = owner.namespace_of(&hook.object, &kind);
        owner
            .delete(&hook.object.installed(namespace.as_deref()))
            .await?;
        Ok(())
    }
}

/// Creates a hook for `run`, such as `3/pre-upgrade`, or looks how far it is. Waits for Jobs and Pods only, as Helm does.
async fn advance<K: ReleaseObject>(
    owner: &Owner<'_, K>,
    applier: &Applier,
    hook: &Hook,
    run: &str,
) -> Result<Progress, Error> {
    let object = &hook.object;
    let kind = owner.kind(object).await?;
    let namespace = owner.namespace_of(object, &kind);
    let api: Api<DynamicObject> = kind.api(owner.cluster.client.clone(), namespace.as_deref());
    let found = match api.get_opt(&object.name).await? {
        Some(found) if is_of(&found.metadata, run) && owner.owns(&found.metadata) => found,
        Some(found) if !STAYING.contains(&object.kind.kind.as_str()) => {
            if !replaces(hook) {
                return Err(failed(object, "an object of this name exists already"));
            }
            if !owner.may_replace_hook(&found.metadata) {
                return Err(failed(
                    object,
                    "an object of this name exists that is of others",
                ));
            }
            let installed = object.installed(namespace.as_deref());
            if !owner
                .delete_found(&api, &installed, &found.metadata)
                .await?
            {
                return Ok(Progress::Waiting(format!("the deletion of {object}")));
            }
            owner.apply(applier, object, Some(run), true).await?;
            api.get(&object.name).await?
        }
        _ => {
            owner.apply(applier, object, Some(run), false).await?;
            api.get(&object.name).await?
        }
    };
    let found = serde_json::to_value(&found).unwrap_or_default();
    match result(object, &found) {
        None => Ok(Progress::Waiting(format!("the hook {object}"))),
        Some(Ok(())) => Ok(Progress::Done),
        Some(Err(message)) => Err(failed(object, &message)),
    }
}

/// Whether a hook was created for this run.
fn is_of(meta: &ObjectMeta, run: &str) -> bool {
    let annotations = meta.annotations.as_ref();
    annotations
        .and_then(|it| it.get(marks::RUN))
        .is_some_and(|it| it == run)
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
