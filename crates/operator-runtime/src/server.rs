//! Servers: their addresses, certificates and probes, and the endpoint of the metrics.

mod address;
pub(crate) mod certificate;
#[cfg_attr(not(feature = "metrics"), path = "server/metrics/off.rs")]
pub(crate) mod metrics;
pub(crate) mod probes;
pub(crate) mod serve;

pub use address::Address;
#[cfg(feature = "metrics")]
pub use metrics::MetricsFlags;
