//! What unit tests get of a manager that operators do not.

use super::Manager;
use crate::{cache::Cache, clock::Clock};

impl Manager {
    /// What is watched in the operator's own cluster.
    pub(crate) fn cache(&self) -> Cache {
        self.clusters.own.cache.clone()
    }

    #[must_use]
    pub(crate) fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}
