//! The metrics of the connections of servers.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    server: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ReasonLabels {
    server: String,
    reason: &'static str,
}

/// The metrics of all servers.
#[derive(Clone, Debug)]
pub(super) struct Families {
    open: Family<Labels, Gauge>,
    closed: Family<ReasonLabels, Counter>,
}

impl Families {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let (open, closed) = (Family::default(), Family::default());
        let help = "Currently open connections of a server";
        registry.register("server_connections", help, Family::clone(&open));
        let help = "Connections that a server closed: `full`, a newcomer got the place; `late`, the first request \
                    took too long; `unread`, the client did not read";
        registry.register("server_connections_closed", help, Family::clone(&closed));
        Self { open, closed }
    }

    pub(super) fn server(&self, server: &str) -> ConnectionMetrics {
        let labels = Labels {
            server: server.to_owned(),
        };
        let metrics = ConnectionMetrics {
            server: server.to_owned(),
            open: self.open.get_or_create_owned(&labels),
            closed: self.closed.clone(),
        };
        for reason in ["full", "late", "unread"] {
            metrics.count(reason);
        }
        metrics
    }
}

/// The metrics of the connections of one server.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionMetrics {
    server: String,
    open: Gauge,
    closed: Family<ReasonLabels, Counter>,
}

impl ConnectionMetrics {
    pub(crate) fn opened(&self) {
        self.open.inc();
    }

    pub(crate) fn ended(&self) {
        self.open.dec();
    }

    /// Counts a connection that the server closed.
    pub(crate) fn closed(&self, reason: &'static str) {
        self.count(reason).inc();
    }

    fn count(&self, reason: &'static str) -> Counter {
        let server = self.server.clone();
        let labels = ReasonLabels { server, reason };
        self.closed.get_or_create_owned(&labels)
    }
}
