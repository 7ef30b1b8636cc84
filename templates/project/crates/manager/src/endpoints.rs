//! Which servers a manager runs, and what they serve.

use axum::Router;
use kube::Client;

use crate::{
    Address, Flags,
    manager::Error,
    metrics::{self, Metrics, flags::MetricsFlags},
    probes::{self, Readiness},
    serve::Server,
};

/// Where to serve what; nothing by default.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    probes: Option<Address>,
    metrics: Option<MetricsFlags>,
    http2: bool,
}

impl From<&Flags> for Endpoints {
    fn from(flags: &Flags) -> Self {
        Self {
            probes: Some(flags.health_probe_bind_address),
            metrics: Some(flags.metrics.clone()),
            http2: flags.enable_http2,
        }
    }
}

impl Endpoints {
    /// Listens everywhere, and says what to serve there. `client` works in followers, too.
    ///
    /// # Errors
    /// If an address or a certificate cannot be used.
    pub(crate) async fn bind(
        &self,
        readiness: Readiness,
        metrics: &Metrics,
        client: Client,
    ) -> Result<Vec<(Server, Router)>, Error> {
        let mut servers = Vec::new();
        if let Some(Address(Some(address))) = self.probes {
            let server = Server::bind("probes", address, None, false).await?;
            servers.push((server, probes::router(readiness)));
        }
        if let Some(flags) = &self.metrics
            && let Address(Some(address)) = flags.metrics_bind_address
        {
            servers.push(metrics::serve(metrics, address, flags, self.http2, client).await?);
        }
        Ok(servers)
    }
}
