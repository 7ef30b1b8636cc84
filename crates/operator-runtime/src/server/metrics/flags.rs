//! The flags of the metrics endpoint, with kubebuilder's names and defaults.

use std::path::PathBuf;

use clap::ArgAction;

use crate::server::Address;

/// Where and how metrics are served.
#[derive(Clone, Debug, clap::Args)]
pub struct MetricsFlags {
    /// Address of the metrics endpoint; 0 switches it off
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub metrics_bind_address: Address,

    /// Serve metrics by HTTPS, and only to those who may `get` the URL /metrics
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
          default_value_t = true, default_missing_value = "true")]
    pub metrics_secure: bool,

    /// Directory of the metrics endpoint's certificate [default: a self-signed one is made]
    #[arg(long, value_name = "DIRECTORY")]
    pub metrics_cert_path: Option<PathBuf>,

    /// File in that directory with the certificate
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub metrics_cert_name: PathBuf,

    /// File in that directory with the certificate's key
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub metrics_cert_key: PathBuf,
}
