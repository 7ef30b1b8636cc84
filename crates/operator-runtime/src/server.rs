//! Servers: addresses, certificates, probes, and the metrics endpoint.

mod address;
pub(crate) mod certificate;
pub(crate) mod client_ca;
#[cfg_attr(not(feature = "metrics"), path = "server/metrics/off.rs")]
pub(crate) mod metrics;
pub(crate) mod places;
pub(crate) mod probes;
pub(crate) mod serve;
mod stream;
pub(crate) mod visit;

pub use address::Address;
#[cfg(feature = "metrics")]
pub use metrics::MetricsFlags;
