//! What this operator counts, beside the metrics of the runtime.

use operator_runtime::Manager;
use operator_runtime::prometheus_client::metrics::counter::Counter;
use operator_runtime::prometheus_client::metrics::family::Family;

/// The counters. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    steps: Family<[(&'static str, &'static str); 1], Counter>,
    snapshots: Family<[(&'static str, &'static str); 1], Counter>,
}

impl Metrics {
    /// Counters that `manager` serves.
    pub fn new(manager: &Manager) -> Self {
        let metrics = Self::default();
        manager.metrics(|registry| {
            let help = "Steps taken toward the spec of a cluster, by the reason of their event";
            registry.register("etcd_steps", help, metrics.steps.clone());
            let help = "Pods that took a snapshot, by result";
            registry.register("etcd_snapshots", help, metrics.snapshots.clone());
        });
        metrics
    }

    /// Counts a step.
    pub fn step(&self, reason: &'static str) {
        self.steps.get_or_create(&[("step", reason)]).inc();
    }

    /// Counts a Pod that took a snapshot, or failed.
    pub fn snapshot(&self, succeeded: bool) {
        let result = if succeeded { "success" } else { "error" };
        self.snapshots.get_or_create(&[("result", result)]).inc();
    }
}
