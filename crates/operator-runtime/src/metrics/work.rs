//! Unfinished work, with its age at each scrape.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Instant};

use parking_lot::Mutex;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge, histogram::Histogram},
};

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, EncodeLabelSet)]
pub(super) struct Labels {
    pub(super) name: &'static str,
    pub(super) controller: &'static str,
}

/// The start times of one queue's unfinished work.
#[derive(Clone, Debug, Default)]
pub(super) struct Unfinished(Arc<Mutex<Vec<Instant>>>);

impl Unfinished {
    /// Starts work. Its duration goes to `durations` when the returned value is dropped.
    pub(super) fn begin(&self, durations: Histogram) -> Work {
        let begin = Instant::now();
        self.0.lock().push(begin);
        Work {
            begin,
            unfinished: self.clone(),
            durations,
        }
    }
}

/// Work on one object.
pub(crate) struct Work {
    begin: Instant,
    unfinished: Unfinished,
    durations: Histogram,
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut begins = self.unfinished.0.lock();
        // Entries with the same start time are interchangeable.
        if let Some(index) = begins.iter().position(|begin| *begin == self.begin) {
            begins.swap_remove(index);
        }
        self.durations.observe(self.begin.elapsed().as_secs_f64());
    }
}

/// The unfinished work of all queues.
#[derive(Clone, Debug, Default)]
pub(super) struct Ages(Arc<Mutex<BTreeMap<Labels, Unfinished>>>);

impl Ages {
    /// The unfinished work of one queue.
    pub(super) fn of(&self, labels: &Labels) -> Unfinished {
        self.0.lock().entry(labels.clone()).or_default().clone()
    }
}

impl Collector for Ages {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let now = Instant::now();
        let queues = self.0.lock();
        let help = "Total age of the unfinished work, in seconds. Each stuck worker adds one second per \
                    second.";
        let mut gauges =
            encoder.encode_descriptor("unfinished_work_seconds", help, None, MetricType::Gauge)?;
        for (labels, unfinished) in queues.iter() {
            let (sum, _) = ages(&unfinished.0.lock(), now);
            ConstGauge::new(sum).encode(gauges.encode_family(labels)?)?;
        }
        let (name, help) = (
            "longest_running_processor_seconds",
            "Age of the oldest unfinished work, in seconds.",
        );
        let mut gauges = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, unfinished) in queues.iter() {
            let (_, oldest) = ages(&unfinished.0.lock(), now);
            ConstGauge::new(oldest).encode(gauges.encode_family(labels)?)?;
        }
        Ok(())
    }
}

/// The sum of all ages, and the greatest, in seconds.
fn ages(begins: &[Instant], now: Instant) -> (f64, f64) {
    let ages = begins
        .iter()
        .map(|begin| now.saturating_duration_since(*begin).as_secs_f64());
    ages.fold((0.0, 0.0), |(sum, oldest), age| {
        (sum + age, age.max(oldest))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ages_of_unfinished_work() {
        let now = Instant::now() + Duration::from_secs(100);
        let ago = |seconds| now - Duration::from_secs(seconds);
        let cases: [(&[Instant], (f64, f64)); 4] = [
            (&[], (0.0, 0.0)),
            (&[ago(3)], (3.0, 3.0)),
            (&[ago(1), ago(5), ago(2)], (8.0, 5.0)),
            (&[now + Duration::from_secs(1)], (0.0, 0.0)),
        ];
        for (begins, expected) in cases {
            assert_eq!(ages(begins, now), expected, "{begins:?}");
        }
    }
}
