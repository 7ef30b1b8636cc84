//! The servers of a manager, and their routes.

use std::net::SocketAddr;

use axum::{
    Router,
    middleware::{Next, from_fn},
};
use kube::Client;

use crate::{
    client::fence::in_every_replica,
    error::Error,
    manager::Flags,
    metrics::Metrics,
    server::{
        Address, metrics,
        probes::{self, Readiness},
        serve::Server,
    },
};

/// The endpoints of the servers; none by default.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    probes: Option<Address>,
    metrics: metrics::Endpoint,
    pub(crate) http2: bool,
    own: Vec<(String, SocketAddr, Router)>,
}

impl From<&Flags> for Endpoints {
    fn from(flags: &Flags) -> Self {
        Self {
            probes: Some(flags.health_probe_bind_address),
            #[cfg(feature = "metrics")]
            metrics: metrics::Endpoint::of(flags.metrics.clone()),
            #[cfg(not(feature = "metrics"))]
            metrics: metrics::Endpoint,
            http2: flags.enable_http2,
            own: Vec::new(),
        }
    }
}

impl Endpoints {
    /// Adds a user's endpoint.
    pub(crate) fn add(&mut self, name: &str, address: SocketAddr, router: Router) {
        self.own.push((name.to_owned(), address, router));
    }

    /// Binds every server and returns it with its routes. `client` also works in followers.
    ///
    /// # Errors
    /// If an address or a certificate cannot be used.
    pub(crate) async fn bind(
        &mut self,
        liveness: Readiness,
        readiness: Readiness,
        metrics: &Metrics,
        client: Client,
    ) -> Result<Vec<(Server, Router)>, Error> {
        let mut servers = Vec::new();
        if let Some(Address(Some(address))) = self.probes {
            let server = Server::bind("probes", address, None, false).await?;
            servers.push((server, probes::router(liveness, readiness)));
        }
        servers.extend(self.metrics.bind(metrics, self.http2, client).await?);
        for (name, address, router) in self.own.drain(..) {
            let server = Server::bind(&name, address, None, self.http2).await?;
            let everywhere = from_fn(|request, next: Next| in_every_replica(next.run(request)));
            servers.push((server, router.layer(everywhere)));
        }
        Ok(servers)
    }
}
