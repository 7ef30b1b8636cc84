//! Revisions in the Secrets of Helm, for charts with [`with_helm_storage`](crate::Chart::with_helm_storage).

use std::collections::BTreeMap;

use helm_render::manifest::{DeletePolicy, Manifests};
use k8s_openapi::{api::core::v1::Secret, jiff::Timestamp};
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::{Map, Value, json};

use crate::{
    chart::Chart,
    error::Error,
    release::Run,
    releases::ReleaseObject,
    rendering::Rendering,
    status::HISTORY,
    storage::{self, HelmRelease, Hook},
};

/// What Helm keeps of a rendering.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    manifest: String,
    hooks: Vec<Hook>,
}

impl Texts {
    pub(crate) fn of(manifests: &Manifests) -> Self {
        let source = |path: &str, text: &str| format!("---\n# Source: {path}\n{text}\n");
        let all = manifests.manifests.iter();
        let hook = |hook: &helm_render::manifest::Hook| Hook {
            name: hook.name.clone(),
            kind: hook.kind.clone(),
            path: hook.path.clone(),
            manifest: hook.text.clone(),
            events: hook.events.iter().map(|it| it.name().to_owned()).collect(),
            weight: hook.weight,
            delete_policies: hook.delete_policies.iter().map(policy).collect(),
        };
        Self {
            manifest: all.map(|it| source(&it.path, it.text.trim_end())).collect(),
            hooks: manifests.hooks.iter().map(hook).collect(),
        }
    }
}

/// The word for a policy in `helm.sh/hook-delete-policy`.
fn policy(policy: &DeletePolicy) -> String {
    match policy {
        DeletePolicy::HookSucceeded => "hook-succeeded".to_owned(),
        DeletePolicy::HookFailed => "hook-failed".to_owned(),
        DeletePolicy::BeforeHookCreation => "before-hook-creation".to_owned(),
        DeletePolicy::Other(word) => word.clone(),
    }
}

/// The chart as Helm's commands want it, without its templates.
fn described(chart: &Chart) -> Map<String, Value> {
    let metadata = &chart.chart.metadata;
    let described = json!({
        "metadata": {
            "apiVersion": metadata.api_version,
            "name": metadata.name,
            "version": metadata.version,
            "appVersion": metadata.app_version,
            "description": metadata.description,
        },
        "values": chart.chart.values,
    });
    described.as_object().cloned().unwrap_or_default()
}

impl<K: ReleaseObject> Run<'_, K> {
    fn helm_secrets(&self) -> Api<Secret> {
        let client = self.releases.cluster.client.clone();
        Api::namespaced(client, self.owner().namespace())
    }

    fn helm_name(&self, revision: i64) -> String {
        let name = self.object.meta().name.as_deref().unwrap_or_default();
        storage::secret_name(name, u32::try_from(revision).unwrap_or_default())
    }

    /// The highest number of a revision that Helm has for a release of this name.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn highest_record(&self) -> Result<i64, Error> {
        let name = self.object.meta().name.as_deref().unwrap_or_default();
        let params = ListParams::default().labels(&format!("owner=helm,name={name}"));
        let found = self.helm_secrets().list_metadata(&params).await?;
        let version =
            |labels: Option<BTreeMap<String, String>>| labels?.get("version")?.parse().ok();
        let versions = found
            .items
            .into_iter()
            .filter_map(|it| version(it.metadata.labels));
        Ok(versions.max().unwrap_or_default())
    }

    /// A revision as Helm keeps it, for a chart that asks for it. Before the revision is installed, so that one that is too large is not.
    ///
    /// # Errors
    /// It is too large for a Secret.
    pub(crate) fn encode(
        &self,
        rendering: &Rendering,
        revision: i64,
    ) -> Result<Option<HelmRelease>, Error> {
        let Some(texts) = rendering.texts.clone() else {
            return Ok(None);
        };
        let metadata = &self.installed.chart.chart.metadata;
        let now = Timestamp::now().to_string();
        let first = self
            .status
            .history
            .last()
            .map(|it| it.installed.0.to_string());
        let release = HelmRelease {
            name: self.object.meta().name.clone().unwrap_or_default(),
            namespace: self.owner().namespace().to_owned(),
            version: u32::try_from(revision).unwrap_or_default(),
            status: "deployed".to_owned(),
            description: "installed by an operator".to_owned(),
            first_deployed: first.unwrap_or_else(|| now.clone()),
            last_deployed: now,
            notes: rendering.notes.clone(),
            manifest: texts.manifest,
            hooks: texts.hooks,
            chart_name: metadata.name.clone(),
            chart_version: metadata.version.clone(),
            chart: described(self.installed.chart),
            config: self.values.clone(),
        };
        storage::secret(&release)?;
        Ok(Some(release))
    }

    /// Writes a revision for Helm, and that the `former` one is superseded. The oldest that the history no longer has goes.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn record(
        &self,
        release: &HelmRelease,
        former: Option<i64>,
    ) -> Result<(), Error> {
        self.write(release).await?;
        if let Some(former) = former.filter(|it| *it != i64::from(release.version)) {
            let found = self.helm_secrets().get_opt(&self.helm_name(former)).await?;
            let found = found.map(serde_json::to_value).transpose();
            let found = found.map_err(kube::Error::SerdeError)?;
            match found.map(|found| storage::read(&found)) {
                Some(Ok(mut former)) => {
                    former.status = "superseded".to_owned();
                    match self.write(&former).await {
                        // All is installed: what only Helm's lists show does not stop it.
                        Err(Error::Storage(error)) => {
                            tracing::warn!(%error, "a former revision of Helm stays deployed");
                        }
                        result => result?,
                    }
                }
                Some(Err(error)) => {
                    tracing::warn!(%error, "a former revision of Helm is unreadable")
                }
                None => {}
            }
        }
        for truncated in self.status.history.iter().skip(HISTORY - 1) {
            self.delete_record(truncated.revision).await?;
        }
        Ok(())
    }

    async fn write(&self, release: &HelmRelease) -> Result<(), Error> {
        let secret = storage::secret(release)?;
        let secret: Secret = serde_json::from_value(secret).map_err(kube::Error::SerdeError)?;
        self.releases.applier.owned(&self.object, secret).await?;
        Ok(())
    }

    /// Deletes what was written for Helm.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn delete_records(&self) -> Result<(), Error> {
        for revision in &self.status.history {
            self.delete_record(revision.revision).await?;
        }
        Ok(())
    }

    async fn delete_record(&self, revision: i64) -> Result<(), Error> {
        let (name, params) = (self.helm_name(revision), DeleteParams::default());
        match self.helm_secrets().delete(&name, &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => Ok(result.map(drop)?),
        }
    }
}
