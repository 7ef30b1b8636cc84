//! One reconcile of a release.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use helm_render::{chart::Release, manifest::Event, values::Table};
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use kube::{
    api::DynamicObject,
    core::GroupVersionKind,
    runtime::events::{Event as Notice, EventType},
};
use operator_runtime::{Action, Store, api_of, conditions::set, finalizer, status};

use crate::{
    apply::{Owner, in_order_of_deletion},
    chart::Chart,
    conditions::{self, Outcome},
    error::Error,
    hooks::{self, Progress},
    marks,
    object::Object,
    readiness::{self, Readiness},
    releases::{Installed, ReleaseObject, Releases},
    rendering::{self, Inputs, Rendering},
    status::{InstalledObject, Pending, ReleaseStatus, Revision},
    store::Kept,
    values::Values,
};

/// The least time between revisions of the same values.
const LEAST: Duration = Duration::from_secs(30);

/// The stores of the kinds of a release.
pub(crate) type Stores = BTreeMap<String, Store<DynamicObject>>;

/// One reconcile of a release.
pub(crate) struct Run<'a, K> {
    pub(crate) releases: &'a Releases,
    pub(crate) installed: &'a Installed<K>,
    controller: &'static str,
    pub(crate) object: K,
    /// The values of the release.
    pub(crate) values: Table,
    /// The status that is wanted.
    pub(crate) status: ReleaseStatus,
}

impl<'a, K: ReleaseObject> Run<'a, K> {
    pub(crate) fn new(
        releases: &'a Releases,
        installed: &'a Installed<K>,
        controller: &'static str,
        object: &K,
        Values(values): Values,
    ) -> Self {
        Self {
            releases,
            installed,
            controller,
            object: object.clone(),
            values,
            status: object.status().cloned().unwrap_or_default(),
        }
    }

    pub(crate) async fn reconcile(mut self) -> Result<Action, Error> {
        let api = api_of(&self.releases.cluster.client, &self.object);
        if self.object.meta().deletion_timestamp.is_some() {
            return self.uninstall().await;
        }
        if self.owner().annotation(marks::PAUSED) == Some("true") {
            return self.pause().await;
        }
        match finalizer::ensure(&api, &self.object, marks::FINALIZER).await? {
            finalizer::Event::Apply(object) => self.object = object,
            _ => return Ok(Action::await_change()),
        }
        let is_upgrade = self.status.revision.is_some();
        match self.converge(is_upgrade).await {
            Ok(action) => Ok(action),
            Err(error) => {
                self.report(&Outcome::Failed {
                    is_upgrade,
                    error: &error,
                })
                .await?;
                Err(error)
            }
        }
    }

    pub(crate) fn owner(&self) -> Owner<'_, K> {
        Owner {
            cluster: &self.releases.cluster,
            controller: self.controller,
            object: &self.object,
            helm_storage: self.installed.chart.helm_storage,
        }
    }

    async fn converge(&mut self, is_upgrade: bool) -> Result<Action, Error> {
        let values = self.values.clone();
        let inputs = rendering::digest(self.installed.chart, &values);
        let mut is_new = self.status.inputs.as_deref() != Some(&inputs);
        let mut revision = match (&self.status.pending, self.status.revision) {
            (_, Some(installed)) if !is_new => installed,
            (Some(pending), _) if pending.inputs == inputs => pending.revision,
            _ => self.status.last() + 1,
        };
        let mut is_upgrade = is_upgrade;
        let was_upgrade = self.status.installed().is_some_and(|it| it.upgrade);
        let as_upgrade = if is_new { is_upgrade } else { was_upgrade };
        let mut rendering = self.render(&values, &inputs, revision, as_upgrade).await?;
        // The same values may render something else: with another version of Kubernetes, or because a template looks objects up.
        let digest = self.status.installed().map(|it| it.digest.clone());
        if !is_new && digest.is_some_and(|digest| digest != rendering.digest) {
            if let Some(rest) = self.rest() {
                return Ok(Action::requeue(rest));
            }
            (is_new, is_upgrade) = (true, true);
            revision = self.status.last() + 1;
            rendering = self.render(&values, &inputs, revision, true).await?;
        }
        if is_new && is_upgrade && !self.is_begun(revision, &inputs) {
            for object in &rendering.objects {
                self.owner().try_out(&self.releases.applier, object).await?;
            }
        }
        if is_new {
            self.begin(revision, &inputs, &rendering).await?;
            self.create_crds(&rendering).await?;
        }
        let Some(stores) = self.watch(&rendering).await? else {
            // One that is not filled soon has a reason, such as a missing permission.
            let why = "the watches of the objects".to_owned();
            return match is_new {
                true => self.wait(is_upgrade, why).await,
                false => Ok(Action::await_change()),
            };
        };
        let (before, after) = match is_upgrade {
            true => (Event::PreUpgrade, Event::PostUpgrade),
            false => (Event::PreInstall, Event::PostInstall),
        };
        if is_new && let Some(why) = self.run_hooks(&rendering, revision, before).await? {
            return self.wait(is_upgrade, why).await;
        }
        let drifted = self.apply(&rendering, &stores, is_new).await?;
        self.prune(&rendering).await?;
        if is_new {
            if let Some(why) = self.run_hooks(&rendering, revision, after).await? {
                return self.wait(is_upgrade, why).await;
            }
            let metadata = &self.installed.chart.chart.metadata;
            let app_version = Some(&metadata.app_version).filter(|it| !it.is_empty());
            let installed = Revision {
                revision,
                chart: self.installed.chart.label(),
                app_version: app_version.cloned(),
                digest: rendering.digest.clone(),
                upgrade: is_upgrade,
                installed: Time(Timestamp::now()),
            };
            self.record(&rendering, values, revision).await?;
            self.status.complete(installed, inputs);
        }
        self.status.pending = None;
        let readiness = self.readiness(&rendering, &stores).await?;
        let was_upgrade = self.status.installed().is_some_and(|it| it.upgrade);
        let outcome = Outcome::Installed {
            is_upgrade: was_upgrade,
            is_new,
            notes: &rendering.notes,
            readiness,
            drifted: drifted.clone(),
        };
        self.report(&outcome).await?;
        if is_new {
            let what = if is_upgrade { "Upgraded" } else { "Installed" };
            let label = self.installed.chart.label();
            let note = format!("{label}, revision {revision}");
            self.publish(what, &note).await;
        } else if !drifted.is_empty() {
            let note = format!("applied again: {}", drifted.join(", "));
            self.publish("DriftCorrected", &note).await;
        }
        Ok(match self.period() {
            Some(period) => Action::requeue(period),
            None => Action::await_change(),
        })
    }

    /// What the chart renders: of the last reconcile, if nothing has changed since.
    pub(crate) async fn render(
        &self,
        values: &Table,
        inputs: &str,
        revision: i64,
        is_upgrade: bool,
    ) -> Result<Arc<Rendering>, Error> {
        let (cluster, chart) = (&self.releases.cluster, self.installed.chart);
        let owner = self.owner();
        let of = Inputs {
            digest: inputs.to_owned(),
            release: Release {
                name: self.object.meta().name.clone().unwrap_or_default(),
                namespace: owner.namespace().to_owned(),
                revision,
                is_upgrade,
            },
            capabilities: cluster.capabilities(chart.asks_for_versions).await?,
        };
        let known = self.installed.renderings.lock().get(owner.uid()).cloned();
        if let Some(known) = known.filter(|known| known.of == of || is_kept(known, &of, chart))
            && (!chart.is_repeatable || known.is_current(cluster).await)
        {
            return Ok(known);
        }
        let kept = match chart.is_repeatable {
            true => None,
            false => owner.kept(&of).await?,
        };
        let rendering = match kept {
            Some(kept) => rendering::of_texts(chart, of, &kept.templates)?,
            None => {
                let (rendering, templates) =
                    rendering::of(cluster, chart, values.clone(), of).await?;
                // Nothing is kept any more of a release that ends.
                if !chart.is_repeatable && self.object.meta().deletion_timestamp.is_none() {
                    let kept = Kept::new(&rendering.of, templates);
                    let applier = &self.releases.applier;
                    owner.keep(applier, &kept, self.status.revision).await?;
                }
                rendering
            }
        };
        let rendering = Arc::new(rendering);
        let mut renderings = self.installed.renderings.lock();
        renderings.insert(owner.uid().to_owned(), rendering.clone());
        Ok(rendering)
    }

    /// How long the newest revision stays although the chart renders something else from the same values: a template may look up what
    /// it changes itself.
    fn rest(&self) -> Option<Duration> {
        let installed = self.status.installed()?.installed.0;
        let passed = Timestamp::now().duration_since(installed);
        let passed = Duration::try_from(passed).unwrap_or_default();
        LEAST.checked_sub(passed).filter(|rest| !rest.is_zero())
    }

    /// Whether a former reconcile began this revision.
    fn is_begun(&self, revision: i64, inputs: &str) -> bool {
        let is_same = |it: &Pending| it.revision == revision && it.inputs == inputs;
        self.status.pending.as_ref().is_some_and(is_same)
    }

    /// Writes down what will be installed, before it is: so that nothing is left behind if the operator ends in between.
    async fn begin(
        &mut self,
        revision: i64,
        inputs: &str,
        rendering: &Rendering,
    ) -> Result<(), Error> {
        if !self.is_begun(revision, inputs) {
            self.status.pending = Some(Pending {
                revision,
                inputs: inputs.to_owned(),
                hooks: Vec::new(),
            });
        }
        for installed in self.wanted(rendering).await? {
            if !self.status.objects.iter().any(|it| it.is_same(&installed)) {
                self.status.objects.push(installed);
            }
        }
        self.save().await
    }

    /// The objects that will be installed, of the kinds that the API server serves.
    async fn wanted(&self, rendering: &Rendering) -> Result<Vec<InstalledObject>, Error> {
        let mut wanted = Vec::new();
        for object in &rendering.objects {
            if let Some(kind) = self.releases.cluster.find(&object.kind).await? {
                let namespace = self.owner().namespace_of(object, &kind);
                wanted.push(object.installed(namespace.as_deref()));
            }
        }
        Ok(wanted)
    }

    /// Creates the CRDs of `crds/` that do not exist, as Helm does.
    async fn create_crds(&self, rendering: &Rendering) -> Result<(), Error> {
        for crd in &rendering.crds {
            self.owner().create_crd(&self.releases.applier, crd).await?;
        }
        Ok(())
    }

    /// Watches exactly the kinds of the release, and returns their stores once they are filled.
    pub(crate) async fn watch(&self, rendering: &Rendering) -> Result<Option<Stores>, Error> {
        let installed = self.status.objects.iter().map(InstalledObject::gvk);
        let mut kinds: Vec<GroupVersionKind> =
            rendering.kinds().cloned().chain(installed).collect();
        kinds.sort_by_key(|kind| (kind.group.clone(), kind.kind.clone(), kind.version.clone()));
        kinds.dedup();
        self.watch_kinds(kinds).await
    }

    pub(crate) async fn watch_kinds(
        &self,
        kinds: Vec<GroupVersionKind>,
    ) -> Result<Option<Stores>, Error> {
        let (mut names, mut found) = (Vec::new(), Vec::new());
        for kind in kinds {
            if let Some(of) = self.releases.cluster.find(&kind).await? {
                names.push(key(&kind));
                found.push(of);
            }
        }
        let stores = self.installed.watches.set(&self.object, found);
        Ok(stores.map(|stores| names.into_iter().zip(stores).collect()))
    }

    /// Runs the hooks of an event. Returns what they wait for, if they do.
    pub(crate) async fn run_hooks(
        &mut self,
        rendering: &Rendering,
        revision: i64,
        event: Event,
    ) -> Result<Option<String>, Error> {
        let run = format!("{revision}/{}", event.name());
        for hook in rendering.hooks_of(event) {
            let done = format!("{}: {}", event.name(), hook.object);
            let pending = self.status.pending.get_or_insert_default();
            if pending.hooks.contains(&done) {
                continue;
            }
            match hooks::advance(&self.owner(), &self.releases.applier, hook, &run).await? {
                Progress::Waiting(why) => return Ok(Some(why)),
                Progress::Done => {}
            }
            let pending = self.status.pending.get_or_insert_default();
            pending.hooks.push(done);
            self.save().await?;
        }
        Ok(None)
    }

    /// Applies every object, and returns those that others had changed.
    async fn apply(
        &self,
        rendering: &Rendering,
        stores: &Stores,
        is_new: bool,
    ) -> Result<Vec<String>, Error> {
        let owner = self.owner();
        let mut drifted = Vec::new();
        for object in &rendering.objects {
            let known = self.stored(object, stores).await?;
            let before = known
                .as_ref()
                .map(|it| it.metadata.resource_version.clone());
            let applied = owner
                .apply(&self.releases.applier, object, None, known.is_some())
                .await?;
            if applied.sent && !is_new && before != Some(applied.resource_version) {
                drifted.push(object.to_string());
            }
        }
        Ok(drifted)
    }

    /// The object as its watch shows it.
    async fn stored(
        &self,
        object: &Object,
        stores: &Stores,
    ) -> Result<Option<Arc<DynamicObject>>, Error> {
        let kind = self.owner().kind(object).await?;
        let namespace = self.owner().namespace_of(object, &kind);
        let store = stores.get(&key(&object.kind));
        let found = store.and_then(|store| store.get(namespace.as_deref(), &object.name));
        let uid = self.owner().uid().to_owned();
        let is_ours = |found: &Arc<DynamicObject>| {
            let annotations = found.metadata.annotations.as_ref();
            annotations.and_then(|it| it.get(marks::UID)) == Some(&uid)
        };
        Ok(found.filter(is_ours))
    }

    /// Deletes what the release installed and the chart no longer renders.
    async fn prune(&mut self, rendering: &Rendering) -> Result<(), Error> {
        let wanted = self.wanted(rendering).await?;
        let is_wanted = |it: &InstalledObject| wanted.iter().any(|other| other.is_same(it));
        let mut gone: Vec<_> = self.status.objects.clone();
        gone.retain(|it| !is_wanted(it));
        in_order_of_deletion(&mut gone);
        for object in gone.iter().filter(|object| !object.kept) {
            self.owner().delete(object).await?;
        }
        self.status.objects = wanted;
        Ok(())
    }

    /// Whether every object is ready: the first one that is not says why.
    async fn readiness(&self, rendering: &Rendering, stores: &Stores) -> Result<Readiness, Error> {
        let mut waiting = None;
        for object in &rendering.objects {
            let found = self.stored(object, stores).await?;
            let readiness = match found {
                Some(found) => {
                    let found = serde_json::to_value(&*found).map_err(kube::Error::SerdeError)?;
                    readiness::of(&found)
                }
                None => Readiness::Waiting("its watch does not show it yet".to_owned()),
            };
            match readiness {
                Readiness::Ready => {}
                Readiness::Failed(why) => return Ok(Readiness::Failed(format!("{object}: {why}"))),
                Readiness::Waiting(why) => {
                    waiting.get_or_insert(format!("{object}: {why}"));
                }
                Readiness::Terminating => {
                    waiting.get_or_insert(format!("{object}: it is being deleted"));
                }
            }
        }
        Ok(waiting.map_or(Readiness::Ready, Readiness::Waiting))
    }

    /// Reports that an installation or an upgrade waits.
    async fn wait(&mut self, is_upgrade: bool, why: String) -> Result<Action, Error> {
        self.report(&Outcome::Waiting { is_upgrade, why }).await?;
        Ok(Action::await_change())
    }

    async fn pause(&mut self) -> Result<Action, Error> {
        let message = format!("the annotation {} is \"true\"", marks::PAUSED);
        let paused =
            operator_runtime::conditions::new(&self.object, "Paused", true, "Paused", message);
        set(&mut self.status.conditions, paused);
        self.save().await?;
        Ok(Action::await_change())
    }

    async fn report(&mut self, outcome: &Outcome<'_>) -> Result<(), Error> {
        self.status.conditions = conditions::of(&self.object, outcome);
        self.status.observed_generation = self.object.meta().generation;
        self.save().await
    }

    /// Writes the status, if it differs.
    pub(crate) async fn save(&mut self) -> Result<(), Error> {
        let api = api_of(&self.releases.cluster.client, &self.object);
        self.object = status::patch(&api, &self.object, &self.status).await?;
        Ok(())
    }

    /// Publishes an event. One that is lost changes nothing.
    pub(crate) async fn publish(&self, reason: &str, note: &str) {
        let event = Notice {
            type_: EventType::Normal,
            reason: reason.to_owned(),
            note: Some(note.to_owned()),
            action: reason.to_owned(),
            secondary: None,
        };
        let reference = self.object.object_ref(&());
        if let Err(error) = self.releases.recorder.publish(&event, &reference).await {
            tracing::debug!(%error, "an event was not published");
        }
    }

    /// The time after which an unchanged custom resource is reconciled, if it says so.
    fn period(&self) -> Option<Duration> {
        let text = self.owner().annotation(marks::RECONCILE_PERIOD)?.to_owned();
        let seconds = text.strip_suffix('s').and_then(|it| it.parse().ok());
        let minutes = text.strip_suffix('m').and_then(|it| it.parse::<u64>().ok());
        let seconds = seconds.or(minutes.map(|minutes| minutes * 60));
        seconds.filter(|it| *it > 0).map(Duration::from_secs)
    }
}

/// Whether a rendering stays although the versions of the cluster have changed: one that would give something else.
fn is_kept(known: &Rendering, of: &Inputs, chart: &Chart) -> bool {
    !chart.is_repeatable && known.of.digest == of.digest && known.of.release == of.release
}

/// The key of a kind among the stores.
fn key(kind: &GroupVersionKind) -> String {
    format!("{}/{}", kind.api_version(), kind.kind)
}
