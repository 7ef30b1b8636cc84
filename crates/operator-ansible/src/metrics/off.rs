//! Metrics without their feature: none is recorded.

use std::time::Duration;

use operator_runtime::Manager;
use serde_json::Value;

pub(crate) struct Metrics;

impl Metrics {
    pub(crate) fn new(_: &Manager) -> Self {
        Self
    }

    pub(crate) fn ran(&self, _: (&str, &str), _: Duration, _: bool) {}

    pub(crate) fn change(&self, _: &Value) {}
}
