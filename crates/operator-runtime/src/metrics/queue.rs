//! The metrics of work queues: client-go's `workqueue_*` with controller-runtime's labels.

use std::{collections::BTreeMap, iter::once, time::Duration};

use parking_lot::Mutex;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

use super::work::{Ages, Labels, Unfinished, Work};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DepthLabels {
    name: &'static str,
    controller: &'static str,
    priority: i32,
}

/// The metrics of all queues.
#[derive(Clone, Debug)]
pub(super) struct Families {
    depth: Family<DepthLabels, Gauge>,
    adds: Family<Labels, Counter>,
    retries: Family<Labels, Counter>,
    waited: Family<Labels, Histogram, fn() -> Histogram>,
    worked: Family<Labels, Histogram, fn() -> Histogram>,
    unfinished: Ages,
}

impl Families {
    pub(super) fn new(registry: &mut Registry) -> Self {
        // Seconds, from 10 ns; controller-runtime's buckets.
        let histogram: fn() -> Histogram = || Histogram::new(exponential_buckets(10e-9, 10.0, 12));
        let families = Self {
            depth: Family::default(),
            adds: Family::default(),
            retries: Family::default(),
            waited: Family::new_with_constructor(histogram),
            worked: Family::new_with_constructor(histogram),
            unfinished: Ages::default(),
        };
        let f = &families;
        let registry = registry.sub_registry_with_prefix("workqueue");
        registry.register("depth", "Objects in the queue", f.depth.clone());
        registry.register("adds", "Objects added to the queue", f.adds.clone());
        let help = "Objects added to the queue with a delay";
        registry.register("retries", help, f.retries.clone());
        let help = "Time that objects spend in the queue before their reconcile";
        registry.register("queue_duration_seconds", help, f.waited.clone());
        let help = "Time that the reconcile of a queued object takes";
        registry.register("work_duration_seconds", help, f.worked.clone());
        registry.register_collector(Box::new(f.unfinished.clone()));
        families
    }

    pub(super) fn queue(&self, name: &'static str) -> QueueMetrics {
        let labels = Labels {
            name,
            controller: name,
        };
        let queue = QueueMetrics {
            name,
            depth: self.depth.clone(),
            depths: Mutex::default(),
            adds: self.adds.get_or_create_owned(&labels),
            retries: self.retries.get_or_create_owned(&labels),
            waited: self.waited.get_or_create_owned(&labels),
            worked: self.worked.get_or_create_owned(&labels),
            unfinished: self.unfinished.of(&labels),
        };
        queue.depths(once((0, 0)));
        queue
    }
}

/// The metrics of one queue.
pub(crate) struct QueueMetrics {
    name: &'static str,
    depth: Family<DepthLabels, Gauge>,
    /// By priority. An empty priority keeps its gauge.
    depths: Mutex<BTreeMap<i32, Gauge>>,
    adds: Counter,
    retries: Counter,
    waited: Histogram,
    worked: Histogram,
    unfinished: Unfinished,
}

impl QueueMetrics {
    /// Counts an added object.
    pub(crate) fn added(&self) {
        self.adds.inc();
    }

    /// Sets the number of queued objects by priority, without delayed ones. Other priorities have none.
    pub(crate) fn depths(&self, objects: impl Iterator<Item = (i32, usize)>) {
        let mut depths = self.depths.lock();
        let mut left: Vec<i32> = depths.keys().copied().collect();
        for (priority, objects) in objects {
            left.retain(|other| *other != priority);
            let (name, controller) = (self.name, self.name);
            let gauge = || {
                self.depth.get_or_create_owned(&DepthLabels {
                    name,
                    controller,
                    priority,
                })
            };
            let gauge = depths.entry(priority).or_insert_with(gauge);
            gauge.set(objects.try_into().unwrap_or(i64::MAX));
        }
        for priority in left {
            depths[&priority].set(0);
        }
    }

    /// Records how long a taken object was queued.
    pub(crate) fn waited(&self, time: Duration) {
        self.waited.observe(time.as_secs_f64());
    }

    /// Counts an object that is added with a delay.
    pub(crate) fn retried(&self) {
        self.retries.inc();
    }

    /// Measures the work on an object until the returned value is dropped.
    pub(crate) fn work(&self) -> Work {
        self.unfinished.begin(self.worked.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn names_labels_and_buckets_are_those_of_controller_runtime() {
        let metrics = Metrics::default();
        let queue = metrics.queue("a");
        let value = |line: &str| {
            let text = metrics.text();
            let mut values = text.lines().filter_map(|found| found.strip_prefix(line));
            values
                .next()
                .unwrap_or_else(|| panic!("{line}\n{text}"))
                .trim()
                .to_owned()
        };
        for name in [
            "adds_total",
            "retries_total",
            "queue_duration_seconds_count",
            "work_duration_seconds_count",
        ] {
            assert_eq!(
                value(&format!(r#"workqueue_{name}{{name="a",controller="a"}}"#)),
                "0"
            );
        }
        queue.added();
        queue.added();
        queue.retried();
        queue.depths([(-100, 7), (0, 3)].into_iter());
        queue.depths(once((0, 2)));
        queue.waited(Duration::from_millis(5));
        let (one, two) = (queue.work(), queue.work());
        let running = r#"workqueue_unfinished_work_seconds{name="a",controller="a"}"#;
        assert!(value(running).parse::<f64>().unwrap() > 0.0);
        let oldest = r#"workqueue_longest_running_processor_seconds{name="a",controller="a"}"#;
        assert!(value(oldest).parse::<f64>().unwrap() > 0.0);
        drop(one);
        drop(two);
        for (line, expected) in [
            (r#"workqueue_adds_total{name="a",controller="a"}"#, "2"),
            (r#"workqueue_retries_total{name="a",controller="a"}"#, "1"),
            (
                r#"workqueue_depth{name="a",controller="a",priority="0"}"#,
                "2",
            ),
            (
                r#"workqueue_depth{name="a",controller="a",priority="-100"}"#,
                "0",
            ),
            (
                r#"workqueue_queue_duration_seconds_bucket{le="0.001","#,
                r#"name="a",controller="a"} 0"#,
            ),
            (
                r#"workqueue_queue_duration_seconds_bucket{le="0.01","#,
                r#"name="a",controller="a"} 1"#,
            ),
            (
                r#"workqueue_queue_duration_seconds_bucket{le="1000.0","#,
                r#"name="a",controller="a"} 1"#,
            ),
            (
                r#"workqueue_work_duration_seconds_count{name="a",controller="a"}"#,
                "2",
            ),
            (running, "0.0"),
            (oldest, "0.0"),
        ] {
            assert_eq!(value(line), expected, "{line}");
        }
    }
}
