//! Methods of the manager for unit tests.

use super::Manager;
use crate::{cache::Cache, clock::Clock};

impl Manager {
    /// The cache of the operator's own cluster.
    pub(crate) fn cache(&self) -> Cache {
        self.clusters.own.cache.clone()
    }

    #[must_use]
    pub(crate) fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}
