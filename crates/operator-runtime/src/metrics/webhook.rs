//! The metrics of webhooks: controller-runtime's `controller_runtime_webhook_*`.

use std::time::Instant;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// Seconds; controller-runtime's buckets.
const BUCKETS: [f64; 12] = [
    1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0,
];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    webhook: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CodeLabels {
    webhook: String,
    code: u16,
}

/// The metrics of all webhooks.
#[derive(Clone, Debug)]
pub(super) struct Families {
    requests: Family<CodeLabels, Counter>,
    seconds: Family<Labels, Histogram, fn() -> Histogram>,
    in_flight: Family<Labels, Gauge>,
    pub(super) panics: Counter,
    pub(super) conversion_panics: Counter,
}

impl Families {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let families = Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            in_flight: Family::default(),
            panics: Counter::default(),
            conversion_panics: Counter::default(),
        };
        let f = &families;
        let registry = registry.sub_registry_with_prefix("controller_runtime");
        let help = "Requests to webhooks by HTTP status";
        registry.register("webhook_requests", help, f.requests.clone());
        let help = "Duration of requests to webhooks";
        registry.register("webhook_latency_seconds", help, f.seconds.clone());
        let help = "Currently running requests to webhooks";
        registry.register("webhook_requests_in_flight", help, f.in_flight.clone());
        let help = "Panics of webhooks";
        registry.register("webhook_panics", help, f.panics.clone());
        let help = "Panics of conversions";
        registry.register(
            "conversion_webhook_panics",
            help,
            f.conversion_panics.clone(),
        );
        families
    }

    /// The metrics of the webhook at a path.
    pub(super) fn webhook(&self, path: &str) -> WebhookMetrics {
        let labels = Labels {
            webhook: path.to_owned(),
        };
        let metrics = WebhookMetrics {
            path: path.to_owned(),
            requests: self.requests.clone(),
            seconds: self.seconds.get_or_create_owned(&labels),
            in_flight: self.in_flight.get_or_create_owned(&labels),
        };
        // The label values that dashboards query, each at zero.
        for code in [200, 500] {
            metrics.count(code);
        }
        metrics
    }
}

/// The metrics of one webhook.
#[derive(Clone, Debug)]
pub(crate) struct WebhookMetrics {
    path: String,
    requests: Family<CodeLabels, Counter>,
    seconds: Histogram,
    in_flight: Gauge,
}

impl WebhookMetrics {
    /// Counts a running request until the returned value is dropped.
    pub(crate) fn begin(&self) -> Running<'_> {
        self.in_flight.inc();
        Running {
            metrics: self,
            begin: Instant::now(),
        }
    }

    /// The counter of responses with this HTTP status.
    fn count(&self, code: u16) -> Counter {
        let webhook = self.path.clone();
        self.requests
            .get_or_create_owned(&CodeLabels { webhook, code })
    }
}

/// A running request.
pub(crate) struct Running<'a> {
    metrics: &'a WebhookMetrics,
    begin: Instant,
}

impl Running<'_> {
    /// Counts the response.
    pub(crate) fn answered(self, code: u16) {
        self.metrics.count(code).inc();
        let took = self.begin.elapsed();
        self.metrics.seconds.observe(took.as_secs_f64());
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.metrics.in_flight.dec();
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::Metrics;

    #[test]
    fn requests_are_counted_under_the_names_of_controller_runtime() {
        let metrics = Metrics::default();
        let webhook = metrics.webhook("/a");
        let running = webhook.begin();
        webhook.begin().answered(200);
        drop(webhook.begin());
        metrics.webhook_panics().inc();
        let has = |lines: &[&str]| {
            let text = metrics.text();
            for line in lines {
                let line = format!("controller_runtime_{line}");
                assert!(text.lines().any(|found| found == line), "{line}\n{text}");
            }
        };
        has(&[
            r#"webhook_requests_total{webhook="/a",code="200"} 1"#,
            r#"webhook_requests_total{webhook="/a",code="500"} 0"#,
            r#"webhook_requests_in_flight{webhook="/a"} 1"#,
            r#"webhook_latency_seconds_count{webhook="/a"} 1"#,
            r#"webhook_latency_seconds_bucket{le="1000.0",webhook="/a"} 1"#,
            "webhook_panics_total 1",
            "conversion_webhook_panics_total 0",
        ]);
        running.answered(400);
        has(&[
            r#"webhook_requests_total{webhook="/a",code="400"} 1"#,
            r#"webhook_requests_in_flight{webhook="/a"} 0"#,
        ]);
    }
}
