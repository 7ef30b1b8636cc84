//! What integration tests get of a manager that operators do not.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Manager;
use crate::{
    probes::Readiness,
    webhook::{certificates::Periods, server::Endpoint},
};

impl Manager {
    pub(crate) fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    pub(crate) fn serve_webhooks(&mut self, endpoint: Endpoint) {
        self.webhook_endpoint = Some(endpoint);
    }

    /// Makes the certificates of [`WebhookFlags`](crate::webhook::WebhookFlags) age faster, for tests:
    /// how long one can be used, how long before its end the next is made, and how long each step waits
    /// for everybody to see the one before.
    #[doc(hidden)]
    #[must_use]
    pub fn certificate_periods(
        mut self,
        lifetime: Duration,
        renew: Duration,
        settle: Duration,
    ) -> Self {
        if let Some(Endpoint::Flags(flags)) = &mut self.webhook_endpoint {
            flags.certificates.periods = Periods {
                lifetime,
                renew,
                settle,
            };
        }
        self
    }

    pub(crate) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }
}
