//! Metrics: what runs come to, under operator-sdk's names, and what roles report with `osdk_metric`.

mod reported;

use std::{sync::Arc, time::Duration};

use operator_runtime::{
    Manager,
    prometheus_client::{
        encoding::text::encode,
        metrics::{family::Family, gauge::Gauge, histogram::Histogram},
        registry::Registry,
    },
};
use serde_json::Value;

use reported::Reported;

/// Seconds, and the values of `osdk_metric`: the default buckets of the Go client.
const BUCKETS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

type Labels = Vec<(&'static str, String)>;

/// The metrics of runs.
pub(crate) struct Metrics {
    reconciles: Family<Labels, Histogram, fn() -> Histogram>,
    results: Family<Labels, Gauge>,
    reported: Arc<Reported>,
}

impl Metrics {
    /// Adds them to those of the manager.
    pub(crate) fn new(manager: &Manager) -> Self {
        let mut made = None;
        manager.metrics(|registry| made = Some(Self::register(registry)));
        made.unwrap_or_else(|| Self::register(&mut Registry::default()))
    }

    fn register(registry: &mut Registry) -> Self {
        // Those of the operator that were added later are not known here. Those of the runtime are.
        let mut text = String::new();
        // Writing to a string does not fail.
        _ = encode(&mut text, registry);
        let metrics = Self {
            reconciles: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            results: Family::default(),
            reported: Arc::new(Reported::beside(&text)),
        };
        registry.register(
            "ansible_operator_reconciles",
            "How long in seconds a reconcile takes",
            metrics.reconciles.clone(),
        );
        registry.register(
            "ansible_operator_reconcile_result",
            "Gauge of reconciles and their results",
            metrics.results.clone(),
        );
        registry.register_collector(Box::new(metrics.reported.clone()));
        metrics
    }

    /// A run for an object of this version and kind ended.
    pub(crate) fn ran(&self, (version, kind): (&str, &str), took: Duration, has_succeeded: bool) {
        let gvk = ("GVK", format!("{version}, Kind={kind}"));
        let result = if has_succeeded { "succeeded" } else { "failed" };
        let labels = vec![gvk.clone(), ("result", result.to_owned())];
        self.results.get_or_create(&labels).inc();
        let seconds = self.reconciles.get_or_create_owned(&vec![gvk]);
        seconds.observe(took.as_secs_f64());
    }

    /// A role changes a metric.
    pub(crate) fn change(&self, metric: &Value) {
        if let Err(error) = self.reported.change(metric) {
            let name = metric["name"].as_str().unwrap_or_default();
            tracing::warn!(metric = name, "osdk_metric: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_come_to_has_the_names_of_operator_sdk() {
        let mut registry = Registry::default();
        let metrics = Metrics::register(&mut registry);
        let kind = ("cache.example.com/v1", "Memcached");
        metrics.ran(kind, Duration::from_millis(300), true);
        metrics.ran(kind, Duration::from_secs(20), false);
        metrics.ran(kind, Duration::from_secs(20), false);
        metrics.change(
            &serde_json::json!({ "name": "a", "description": "A", "gauge": { "set": 2.5 } }),
        );
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let gvk = r#"GVK="cache.example.com/v1, Kind=Memcached""#;
        for line in [
            format!("ansible_operator_reconcile_result{{{gvk},result=\"succeeded\"}} 1"),
            format!("ansible_operator_reconcile_result{{{gvk},result=\"failed\"}} 2"),
            format!("ansible_operator_reconciles_count{{{gvk}}} 3"),
            format!("ansible_operator_reconciles_bucket{{le=\"0.5\",{gvk}}} 1"),
            "a 2.5".to_owned(),
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
