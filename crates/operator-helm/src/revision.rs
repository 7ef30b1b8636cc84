//! Revisions: what is rendered for them, and what is written down before they are installed.

use std::{sync::Arc, time::Duration};

use helm_render::chart::Release;
use k8s_openapi::jiff::Timestamp;

use crate::{
    chart::Crds,
    error::Error,
    release::Run,
    releases::ReleaseObject,
    rendering::{self, Inputs, Rendering},
    status::{InstalledObject, Pending},
    store::Kept,
};

/// The least time between revisions of the same values.
const LEAST: Duration = Duration::from_secs(30);

impl<K: ReleaseObject> Run<'_, K> {
    /// The number of the next revision: above all former ones, also those of Helm where its storage is used, and `former`.
    pub(crate) async fn next(&self, former: i64) -> Result<i64, Error> {
        let is_first = self.status.revision.is_none() && self.status.pending.is_none();
        let recorded = match is_first && self.installed.chart.helm_storage {
            true => self.highest_record().await?,
            false => 0,
        };
        Ok(self.status.last().max(recorded).max(former) + 1)
    }

    /// How long the newest revision stays although the chart renders something else from the same values: a template may look up what
    /// it changes itself.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let installed = self.status.installed()?.installed.0;
        let passed = Timestamp::now().duration_since(installed);
        let passed = Duration::try_from(passed).unwrap_or_default();
        LEAST.checked_sub(passed).filter(|rest| !rest.is_zero())
    }

    /// What a revision is rendered from, apart from its values, of which `digest` is.
    pub(crate) async fn inputs(
        &self,
        digest: &str,
        revision: i64,
        is_upgrade: bool,
    ) -> kube::Result<Inputs> {
        let (cluster, chart) = (&self.releases.cluster, self.installed.chart);
        Ok(Inputs {
            digest: digest.to_owned(),
            release: Release {
                name: self.object.meta().name.clone().unwrap_or_default(),
                namespace: self.owner().namespace().to_owned(),
                revision,
                is_upgrade,
            },
            capabilities: cluster.capabilities(chart.asks_for_versions).await?,
        })
    }

    /// What the chart renders: of the last reconcile, if nothing has changed since.
    pub(crate) async fn render(
        &self,
        inputs: &str,
        revision: i64,
        is_upgrade: bool,
    ) -> Result<Arc<Rendering>, Error> {
        let (cluster, chart) = (&self.releases.cluster, self.installed.chart);
        let owner = self.owner();
        let of = self.inputs(inputs, revision, is_upgrade).await?;
        let stays = |known: &Rendering| match chart.is_random {
            true => known.of.is_same_but_for_cluster(&of),
            false => known.of == of,
        };
        let known = self.known(|known| known.rendering.clone());
        if let Some(known) = known.filter(|known| stays(known))
            && (chart.is_random || known.is_current(cluster, owner.uid()).await?)
        {
            return Ok(known);
        }
        let rendering = match self.kept(&of).await? {
            Some(kept) => kept,
            None => {
                let uid = owner.uid().to_owned();
                let (rendering, templates) =
                    rendering::of(cluster, chart, self.values.clone(), of, uid).await?;
                let installed = self.status.installed();
                let installed = installed.filter(|it| it.revision == rendering.of.release.revision);
                let is_needed = match installed {
                    // What it rendered is needed for a rollback, and not what it would render now.
                    Some(installed) => chart.is_reused() && installed.digest == rendering.digest,
                    None => chart.is_kept(),
                };
                // Nothing is kept any more of a release that ends.
                if is_needed && self.object.meta().deletion_timestamp.is_none() {
                    let kept = Kept::new(&rendering, templates);
                    let applier = &self.releases.applier;
                    owner.keep(applier, &kept, self.status.revision).await?;
                }
                rendering
            }
        };
        let rendering = Arc::new(rendering);
        self.known(|known| known.rendering = Some(rendering.clone()));
        Ok(rendering)
    }

    /// What was kept for a revision, if that is what the status says, and nothing that a template looked up has changed since.
    async fn kept(&self, of: &Inputs) -> Result<Option<Rendering>, Error> {
        let (cluster, chart) = (&self.releases.cluster, self.installed.chart);
        if !chart.is_reused() {
            return Ok(None);
        }
        let installed = self.status.installed();
        let installed = installed.filter(|it| it.revision == of.release.revision);
        let pending = self.status.pending.as_ref();
        let pending = pending.filter(|it| it.revision == of.release.revision);
        let begun = pending.map(|it| it.digest.as_str());
        let digest = installed.map(|it| it.digest.as_str()).or(begun);
        let owner = self.owner();
        let kept = match owner.kept(of).await? {
            Some(kept) => Some(rendering::of_kept(chart, of.clone(), &kept)?),
            None => None,
        };
        let kept = kept.filter(|kept| digest == Some(&kept.digest));
        match kept {
            Some(kept) if chart.is_random || kept.is_current(cluster, owner.uid()).await? => {
                Ok(Some(kept))
            }
            // Whoever can write Secrets must not choose what is applied; and another password would be no better.
            None if installed.is_some() && chart.is_random => Err(Error::Lost(owner.secret_name())),
            _ => Ok(None),
        }
    }

    /// Whether a former reconcile began this revision.
    pub(crate) fn is_begun(&self, revision: i64, inputs: &str) -> bool {
        let pending = self.status.pending.as_ref();
        pending.is_some_and(|it| it.revision == revision && it.inputs == inputs)
    }

    /// Writes down what will be installed, before it is: so that nothing is left behind if the operator ends in between.
    pub(crate) async fn begin(
        &mut self,
        revision: i64,
        inputs: &str,
        rendering: &Rendering,
    ) -> Result<(), Error> {
        if !self.is_begun(revision, inputs) {
            self.status.pending = Some(Pending {
                revision,
                inputs: inputs.to_owned(),
                ..Pending::default()
            });
        }
        if let Some(pending) = &mut self.status.pending {
            pending.digest.clone_from(&rendering.digest);
        }
        self.status.last_revision = Some(self.status.last());
        for wanted in self.wanted(rendering).await? {
            let objects = &mut self.status.objects;
            match objects.iter_mut().find(|it| it.is_same(&wanted)) {
                // What is to be kept from now on is kept, even if this revision is never installed whole.
                Some(known) => known.kept |= wanted.kept,
                None => objects.push(wanted),
            }
        }
        self.save().await
    }

    /// The objects that will be installed, of the kinds that the API server serves.
    pub(crate) async fn wanted(
        &self,
        rendering: &Rendering,
    ) -> Result<Vec<InstalledObject>, Error> {
        let mut wanted = Vec::new();
        for object in &rendering.objects {
            if let Some(kind) = self.releases.cluster.find(&object.kind).await? {
                let namespace = self.owner().namespace_of(object, &kind);
                wanted.push(object.installed(namespace.as_deref()));
            }
        }
        Ok(wanted)
    }

    /// Installs the CRDs of `crds/`, as far as the chart's policy says.
    pub(crate) async fn create_crds(&self) -> Result<(), Error> {
        let (chart, applier) = (self.installed.chart, &self.releases.applier);
        let with_upgrade = chart.crd_policy == Crds::Upgrade;
        for crd in &chart.crds {
            if chart.crd_policy != Crds::Skip {
                self.owner().create_crd(applier, crd, with_upgrade).await?;
            }
        }
        Ok(())
    }
}
