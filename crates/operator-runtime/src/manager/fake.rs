//! Methods of the manager for unit tests.

use super::Manager;
use crate::{cache::Cache, clock::Clock, object::ScopedResource};

impl Manager {
    /// The cache of the operator's own cluster.
    pub(crate) fn cache(&self) -> Cache {
        self.clusters.own.cache.clone()
    }

    /// Lets `served` tell whether a type is served.
    #[must_use]
    pub(crate) fn with_served(
        mut self,
        served: impl Fn(&ScopedResource) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.served = Some(Box::new(served));
        self
    }

    #[must_use]
    pub(crate) fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}
