//! One reconcile of a release.

use std::time::{Duration, Instant};

use helm_render::{manifest::Event, values::Table};
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use kube::runtime::events::{Event as Notice, EventType};
use operator_runtime::{
    Action, ReconcileError as _, api_of, conditions::set, finalizer, in_one_line, status,
};

use crate::{
    apply::Owner,
    conditions::{self, Outcome},
    error::Error,
    marks,
    memory::Known,
    objects::Stores,
    releases::{Installed, ReleaseObject, Releases},
    rendering::{self, Rendering},
    status::{Pending, ReleaseStatus, Revision},
    takeover::Former,
    values::Values,
};

/// After this time, a reconcile that waits looks again, if no event comes.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// The longest note of an event, in bytes, that the API server takes.
const NOTE: usize = 1024;

/// One reconcile of a release.
pub(crate) struct Run<'a, K> {
    pub(crate) releases: &'a Releases,
    pub(crate) installed: &'a Installed<K>,
    pub(crate) object: K,
    /// The values of the release.
    pub(crate) values: Table,
    /// The status that is wanted.
    pub(crate) status: ReleaseStatus,
    /// Whether a revision is being installed.
    pub(crate) is_new: bool,
    /// Whether objects may have changed for it.
    has_begun: bool,
}

impl<'a, K: ReleaseObject> Run<'a, K> {
    pub(crate) fn new(
        releases: &'a Releases,
        installed: &'a Installed<K>,
        object: &K,
        Values(values): Values,
    ) -> Self {
        Self {
            releases,
            installed,
            object: object.clone(),
            values,
            status: object.status().cloned().unwrap_or_default(),
            is_new: false,
            has_begun: false,
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
        let former = self.former().await?;
        let is_upgrade = self.status.revision.is_some() || former.is_some();
        let error = match self.converge(former).await {
            Ok(action) => return Ok(action),
            Err(error) => error,
        };
        if self.has_begun
            && error.is_of_upgrade()
            && let Some(action) = self.roll_back(&error).await?
        {
            return Ok(action);
        }
        // While nothing new is installed, only `Ready` tells of a failure: the release is what it was.
        if (self.is_new || error.is_of_values()) && !error.is_conflict() {
            let failed = Outcome::Failed {
                is_upgrade,
                error: &error,
            };
            self.report(&failed).await?;
            let note = in_one_line(&error);
            self.publish(EventType::Warning, error.reason(), &note)
                .await;
        }
        Err(error)
    }

    pub(crate) fn owner(&self) -> Owner<'_, K> {
        Owner {
            cluster: &self.releases.cluster,
            controller: self.installed.controller,
            object: &self.object,
            helm_storage: self.installed.chart.helm_storage,
        }
    }

    /// Looks at what is known of the release, or changes it.
    pub(crate) fn known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        let mut all = self.installed.known.lock();
        look(all.entry(self.owner().uid().to_owned()).or_default())
    }

    /// `former` is what operator-sdk installed, of a custom resource that is taken over.
    async fn converge(&mut self, former: Option<Former>) -> Result<Action, Error> {
        let inputs = rendering::digest(self.installed.chart, &self.values);
        // A revision without new values is not caused by anybody, and deletes nothing.
        let is_caused = self.status.inputs.as_deref() != Some(&inputs);
        let pending = self.status.pending.as_ref();
        let pending = pending.filter(|it| it.inputs == inputs);
        let (failed, begun): (Option<&Pending>, _) = match pending {
            Some(it) if it.rolled_back.is_some() => (Some(it), None),
            begun => (
                None,
                begun.filter(|it| Some(it.revision) > self.status.revision),
            ),
        };
        let failed = failed.filter(|_| self.installed.chart.rolls_back);
        let failed = failed.map(|it| it.digest.clone());
        if failed.is_some() && is_caused {
            return self.hold().await;
        }
        let mut is_upgrade = self.status.revision.is_some() || former.is_some();
        let mut revision = match (begun, self.status.revision) {
            (Some(pending), _) => pending.revision,
            (None, Some(installed)) if !is_caused => installed,
            _ => {
                let former = former.as_ref().map(|it| it.revision);
                self.next(former.unwrap_or_default()).await?
            }
        };
        self.is_new = Some(revision) != self.status.revision;
        let as_upgrade = match self.is_new {
            true => is_upgrade,
            false => self.status.installed().is_some_and(|it| it.upgrade),
        };
        let mut rendering = self.render(&inputs, revision, as_upgrade).await?;
        // The same values may render something else: with another version of Kubernetes, or because a template looks objects up.
        let digest = self.status.installed().map(|it| it.digest.as_str());
        if !self.is_new && digest != Some(&rendering.digest) {
            // What failed was no change of the values: it is tried again when it would be another.
            if failed.as_ref() == Some(&rendering.digest) {
                return self.hold().await;
            }
            if let Some(rest) = self.rest() {
                return Ok(Action::requeue(rest));
            }
            (self.is_new, is_upgrade) = (true, true);
            revision = self.next(0).await?;
            rendering = self.render(&inputs, revision, true).await?;
        }
        let pause = self.known(|known| known.fight.pause(Instant::now()));
        if let Some(pause) = pause.filter(|_| !self.is_new) {
            return Ok(Action::requeue(pause));
        }
        let mut record = None;
        if self.is_new {
            record = self.encode(&rendering, revision)?;
            if is_upgrade && !self.is_begun(revision, &inputs) {
                for object in &rendering.objects {
                    self.owner().try_out(&self.releases.applier, object).await?;
                }
            }
            if let Some(former) = &former {
                self.inherit(former).await?;
            }
            self.begin(revision, &inputs, &rendering).await?;
            self.has_begun = true;
            self.create_crds().await?;
        }
        let Some(stores) = self.stores(&rendering).await? else {
            return match self.is_new {
                true => {
                    self.wait(is_upgrade, "the watches of the objects".to_owned())
                        .await
                }
                false => Ok(Action::requeue(WAIT)),
            };
        };
        let (before, after) = match is_upgrade {
            true => (Event::PreUpgrade, Event::PostUpgrade),
            false => (Event::PreInstall, Event::PostInstall),
        };
        if self.is_new
            && let Some(why) = self.run_hooks(&rendering, revision, before).await?
        {
            return self.wait(is_upgrade, why).await;
        }
        let drifted = self.apply(&rendering, &stores, self.is_new).await?;
        let deletes = match self.is_new {
            true => is_caused,
            false => self.status.installed().is_none_or(|it| !it.uncaused),
        };
        let are_gone = match deletes {
            true => self.prune(&rendering).await?,
            false => true,
        };
        if self.is_new {
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
                uncaused: !is_caused,
                installed: Time(Timestamp::now()),
            };
            if let Some(record) = record {
                let former = former.map(|it| it.revision);
                self.record(&record, self.status.revision.or(former))
                    .await?;
            }
            self.status.complete(installed, inputs);
        }
        self.status.pending = None;
        self.report_installed(&rendering, &stores, drifted, None)
            .await?;
        if self.is_new {
            let what = if is_upgrade { "Upgraded" } else { "Installed" };
            let label = self.installed.chart.label();
            self.publish(
                EventType::Normal,
                what,
                &format!("{label}, revision {revision}"),
            )
            .await;
        }
        Ok(self.next_look(are_gone))
    }

    /// When an installed release is reconciled again without a change; `are_gone` says that nothing has to be deleted any more.
    pub(crate) fn next_look(&self, are_gone: bool) -> Action {
        match (are_gone, self.period()) {
            (false, _) => Action::requeue(WAIT),
            (true, Some(period)) => Action::requeue(period),
            (true, None) => Action::await_change(),
        }
    }

    /// Reports what is installed, and what was corrected.
    pub(crate) async fn report_installed(
        &mut self,
        rendering: &Rendering,
        stores: &Stores,
        drifted: Vec<String>,
        rolled_back: Option<String>,
    ) -> Result<(), Error> {
        let is_fought = !drifted.is_empty() && self.known(|known| known.fight.note(Instant::now()));
        let outcome = Outcome::Installed {
            is_upgrade: self.status.installed().is_some_and(|it| it.upgrade),
            is_new: self.is_new,
            notes: &rendering.notes,
            readiness: self.readiness(rendering, stores).await?,
            drifted: drifted.clone(),
            is_fought,
            rolled_back,
        };
        self.report(&outcome).await?;
        if !self.is_new && !drifted.is_empty() && !is_fought {
            let note = format!("applied again: {}", drifted.join(", "));
            self.publish(EventType::Normal, "DriftCorrected", &note)
                .await;
        }
        Ok(())
    }

    /// Reports that an installation or an upgrade waits.
    async fn wait(&mut self, is_upgrade: bool, why: String) -> Result<Action, Error> {
        self.report(&Outcome::Waiting { is_upgrade, why }).await?;
        Ok(Action::requeue(WAIT))
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
    pub(crate) async fn publish(&self, type_: EventType, reason: &str, note: &str) {
        let mut end = note.len().min(NOTE);
        while !note.is_char_boundary(end) {
            end -= 1;
        }
        let event = Notice {
            type_,
            reason: reason.to_owned(),
            note: Some(note[..end].to_owned()),
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
        let owner = self.owner();
        let text = owner.annotation(marks::RECONCILE_PERIOD)?;
        let period = period(text);
        if period.is_none() {
            tracing::warn!(
                text,
                "{} is no time, such as 1m30s",
                marks::RECONCILE_PERIOD
            );
        }
        period.filter(|it| !it.is_zero())
    }
}

/// A time as Go writes it: `1h`, `1m30s`, `500ms`.
fn period(text: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let letters = &rest[digits..];
        let end = letters.find(|c: char| c.is_ascii_digit());
        let (unit, next) = letters.split_at(end.unwrap_or(letters.len()));
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        sum = sum.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
        rest = next;
    }
    Some(sum).filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_times_of_go() {
        for (text, seconds) in [
            ("5m", Some(300.0)),
            ("1h", Some(3600.0)),
            ("1m30s", Some(90.0)),
            ("1.5h", Some(5400.0)),
            ("500ms", Some(0.5)),
            ("", None),
            ("5", None),
            ("m", None),
            ("5d", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(period(text), seconds.map(Duration::from_secs_f64), "{text}");
        }
    }
}
