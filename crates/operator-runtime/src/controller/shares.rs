//! Which controllers replicas can share.

use kube::runtime::reflector::Lookup;

use super::{Controller, Definition};
use crate::{
    cache::{ShardKey, ShareKey},
    error::Unshared,
    object::ScopedResource,
};

impl<C> Definition<C> {
    /// Whether the objects can be shared, if they are.
    pub(crate) fn check_shares(&self) -> Result<(), Unshared> {
        let Some(key) = &self.sharded else {
            return Ok(());
        };
        if let Some(why) = self.one_replica {
            return Err(Unshared::One(why));
        }
        if !self.needs_leadership {
            return Err(Unshared::All);
        }
        let ScopedResource {
            resource,
            namespaced,
        } = &self.primary;
        match key {
            ShareKey::Namespace if !namespaced => Err(Unshared::NoNamespace(resource.kind.clone())),
            _ => Ok(()),
        }
    }

    /// Whether replicas share the objects, if they share any.
    pub(crate) fn is_sharded(&self) -> bool {
        self.sharded.is_some()
    }
}

impl<K, C> Controller<K, C>
where
    K: Lookup + Send + Sync + 'static,
    C: Send + Sync + 'static,
{
    /// Shares the objects among all replicas, by a key that never changes. Each replica reconciles its share, and
    /// keeps only this share in memory, with the children that it [owns](Self::owns); a [`Store`](crate::Store)
    /// of the same type keeps all of it. An object is never reconciled by two replicas at once, not even
    /// while replicas come, go or hang: see [the guide](crate::guide::shards).
    ///
    /// Without the flag `--shards`, the leader reconciles all objects. What cannot be shared is refused at the start, with
    /// the flag and without it.
    #[must_use]
    pub fn sharded(mut self, by: ShardKey<K>) -> Self {
        self.definition.sharded = Some(by.key);
        self
    }

    /// Says why only one replica can reconcile the objects: the manager does not start such a controller with
    /// [`sharded`](Self::sharded), and says `why`. A library whose reconcile function writes from other tasks, or
    /// remembers what another replica may change, has this in its extension of `Controller`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use operator_runtime::Controller;
    ///
    /// # async fn reconcile(_: Arc<ConfigMap>, _: Arc<()>) -> kube::Result<()> { Ok(()) }
    /// let controller = Controller::external("configs", reconcile)
    ///     .needs_one_replica("a process that it starts writes the objects");
    /// ```
    #[must_use]
    pub fn needs_one_replica(mut self, why: &'static str) -> Self {
        self.definition.one_replica = Some(why);
        self
    }
}
