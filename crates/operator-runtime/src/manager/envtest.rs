//! Methods of the manager for integration tests.

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

    /// Lets a controller reconcile the objects of several tests at once, unless it has a concurrency of its
    /// own. In `main`, the flag decides.
    pub(crate) fn reconcile_concurrently(&mut self) {
        self.concurrency = 16;
    }

    pub(crate) fn serve_webhooks(&mut self, endpoint: Endpoint) {
        self.webhooks.serve_at(endpoint);
    }

    /// Shortens the periods of the certificates of [`WebhookFlags`](crate::webhook::WebhookFlags) for
    /// tests: the lifetime, the time before the end at which a certificate is renewed, and the wait after
    /// each step until every replica has seen it.
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
