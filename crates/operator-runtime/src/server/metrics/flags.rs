//! The flags of the metrics endpoint, with kubebuilder's names and defaults.

use std::path::PathBuf;

use clap::ArgAction;

use crate::server::Address;

/// The flags of the metrics endpoint.
#[derive(Clone, Debug, clap::Args)]
pub struct MetricsFlags {
    /// Bind address of the metrics endpoint; 0 disables it
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub metrics_bind_address: Address,

    /// Serve metrics over HTTPS, and only to users who may `get` the URL /metrics
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
          default_value_t = true, default_missing_value = "true")]
    pub metrics_secure: bool,

    /// Directory of the metrics endpoint's certificate [default: that of the webhooks, else a
    /// self-signed certificate]
    #[arg(long, value_name = "DIRECTORY")]
    pub metrics_cert_path: Option<PathBuf>,

    /// File name of the certificate in that directory
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub metrics_cert_name: PathBuf,

    /// File name of the certificate's key in that directory
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub metrics_cert_key: PathBuf,
}
