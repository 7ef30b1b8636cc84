//! The metrics of controllers: controller-runtime's `controller_runtime_*`.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use super::Outcome;

/// Seconds; controller-runtime's buckets.
const BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    controller: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResultLabels {
    controller: &'static str,
    result: &'static str,
}

/// The metrics of all controllers.
#[derive(Clone, Debug)]
pub(super) struct Families {
    total: Family<ResultLabels, Counter>,
    errors: Family<Labels, Counter>,
    terminal_errors: Family<Labels, Counter>,
    panics: Family<Labels, Counter>,
    timeouts: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram, fn() -> Histogram>,
    active: Family<Labels, Gauge>,
    workers: Family<Labels, Gauge>,
    undecodable: Family<Labels, Counter>,
}

impl Families {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let families = Self {
            total: Family::default(),
            errors: Family::default(),
            terminal_errors: Family::default(),
            panics: Family::default(),
            timeouts: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            active: Family::default(),
            workers: Family::default(),
            undecodable: Family::default(),
        };
        let f = &families;
        let help = "Object versions that did not decode and were skipped";
        registry.register("undecodable_objects", help, f.undecodable.clone());
        let registry = registry.sub_registry_with_prefix("controller_runtime");
        registry.register("reconcile", "Reconciles by result", f.total.clone());
        let help = "Reconciles that failed";
        registry.register("reconcile_errors", help, f.errors.clone());
        let help = "Reconciles that failed and are not retried";
        registry.register("terminal_reconcile_errors", help, f.terminal_errors.clone());
        let help = "Reconciles that panicked";
        registry.register("reconcile_panics", help, f.panics.clone());
        let help = "Reconciles that exceeded their timeout";
        registry.register("reconcile_timeouts", help, f.timeouts.clone());
        let help = "Duration of reconciles";
        registry.register("reconcile_time_seconds", help, f.seconds.clone());
        let help = "Currently running reconciles";
        registry.register("active_workers", help, f.active.clone());
        let help = "Maximum number of concurrent reconciles";
        registry.register("max_concurrent_reconciles", help, f.workers.clone());
        families
    }

    pub(super) fn controller(&self, controller: &'static str, workers: u16) -> ControllerMetrics {
        let labels = Labels { controller };
        let total = |result| {
            let labels = ResultLabels { controller, result };
            self.total.get_or_create_owned(&labels)
        };
        // controller-runtime has this label value, and a dashboard may query it; here it stays zero.
        total("requeue");
        let workers_now = self.workers.get_or_create_owned(&labels);
        workers_now.set(workers.into());
        ControllerMetrics {
            success: total("success"),
            requeue_after: total("requeue_after"),
            error: total("error"),
            errors: self.errors.get_or_create_owned(&labels),
            terminal_errors: self.terminal_errors.get_or_create_owned(&labels),
            panics: self.panics.get_or_create_owned(&labels),
            timeouts: self.timeouts.get_or_create_owned(&labels),
            seconds: self.seconds.get_or_create_owned(&labels),
            active: self.active.get_or_create_owned(&labels),
            undecodable: self.undecodable.get_or_create_owned(&labels),
        }
    }
}

/// The metrics of one controller.
pub(crate) struct ControllerMetrics {
    success: Counter,
    requeue_after: Counter,
    error: Counter,
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    timeouts: Counter,
    seconds: Histogram,
    active: Gauge,
    undecodable: Counter,
}

impl ControllerMetrics {
    /// Counts an object that does not decode.
    pub(crate) fn undecodable(&self) {
        self.undecodable.inc();
    }

    /// Counts a running reconcile until the returned value is dropped.
    pub(crate) fn running(&self) -> Running {
        self.active.inc();
        Running(self.active.clone())
    }

    /// Counts a finished reconcile.
    pub(crate) fn ended(&self, outcome: Outcome, took: Duration) {
        self.seconds.observe(took.as_secs_f64());
        match outcome {
            Outcome::Success => _ = self.success.inc(),
            Outcome::RequeueAfter => _ = self.requeue_after.inc(),
            Outcome::Error => self.failed(),
            Outcome::TerminalError => {
                self.failed();
                self.terminal_errors.inc();
            }
            Outcome::Timeout => {
                self.failed();
                self.timeouts.inc();
            }
            Outcome::Panic => {
                self.failed();
                self.panics.inc();
            }
        }
    }

    fn failed(&self) {
        self.error.inc();
        self.errors.inc();
    }
}

/// A running reconcile.
pub(crate) struct Running(Gauge);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn each_outcome_counts_where_it_should() {
        let counters = [
            "reconcile_errors",
            "terminal_reconcile_errors",
            "reconcile_panics",
            "reconcile_timeouts",
        ];
        let cases = [
            (Outcome::Success, "success", [0, 0, 0, 0]),
            (Outcome::RequeueAfter, "requeue_after", [0, 0, 0, 0]),
            (Outcome::Error, "error", [1, 0, 0, 0]),
            (Outcome::TerminalError, "error", [1, 1, 0, 0]),
            (Outcome::Panic, "error", [1, 0, 1, 0]),
            (Outcome::Timeout, "error", [1, 0, 0, 1]),
        ];
        for (outcome, expected, values) in cases {
            let metrics = Metrics::default();
            metrics.controller("a", 1).ended(outcome, Duration::ZERO);
            let text = metrics.text();
            let has = |line: String| {
                let line = format!("controller_runtime_{line}");
                assert!(
                    text.lines().any(|found| found == line),
                    "{outcome:?}: {line}\n{text}"
                );
            };
            for result in ["success", "requeue", "requeue_after", "error"] {
                let value = u8::from(result == expected);
                has(format!(
                    r#"reconcile_total{{controller="a",result="{result}"}} {value}"#
                ));
            }
            for (counter, value) in counters.iter().zip(values) {
                has(format!(r#"{counter}_total{{controller="a"}} {value}"#));
            }
        }
    }

    #[test]
    fn gauges_and_buckets() {
        let metrics = Metrics::default();
        let controller = metrics.controller("a", 3);
        let running = controller.running();
        controller.ended(Outcome::Success, Duration::from_millis(7));
        let text = metrics.text();
        for line in [
            r#"controller_runtime_reconcile_time_seconds_bucket{le="0.005",controller="a"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{le="0.01",controller="a"} 1"#,
            r#"controller_runtime_active_workers{controller="a"} 1"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="a"} 3"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        drop(running);
        let idle = r#"controller_runtime_active_workers{controller="a"} 0"#;
        assert!(metrics.text().contains(idle));
    }
}
