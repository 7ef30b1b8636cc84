//! The expiry of the certificates that the servers use.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{MetricType, gauge::ConstGauge},
};

/// Returns when a certificate expires, in seconds since the Unix epoch.
type Expires = Box<dyn Fn() -> Option<i64> + Send + Sync>;

/// The certificates of the servers, by the servers' names. They are read for each scrape.
#[derive(Clone, Default)]
pub(super) struct Certificates(Arc<Mutex<Vec<(&'static str, Expires)>>>);

impl Certificates {
    pub(super) fn add(&self, server: &'static str, expires: Expires) {
        self.0.lock().push((server, expires));
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.0.lock();
        let servers = servers.iter().map(|(server, _)| server);
        f.debug_set().entries(servers).finish()
    }
}

impl Collector for Certificates {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let mut metric = encoder.encode_descriptor(
            "tls_certificate_expiration_timestamp_seconds",
            "End of the validity of a server's TLS certificate, in seconds since the Unix epoch",
            None,
            MetricType::Gauge,
        )?;
        for (server, expires) in self.0.lock().iter() {
            if let Some(expires) = expires() {
                let labels = [("server", *server)];
                ConstGauge::new(expires).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}
