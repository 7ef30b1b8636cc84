//! The flags of the webhook server, with kubebuilder's names and defaults.

use std::path::PathBuf;

use clap::ArgAction;

#[cfg(feature = "self-signed")]
use super::CertificateFlags;
use super::memory::{DEFAULT_SIZE, size};
use crate::server::certificate::Files;

/// The flags of the webhook server.
#[derive(Clone, Debug, clap::Args)]
pub struct WebhookFlags {
    /// Serve the webhooks, which requires a certificate
    #[arg(long, value_name = "BOOL", env = "ENABLE_WEBHOOKS", action = ArgAction::Set, num_args = 0..=1,
          require_equals = true, default_value_t = true, default_missing_value = "true")]
    pub enable_webhooks: bool,

    /// Port of the webhook server, on all interfaces
    #[arg(long, value_name = "PORT", default_value = "9443")]
    pub webhook_port: u16,

    /// Memory limit for all webhook requests together, such as 72Mi
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_SIZE, value_parser = size)]
    pub webhook_memory: u64,

    /// Directory of the webhook server's certificate
    #[arg(long, value_name = "DIRECTORY")]
    pub webhook_cert_path: Option<PathBuf>,

    /// File name of the certificate in that directory
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub webhook_cert_name: PathBuf,

    /// File name of the certificate's key in that directory
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub webhook_cert_key: PathBuf,

    /// File with the CA of the API server's client certificate, without which admission webhooks answer nobody
    #[arg(long, value_name = "FILE")]
    pub webhook_client_ca: Option<PathBuf>,

    #[cfg(feature = "self-signed")]
    #[command(flatten)]
    #[allow(missing_docs)]
    pub certificates: CertificateFlags,
}

impl WebhookFlags {
    /// The certificate files, if the flags name them.
    pub(crate) fn files(&self) -> Option<Files> {
        let directory = self.webhook_cert_path.as_deref()?;
        Some(Files {
            certificate: directory.join(&self.webhook_cert_name),
            key: directory.join(&self.webhook_cert_key),
        })
    }
}
