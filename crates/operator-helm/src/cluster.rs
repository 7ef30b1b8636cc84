//! What the API server serves.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use helm_render::chart::Capabilities;
use kube::{Client, core::GroupVersionKind};
use operator_runtime::ScopedResource;
use parking_lot::Mutex;
use tokio::time::timeout;

/// How long the answer about versions counts. Versions change with an upgrade of the cluster, or with a CRD.
const VALID: Duration = Duration::from_secs(10 * 60);

/// How long an API may take to say what it serves. The server of an aggregated one may be gone or starting, perhaps from this very
/// chart, and must not hold up the releases.
const ANSWER: Duration = Duration::from_secs(5);

/// What the API server serves, as far as it was asked.
pub(crate) struct Cluster {
    pub(crate) client: Client,
    kinds: Mutex<Vec<(GroupVersionKind, ScopedResource)>>,
    versions: tokio::sync::Mutex<Option<Known>>,
}

struct Known {
    capabilities: Arc<Capabilities>,
    has_apis: bool,
    at: Instant,
}

impl Cluster {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            kinds: Mutex::default(),
            versions: tokio::sync::Mutex::default(),
        }
    }

    /// The type of a kind, if the API server serves it. What is found once is not asked for again.
    pub(crate) async fn find(
        &self,
        kind: &GroupVersionKind,
    ) -> kube::Result<Option<ScopedResource>> {
        if let Some(known) = self.known(kind) {
            return Ok(Some(known));
        }
        let found = ScopedResource::discover(&self.client, kind).await?;
        if let Some(found) = &found {
            self.kinds.lock().push((kind.clone(), found.clone()));
        }
        Ok(found)
    }

    /// Like [`find`](Self::find), in another version if the API server no longer serves this one.
    pub(crate) async fn find_any(
        &self,
        kind: &GroupVersionKind,
    ) -> kube::Result<Option<ScopedResource>> {
        let found = self.find(kind).await?;
        if found.is_some() || kind.group.is_empty() {
            return Ok(found);
        }
        let groups = self.client.list_api_groups().await?;
        let mut groups = groups.groups.into_iter();
        let group = groups.find(|group| group.name == kind.group);
        for version in group.iter().flat_map(|group| &group.versions) {
            let other = GroupVersionKind::gvk(&kind.group, &version.version, &kind.kind);
            if let Some(found) = self.find(&other).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn known(&self, kind: &GroupVersionKind) -> Option<ScopedResource> {
        let known = self.kinds.lock();
        let found = known.iter().find(|(known, _)| known == kind);
        found.map(|(_, found)| found.clone())
    }

    /// Forgets a kind, which the API server may no longer serve.
    pub(crate) fn forget(&self, kind: &GroupVersionKind) {
        self.kinds.lock().retain(|(known, _)| known != kind);
    }

    /// The version of Kubernetes and, if a chart asks for them, of all APIs.
    pub(crate) async fn capabilities(&self, with_apis: bool) -> kube::Result<Arc<Capabilities>> {
        let mut versions = self.versions.lock().await;
        if let Some(known) = &*versions
            && known.at.elapsed() < VALID
            && (known.has_apis || !with_apis)
        {
            return Ok(known.capabilities.clone());
        }
        // Once a chart has asked for them, all see them: releases would be rendered by turns.
        let with_apis = with_apis || versions.as_ref().is_some_and(|known| known.has_apis);
        let info = self.client.apiserver_version().await?;
        let mut capabilities = Capabilities::default();
        // One that is not understood leaves the default.
        if let Ok(version) = info.git_version.parse() {
            capabilities.kube_version = version;
        }
        if with_apis {
            capabilities.api_versions = self.api_versions().await?;
        }
        let capabilities = Arc::new(capabilities);
        *versions = Some(Known {
            capabilities: capabilities.clone(),
            has_apis: with_apis,
            at: Instant::now(),
        });
        Ok(capabilities)
    }

    /// `apps/v1` and `apps/v1/Deployment`, of all APIs. Of an API whose server does not answer, only the versions are known.
    async fn api_versions(&self) -> kube::Result<Vec<String>> {
        let core = self.client.list_core_api_versions().await?.versions;
        let groups = self.client.list_api_groups().await?.groups;
        let others = groups.into_iter().flat_map(|group| group.versions);
        let others = others.map(|version| version.group_version);
        let mut all = BTreeSet::new();
        for version in core.into_iter().chain(others) {
            let resources = async {
                match version.contains('/') {
                    true => self.client.list_api_group_resources(&version).await,
                    false => self.client.list_core_api_resources(&version).await,
                }
            };
            let late = |_| Err(kube::Error::Service("it does not answer".into()));
            match timeout(ANSWER, resources).await.unwrap_or_else(late) {
                Ok(list) => {
                    let kinds = list.resources.iter();
                    all.extend(kinds.map(|it| format!("{version}/{}", it.kind)));
                }
                Err(error) => tracing::warn!(%error, version, "the kinds of this API are unknown"),
            }
            all.insert(version);
        }
        Ok(all.into_iter().collect())
    }
}
