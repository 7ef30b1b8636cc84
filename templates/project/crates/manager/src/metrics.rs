//! Metrics under controller-runtime's names, so that dashboards made for it work.

use std::{sync::Arc, time::Duration};

use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Seconds; controller-runtime's.
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

/// How a reconcile ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to do until something changes.
    Success,
    /// To be done again after a time.
    RequeueAfter,
    /// Failed, to be retried.
    Error,
    /// Failed, not to be retried.
    TerminalError,
    /// Panicked, to be retried.
    Panic,
    /// Took too long, to be retried.
    Timeout,
}

/// The metrics of all controllers.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    total: Family<ResultLabels, Counter>,
    errors: Family<Labels, Counter>,
    terminal_errors: Family<Labels, Counter>,
    panics: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram, fn() -> Histogram>,
    active: Family<Labels, Gauge>,
    workers: Family<Labels, Gauge>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("controller_runtime");
        let seconds: fn() -> Histogram = || Histogram::new(BUCKETS);
        let mut metrics = Self {
            registry: Arc::default(),
            total: Family::default(),
            errors: Family::default(),
            terminal_errors: Family::default(),
            panics: Family::default(),
            seconds: Family::new_with_constructor(seconds),
            active: Family::default(),
            workers: Family::default(),
        };
        let m = &metrics;
        registry.register("reconcile", "Reconciles by result", m.total.clone());
        registry.register(
            "reconcile_errors",
            "Reconciles that failed",
            m.errors.clone(),
        );
        let help = "Reconciles that failed and are not retried";
        registry.register("terminal_reconcile_errors", help, m.terminal_errors.clone());
        registry.register(
            "reconcile_panics",
            "Reconciles that panicked",
            m.panics.clone(),
        );
        registry.register(
            "reconcile_time_seconds",
            "Duration of reconciles",
            m.seconds.clone(),
        );
        registry.register(
            "active_workers",
            "Reconciles that run now",
            m.active.clone(),
        );
        let help = "Reconciles that may run at once";
        registry.register("max_concurrent_reconciles", help, m.workers.clone());
        metrics.registry = Arc::new(registry);
        metrics
    }
}

impl Metrics {
    /// The metrics of one controller, each at zero.
    pub(crate) fn controller(&self, controller: &'static str, workers: u16) -> ControllerMetrics {
        let labels = Labels { controller };
        let total = |result| {
            let labels = ResultLabels { controller, result };
            self.total.get_or_create_owned(&labels)
        };
        // controller-runtime has it, and a dashboard may ask for it; here it stays zero.
        total("requeue");
        self.workers
            .get_or_create_owned(&labels)
            .set(workers.into());
        ControllerMetrics {
            success: total("success"),
            requeue_after: total("requeue_after"),
            error: total("error"),
            errors: self.errors.get_or_create_owned(&labels),
            terminal_errors: self.terminal_errors.get_or_create_owned(&labels),
            panics: self.panics.get_or_create_owned(&labels),
            seconds: self.seconds.get_or_create_owned(&labels),
            active: self.active.get_or_create_owned(&labels),
        }
    }

    pub(crate) fn queue(&self, _: &'static str) -> QueueMetrics {
        QueueMetrics
    }

    /// All metrics as OpenMetrics text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        _ = encode(&mut text, &self.registry);
        text
    }

    /// The route of the metrics.
    pub(crate) fn router(&self) -> Router {
        let metrics = self.clone();
        let text = || async move { ([(CONTENT_TYPE, OPENMETRICS)], metrics.text()) };
        Router::new().route("/metrics", get(text))
    }
}

/// What one controller counts.
pub(crate) struct ControllerMetrics {
    success: Counter,
    requeue_after: Counter,
    error: Counter,
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    seconds: Histogram,
    active: Gauge,
}

impl ControllerMetrics {
    /// Counts a reconcile as running until the value is dropped.
    pub(crate) fn running(&self) -> Running {
        self.active.inc();
        Running(self.active.clone())
    }

    /// Counts a reconcile that ended.
    pub(crate) fn ended(&self, outcome: Outcome, took: Duration) {
        self.seconds.observe(took.as_secs_f64());
        match outcome {
            Outcome::Success => self.success.inc(),
            Outcome::RequeueAfter => self.requeue_after.inc(),
            Outcome::Error | Outcome::TerminalError | Outcome::Panic | Outcome::Timeout => {
                self.error.inc()
            }
        };
        if matches!(outcome, Outcome::Success | Outcome::RequeueAfter) {
            return;
        }
        self.errors.inc();
        match outcome {
            Outcome::TerminalError => _ = self.terminal_errors.inc(),
            Outcome::Panic => _ = self.panics.inc(),
            _ => {}
        }
    }
}

impl ControllerMetrics {
    pub(crate) fn undecodable(&self) {}
}

pub(crate) struct QueueMetrics;
pub(crate) struct Work;
impl QueueMetrics {
    pub(crate) fn added(&self) {}
    pub(crate) fn depth(&self, _: usize) {}
    pub(crate) fn waited(&self, _: Duration) {}
    pub(crate) fn retried(&self) {}
    pub(crate) fn work(&self) -> Work {
        Work
    }
}

/// A reconcile that runs.
pub(crate) struct Running(Gauge);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_labels_are_those_of_controller_runtime() {
        let metrics = Metrics::default();
        let controller = metrics.controller("cache-memcached", 1);
        let running = controller.running();
        controller.ended(Outcome::Panic, Duration::from_millis(7));
        let text = metrics.text();
        for line in [
            r#"controller_runtime_reconcile_total{controller="cache-memcached",result="success"} 0"#,
            r#"controller_runtime_reconcile_total{controller="cache-memcached",result="error"} 1"#,
            r#"controller_runtime_reconcile_errors_total{controller="cache-memcached"} 1"#,
            r#"controller_runtime_reconcile_panics_total{controller="cache-memcached"} 1"#,
            r#"controller_runtime_terminal_reconcile_errors_total{controller="cache-memcached"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{le="0.01",controller="cache-memcached"} 1"#,
            r#"controller_runtime_active_workers{controller="cache-memcached"} 1"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="cache-memcached"} 1"#,
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line}\nnot in\n{text}"
            );
        }
        drop(running);
        assert!(
            metrics
                .text()
                .contains(r#"active_workers{controller="cache-memcached"} 0"#)
        );
    }
}
