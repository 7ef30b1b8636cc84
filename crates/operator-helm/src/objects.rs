//! The objects of a release in the cluster.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use kube::{api::DynamicObject, core::GroupVersionKind};
use operator_runtime::Store;
use tokio::task::yield_now;

use crate::{
    apply::{in_order_of_deletion, is_custom},
    error::Error,
    marks,
    object::Object,
    readiness::{self, Readiness},
    release::{Run, WAIT},
    releases::ReleaseObject,
    rendering::Rendering,
    status::{InstalledObject, Pending},
};

/// The stores of the kinds of a release.
pub(crate) type Stores = BTreeMap<String, Store<DynamicObject>>;

/// After so many objects, other work gets its turn: an operator has one thread.
const TURN: usize = 20;

impl<K: ReleaseObject> Run<'_, K> {
    /// Watches exactly the kinds of the release, and returns their stores; `None` while they are being filled. A watch that is never filled,
    /// because a permission is missing, stops nothing: after a while, there are no stores.
    pub(crate) async fn stores(&self, rendering: &Rendering) -> Result<Option<Stores>, Error> {
        let stores = self.watch(rendering.kinds().cloned().collect()).await?;
        let since = self.known(|known| match stores {
            Some(_) => {
                known.unfilled = None;
                None
            }
            None => Some(*known.unfilled.get_or_insert_with(Instant::now)),
        });
        Ok(match since {
            Some(since) if since.elapsed() >= 2 * WAIT => Some(Stores::new()),
            Some(_) => None,
            None => stores,
        })
    }

    /// Watches these kinds, as far as the API server serves them.
    pub(crate) async fn watch(
        &self,
        mut kinds: Vec<GroupVersionKind>,
    ) -> Result<Option<Stores>, Error> {
        kinds.sort_by_key(|kind| (kind.group.clone(), kind.kind.clone(), kind.version.clone()));
        kinds.dedup();
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

    /// Applies every object, and returns those that others had changed. Of an installed revision, one that is refused keeps no other from
    /// being applied.
    pub(crate) async fn apply(
        &self,
        rendering: &Rendering,
        stores: &Stores,
        is_new: bool,
    ) -> Result<Vec<String>, Error> {
        let owner = self.owner();
        // The first time, everything is sent; and what a failed revision changed, nobody else did.
        let pending = self.status.pending.as_ref();
        let is_settled = |it: &Pending| it.rolled_back.is_some();
        let tells =
            self.known(|known| known.is_applied) && !is_new && pending.is_none_or(is_settled);
        let (mut drifted, mut failed) = (Vec::new(), None);
        for (at, object) in rendering.objects.iter().enumerate() {
            if at % TURN == TURN - 1 {
                yield_now().await;
            }
            let known = self.stored(object, stores).await?;
            let before = known
                .as_ref()
                .map(|it| it.metadata.resource_version.clone());
            let applier = &self.releases.applier;
            // Until a first revision is installed whole, fields of Helm may be left in what a former try has applied.
            let is_known = known.is_some() && self.status.revision.is_some();
            match owner.apply(applier, object, None, is_known).await {
                Ok(applied) => {
                    let has_changed = before != Some(applied.resource_version);
                    if applied.sent && tells && has_changed && !stores.is_empty() {
                        drifted.push(object.to_string());
                    }
                }
                Err(error) if is_new => return Err(error),
                Err(error) => _ = failed.get_or_insert(error),
            }
        }
        self.known(|known| known.is_applied = failed.is_none());
        failed.map_or(Ok(drifted), Err)
    }

    /// The object as its watch shows it, if it is of this release.
    async fn stored(
        &self,
        object: &Object,
        stores: &Stores,
    ) -> Result<Option<Arc<DynamicObject>>, Error> {
        let Some(store) = stores.get(&key(&object.kind)) else {
            return Ok(None);
        };
        let owner = self.owner();
        let kind = owner.kind(object).await?;
        let namespace = owner.namespace_of(object, &kind);
        let found = store.get(namespace.as_deref(), &object.name);
        Ok(found.filter(|found| {
            let annotations = found.metadata.annotations.as_ref();
            let uid = annotations.and_then(|it| it.get(marks::UID));
            uid.is_some_and(|uid| uid == owner.uid())
        }))
    }

    /// Deletes what the release installed and the chart no longer renders. Returns whether all of it is gone: custom resources go first,
    /// so that an operator which the release also installed can see it.
    pub(crate) async fn prune(&mut self, rendering: &Rendering) -> Result<bool, Error> {
        let wanted = self.wanted(rendering).await?;
        if self.status.objects == wanted {
            return Ok(true);
        }
        let hooks = rendering.hooks.iter().map(|hook| &hook.object);
        let is_hook = |it: &InstalledObject| {
            let is_same = |hook: &Object| hook.installed(it.namespace.as_deref()).is_same(it);
            hooks.clone().any(is_same)
        };
        let mut gone = self.status.objects.clone();
        gone.retain(|it| !wanted.iter().any(|other| other.is_same(it)) && !is_hook(it));
        let left = self.delete_all(gone).await?;
        let is_done = left.is_empty();
        self.status.objects = wanted.into_iter().chain(left).collect();
        Ok(is_done)
    }

    /// Deletes objects, and returns those that are not gone yet. Others than custom resources are deleted after those are gone.
    pub(crate) async fn delete_all(
        &self,
        mut objects: Vec<InstalledObject>,
    ) -> Result<Vec<InstalledObject>, Error> {
        // A revision that was never installed whole may have asked to keep what an earlier one owns.
        for kept in objects.iter().filter(|object| object.kept) {
            self.owner().release_kept(kept).await?;
        }
        objects.retain(|object| !object.kept);
        in_order_of_deletion(&mut objects);
        let (custom, others): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_custom);
        let mut left = Vec::new();
        for object in custom {
            if !self.owner().delete(&object).await? {
                left.push(object);
            }
        }
        if !left.is_empty() {
            left.extend(others);
            return Ok(left);
        }
        for object in others {
            if !self.owner().delete(&object).await? {
                left.push(object);
            }
        }
        Ok(left)
    }

    /// Whether every object is ready: the first one that is not says why.
    pub(crate) async fn readiness(
        &self,
        rendering: &Rendering,
        stores: &Stores,
    ) -> Result<Readiness, Error> {
        let mut waiting = None;
        for (at, object) in rendering.objects.iter().enumerate() {
            if at % TURN == TURN - 1 {
                yield_now().await;
            }
            let readiness = match self.stored(object, stores).await? {
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
}

/// The key of a kind among the stores.
fn key(kind: &GroupVersionKind) -> String {
    format!("{}/{}", kind.api_version(), kind.kind)
}
