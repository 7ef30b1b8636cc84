//! What integration tests get of a manager that operators do not.

#[cfg(feature = "self-signed")]
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Manager;
#[cfg(feature = "self-signed")]
use crate::webhook::certificates::Periods;
use crate::{server::probes::Readiness, webhook::server::Endpoint};

impl Manager {
    pub(crate) fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    pub(crate) fn serve_webhooks(&mut self, endpoint: Endpoint) {
        self.webhooks.serve_at(endpoint);
    }

    /// Makes the certificates of [`WebhookFlags`](crate::webhook::WebhookFlags) age faster, for tests:
    /// how long one can be used, how long before its end the next is made, and how long each step waits
    /// for everybody to see the one before.
    #[cfg(feature = "self-signed")]
    #[doc(hidden)]
    #[must_use]
    pub fn certificate_periods(
        mut self,
        lifetime: Duration,
        renew: Duration,
        settle: Duration,
    ) -> Self {
        if let Some(Endpoint::Flags(flags)) = self.webhooks.endpoint() {
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
