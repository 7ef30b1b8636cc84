//! The end of a release.

use std::sync::Arc;

use helm_render::manifest::Event;
use operator_runtime::{Action, api_of, finalizer};

use crate::{
    apply::in_order_of_deletion,
    error::Error,
    marks,
    release::Run,
    releases::ReleaseObject,
    rendering::{self, Rendering},
    status::InstalledObject,
};

impl<K: ReleaseObject> Run<'_, K> {
    /// Uninstalls the release: hooks, objects, hooks, and at last the finalizer.
    pub(crate) async fn uninstall(&mut self) -> Result<Action, Error> {
        let api = api_of(&self.releases.cluster.client, &self.object);
        let finalizers = self.object.meta().finalizers.clone().unwrap_or_default();
        let former = marks::FORMER_FINALIZERS.into_iter();
        let mut own = [marks::FINALIZER].into_iter().chain(former);
        let Some(finalizer) = own.find(|name| finalizers.iter().any(|it| it == name)) else {
            self.forget();
            return Ok(Action::await_change());
        };
        let revision = self.status.last();
        // Without a rendering, the objects go all the same.
        let rendering = self.last_rendering().await;
        let kinds = rendering.iter().flat_map(|it| it.kinds()).cloned();
        let installed = self.status.objects.iter().map(InstalledObject::gvk);
        let mut kinds: Vec<_> = kinds.chain(installed).collect();
        kinds.sort_by_key(|kind| (kind.group.clone(), kind.kind.clone(), kind.version.clone()));
        kinds.dedup();
        if self.watch_kinds(kinds).await?.is_none() {
            return Ok(Action::await_change());
        }
        if let Some(rendering) = &rendering
            && self
                .run_hooks(rendering, revision, Event::PreDelete)
                .await?
                .is_some()
        {
            return Ok(Action::await_change());
        }
        if !self.delete_all().await? {
            return Ok(Action::await_change());
        }
        if let Some(rendering) = &rendering
            && self
                .run_hooks(rendering, revision, Event::PostDelete)
                .await?
                .is_some()
        {
            return Ok(Action::await_change());
        }
        self.publish("Uninstalled", &self.installed.chart.label())
            .await;
        if !self.installed.chart.is_repeatable {
            self.owner().discard().await?;
        }
        if self.installed.chart.helm_storage {
            self.delete_records().await?;
        }
        finalizer::remove(&api, &self.object, finalizer).await?;
        self.forget();
        Ok(Action::await_change())
    }

    /// Deletes every object of the release, and returns whether all are gone.
    async fn delete_all(&self) -> Result<bool, Error> {
        let mut objects = self.status.objects.clone();
        objects.retain(|object| !object.kept);
        in_order_of_deletion(&mut objects);
        let mut are_gone = true;
        for object in &objects {
            are_gone &= self.owner().delete(object).await?;
        }
        Ok(are_gone)
    }

    /// What the chart renders, for its hooks; `None` if it does not render.
    async fn last_rendering(&self) -> Option<Arc<Rendering>> {
        let values = &self.values;
        let inputs = rendering::digest(self.installed.chart, values);
        let is_upgrade = self.status.installed().is_some_and(|it| it.upgrade);
        let rendered = self
            .render(values, &inputs, self.status.last(), is_upgrade)
            .await;
        rendered
            .inspect_err(|error| tracing::warn!(%error, "no hooks run before the uninstallation"))
            .ok()
    }

    /// Ends the watches that only this release needs.
    fn forget(&self) {
        self.installed.watches.set(&self.object, []);
        let uid = self.owner().uid().to_owned();
        self.installed.renderings.lock().remove(&uid);
    }
}
