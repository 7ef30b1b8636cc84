//! Metrics under the names of controller-runtime and client-go, so that their dashboards and alerts work.

mod asked;
mod calls;
mod connections;
mod outcome;
mod process;
mod queue;
mod reconcile;
mod shards;
mod webhook;
mod work;

use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

use asked::Asked;

pub(crate) use calls::Calls;
pub(crate) use connections::ConnectionMetrics;
pub(crate) use outcome::Outcome;
pub(crate) use prometheus_client::metrics::counter::Counter;
pub(crate) use queue::QueueMetrics;
pub(crate) use reconcile::ControllerMetrics;
pub(crate) use shards::ShardMetrics;
pub(crate) use webhook::WebhookMetrics;
pub(crate) use work::Work;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Lease {
    name: String,
}

/// All metrics of an operator. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    registry: Arc<Mutex<Registry>>,
    reconciles: reconcile::Families,
    queues: queue::Families,
    webhooks: webhook::Families,
    calls: calls::Family,
    connections: connections::Families,
    leader: Family<Lease, Gauge>,
    /// Reads of a certificate from disk, and failed reads.
    pub(crate) certificate_reads: Counter,
    pub(crate) certificate_errors: Counter,
    certificates: Asked,
    shared: Asked,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        let leader = Family::default();
        let (certificate_reads, certificate_errors) = (Counter::default(), Counter::default());
        let reconciles = reconcile::Families::new(&mut registry);
        let queues = queue::Families::new(&mut registry);
        let webhooks = webhook::Families::new(&mut registry);
        let calls = calls::register(&mut registry);
        let connections = connections::Families::new(&mut registry);
        registry.register(
            "leader_election_master_status",
            "Whether this process holds the lease (1) or waits for it (0)",
            leader.clone(),
        );
        registry.register(
            "certwatcher_read_certificate",
            "Reads of TLS certificates",
            certificate_reads.clone(),
        );
        registry.register(
            "certwatcher_read_certificate_errors",
            "Reads of TLS certificates that failed",
            certificate_errors.clone(),
        );
        let certificates = Asked::new(
            "tls_certificate_expiration_timestamp_seconds",
            "End of the validity of a server's TLS certificate, in seconds since the Unix epoch",
            "server",
        );
        registry.register_collector(Box::new(certificates.clone()));
        let shared = shards::objects();
        registry.register_collector(Box::new(shared.clone()));
        process::register(&mut registry);
        Self {
            registry: Arc::new(Mutex::new(registry)),
            reconciles,
            queues,
            webhooks,
            calls,
            connections,
            leader,
            certificate_reads,
            certificate_errors,
            certificates,
            shared,
        }
    }
}

impl Metrics {
    /// The metrics of one controller with `workers` concurrent reconciles, each at zero.
    pub(crate) fn controller(&self, name: &'static str, workers: u16) -> ControllerMetrics {
        self.reconciles.controller(name, workers)
    }

    /// The metrics of one controller's queue, each at zero.
    pub(crate) fn queue(&self, name: &'static str) -> QueueMetrics {
        self.queues.queue(name)
    }

    /// The metrics of the webhook at a path, each at zero.
    pub(crate) fn webhook(&self, path: &str) -> WebhookMetrics {
        self.webhooks.webhook(path)
    }

    /// Panics in webhooks.
    pub(crate) fn webhook_panics(&self) -> Counter {
        self.webhooks.panics.clone()
    }

    /// Panics in conversions.
    pub(crate) fn conversion_panics(&self) -> Counter {
        self.webhooks.conversion_panics.clone()
    }

    /// A layer that counts every call to the API server at `host`, such as `10.0.0.1:443`.
    pub(crate) fn calls(&self, host: &str) -> Calls {
        Calls::new(self.calls.clone(), host)
    }

    /// The metrics of the connections of a server, each at zero.
    pub(crate) fn connections(&self, server: &str) -> ConnectionMetrics {
        self.connections.server(server)
    }

    /// The metrics of the shards, which only an operator with shards has.
    pub(crate) fn shards(&self) -> ShardMetrics {
        ShardMetrics::new(&mut self.registry.lock())
    }

    /// Shows how many objects of a sharded controller are in the share of this process.
    pub(crate) fn shared(
        &self,
        controller: &'static str,
        count: impl Fn() -> usize + Send + Sync + 'static,
    ) {
        let count = move || Some(i64::try_from(count()).unwrap_or(i64::MAX));
        self.shared.add(controller, Box::new(count));
    }

    /// Sets whether this process holds the lease `name`.
    pub(crate) fn leader(&self, name: &str, leading: bool) {
        let lease = Lease {
            name: name.to_owned(),
        };
        self.leader.get_or_create(&lease).set(leading.into());
    }

    /// Shows when the certificate of a server expires, in seconds since the Unix epoch.
    pub(crate) fn certificate(
        &self,
        server: &'static str,
        expires: impl Fn() -> Option<i64> + Send + Sync + 'static,
    ) {
        self.certificates.add(server, Box::new(expires));
    }

    /// Registers a user's metrics.
    pub(crate) fn register(&self, register: impl FnOnce(&mut Registry)) {
        register(&mut self.registry.lock());
    }

    /// All metrics as OpenMetrics text.
    pub(crate) fn text(&self) -> String {
        let registry = self.registry.lock();
        let mut text = String::new();
        // Writing to a String cannot fail.
        _ = encode(&mut text, &registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn everything_else_that_is_served() {
        let metrics = Metrics::default();
        metrics.leader("a", true);
        metrics.leader("b", false);
        metrics.certificate_reads.inc();
        metrics.certificate("metrics", || Some(1_772_323_200));
        metrics.certificate("webhook", || None);
        metrics.shared("widgets", || 7);
        let shards = metrics.shards();
        shards.started(Duration::from_millis(300), Duration::from_millis(40));
        shards.dealt(2, 0);
        let own = Counter::<u64>::default();
        own.inc();
        metrics.register(|registry| registry.register("widgets_made", "Widgets", own));
        let text = metrics.text();
        for line in [
            r#"leader_election_master_status{name="a"} 1"#,
            r#"leader_election_master_status{name="b"} 0"#,
            "certwatcher_read_certificate_total 1",
            "certwatcher_read_certificate_errors_total 0",
            r#"tls_certificate_expiration_timestamp_seconds{server="metrics"} 1772323200"#,
            "widgets_made_total 1",
            r#"operator_shard_objects{controller="widgets"} 7"#,
            "operator_shard_takeovers_total 1",
            r#"operator_shard_takeover_seconds_bucket{le="0.2"} 0"#,
            r#"operator_shard_takeover_seconds_bucket{le="0.4"} 1"#,
            r#"operator_shard_rest_seconds_bucket{le="0.05"} 1"#,
            "operator_shard_members 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
        }
    }
}
