//! The end of a release.

use std::sync::Arc;

use helm_render::manifest::Event;
use kube::runtime::events::EventType;
use operator_runtime::{Action, ReadyCondition, api_of, finalizer};

use crate::{
    error::Error,
    marks,
    release::{Run, WAIT},
    releases::ReleaseObject,
    rendering::{self, Rendering},
    status::{InstalledObject, Pending},
};

/// The inputs of the pending revision that stands for the uninstallation.
const UNINSTALL: &str = "uninstall";

impl<K: ReleaseObject> Run<'_, K> {
    /// Uninstalls the release: hooks, objects, hooks, and at last the finalizers.
    pub(crate) async fn uninstall(&mut self) -> Result<Action, Error> {
        let api = api_of(&self.releases.cluster.client, &self.object);
        let finalizers = self.object.meta().finalizers.clone().unwrap_or_default();
        let former = marks::FORMER_FINALIZERS.into_iter();
        let mut own = Vec::from_iter([marks::FINALIZER].into_iter().chain(former));
        own.retain(|name| finalizers.iter().any(|it| it == name));
        let Some((finalizer, others)) = own.split_first() else {
            self.forget();
            return Ok(Action::await_change());
        };
        let ready = ReadyCondition::default();
        self.object = finalizer::terminating(&api, &self.object, ready).await?;
        self.status = self.object.status().cloned().unwrap_or_default();
        let revision = self.status.last();
        let pending = self.status.pending.as_ref();
        if pending.is_none_or(|it| it.inputs != UNINSTALL) {
            // What hooks of a revision did that was not finished says nothing about those of the end.
            self.status.pending = Some(Pending {
                revision,
                inputs: UNINSTALL.to_owned(),
                ..Pending::default()
            });
        }
        if let Some(former) = self.former().await? {
            self.inherit(&former).await?;
        }
        let rendering = self.last_rendering().await?;
        let kinds = rendering.iter().flat_map(|it| it.kinds()).cloned();
        let installed = self.status.objects.iter().map(InstalledObject::gvk);
        // Only for their events: what is there is asked for.
        self.watch(kinds.chain(installed).collect()).await?;
        if !self
            .have_run(rendering.as_deref(), revision, Event::PreDelete)
            .await?
        {
            return Ok(Action::requeue(WAIT));
        }
        let objects = self.status.objects.clone();
        if !self.delete_all(objects).await?.is_empty() {
            return Ok(Action::requeue(WAIT));
        }
        if !self
            .have_run(rendering.as_deref(), revision, Event::PostDelete)
            .await?
        {
            return Ok(Action::requeue(WAIT));
        }
        // They had no owner reference, which would have ended them too soon.
        for hook in rendering.iter().flat_map(|it| &it.hooks) {
            let is_of_end = |event| hook.events.contains(&event);
            if is_of_end(Event::PreDelete) || is_of_end(Event::PostDelete) {
                self.delete_hook(hook).await?;
            }
        }
        self.publish(
            EventType::Normal,
            "Uninstalled",
            &self.installed.chart.label(),
        )
        .await;
        if self.installed.chart.is_kept() {
            self.owner().discard().await?;
        }
        if self.installed.chart.helm_storage {
            self.delete_records().await?;
        }
        // All in one write: what happens here must not happen again for the next one.
        let finalizers = self.object.meta_mut().finalizers.iter_mut();
        finalizers.for_each(|all| all.retain(|it| !others.contains(&it.as_str())));
        finalizer::remove(&api, &self.object, finalizer).await?;
        self.forget();
        Ok(Action::await_change())
    }

    /// Whether the hooks of an event have run. In a namespace that is being deleted, none can.
    async fn have_run(
        &mut self,
        rendering: Option<&Rendering>,
        revision: i64,
        event: Event,
    ) -> Result<bool, Error> {
        let Some(rendering) = rendering else {
            return Ok(true);
        };
        match self.run_hooks(rendering, revision, event).await {
            Ok(waiting) => Ok(waiting.is_none()),
            Err(error) if error.is_of_end_of_namespace() => Ok(true),
            Err(Error::NotServed { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// What the chart renders, for its hooks; `None` if it does not render, because the objects go all the same.
    async fn last_rendering(&self) -> Result<Option<Arc<Rendering>>, Error> {
        let inputs = rendering::digest(self.installed.chart, &self.values);
        // The hooks of what is installed, not of values that failed.
        if self.installed.chart.is_kept()
            && self.status.inputs.as_deref() != Some(&inputs)
            && let Some(installed) = self.installed_rendering().await?
        {
            return Ok(Some(installed));
        }
        let is_upgrade = self.status.installed().is_some_and(|it| it.upgrade);
        let revision = self.status.revision.unwrap_or(self.status.last());
        match self.render(&inputs, revision, is_upgrade).await {
            Ok(rendering) => Ok(Some(rendering)),
            Err(error) if error.is_of_values() || matches!(error, Error::Lost(_)) => {
                tracing::warn!(%error, "no hooks run before the uninstallation");
                self.publish(EventType::Warning, "HooksSkipped", &error.to_string())
                    .await;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the watches that only this release needs.
    fn forget(&self) {
        self.installed.watches.set(&self.object, []);
        let uid = self.owner().uid().to_owned();
        self.installed.known.lock().remove(&uid);
    }
}
