//! Gauges that are asked for their values at each scrape.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{MetricType, gauge::ConstGauge},
};

/// Returns a value, if there is one now.
type Ask = Box<dyn Fn() -> Option<i64> + Send + Sync>;

/// A gauge with one label, whose values are functions. Clones share them.
#[derive(Clone)]
pub(super) struct Asked {
    name: &'static str,
    help: &'static str,
    label: &'static str,
    series: Arc<Mutex<Vec<(&'static str, Ask)>>>,
}

impl Asked {
    pub(super) fn new(name: &'static str, help: &'static str, label: &'static str) -> Self {
        Self {
            name,
            help,
            label,
            series: Arc::default(),
        }
    }

    /// Adds a series with this value of the label.
    pub(super) fn add(&self, of: &'static str, ask: Ask) {
        self.series.lock().push((of, ask));
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let series = self.series.lock();
        let series = series.iter().map(|(of, _)| of);
        f.debug_set().entries(series).finish()
    }
}

impl Collector for Asked {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let series = self.series.lock();
        if series.is_empty() {
            return Ok(());
        }
        let mut metric =
            encoder.encode_descriptor(self.name, self.help, None, MetricType::Gauge)?;
        for (of, ask) in series.iter() {
            if let Some(value) = ask() {
                let labels = [(self.label, *of)];
                ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}
