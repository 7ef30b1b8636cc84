//! What integration tests get of a manager that operators do not.

use tokio_util::sync::CancellationToken;

use super::Manager;
use crate::{probes::Readiness, webhook::server::Endpoint};

impl Manager {
    pub(crate) fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    pub(crate) fn serve_webhooks(&mut self, endpoint: Endpoint) {
        self.webhook_endpoint = Some(endpoint);
    }

    pub(crate) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }
}
