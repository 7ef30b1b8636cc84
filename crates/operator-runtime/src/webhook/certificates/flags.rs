//! The flags by which an operator makes the certificates of its webhooks.

use super::Periods;

/// Where certificates that the operator makes by itself are kept and published.
#[derive(Clone, Debug, clap::Args)]
pub struct CertificateFlags {
    /// Secret, in the operator's namespace, for a certificate that the operator makes and renews
    #[arg(long, value_name = "NAME", env = "WEBHOOK_SECRET",
          conflicts_with_all = ["webhook_cert_path", "webhook_host"])]
    pub webhook_secret: Option<String>,

    /// Service by which the API server reaches the webhooks
    #[arg(
        long,
        value_name = "NAME",
        env = "WEBHOOK_SERVICE",
        default_value = "webhook-service"
    )]
    pub webhook_service: String,

    /// Configuration of the webhooks that change objects
    #[arg(
        long,
        value_name = "NAME",
        env = "WEBHOOK_MUTATING_CONFIGURATION",
        default_value = "mutating-webhook-configuration"
    )]
    pub webhook_mutating_configuration: String,

    /// Configuration of the webhooks that deny changes
    #[arg(
        long,
        value_name = "NAME",
        env = "WEBHOOK_VALIDATING_CONFIGURATION",
        default_value = "validating-webhook-configuration"
    )]
    pub webhook_validating_configuration: String,

    /// Host (a DNS name or an IP address) at which the API server reaches this machine: while the
    /// operator runs here, the webhooks of the cluster are served from here
    #[arg(long, value_name = "HOST", conflicts_with = "webhook_cert_path")]
    pub webhook_host: Option<String>,

    /// The operator's namespace [default: the pod's]
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE")]
    pub pod_namespace: Option<String>,

    /// Other than the default in tests.
    #[arg(skip)]
    pub(crate) periods: Periods,
}
