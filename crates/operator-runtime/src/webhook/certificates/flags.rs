//! The flags for certificates that the operator issues.

use super::Periods;

/// The flags for the Secret of issued certificates, and for the objects with the caBundle.
#[derive(Clone, Debug, clap::Args)]
pub struct CertificateFlags {
    /// Name of the Secret, in the operator's namespace, for a certificate that the operator issues and
    /// renews
    #[arg(long, value_name = "NAME", env = "WEBHOOK_SECRET",
          conflicts_with_all = ["webhook_cert_path", "webhook_host"])]
    pub webhook_secret: Option<String>,

    /// Name of the Service through which the API server reaches the webhooks
    #[arg(
        long,
        value_name = "NAME",
        env = "WEBHOOK_SERVICE",
        default_value = "webhook-service"
    )]
    pub webhook_service: String,

    /// Name of the MutatingWebhookConfiguration
    #[arg(
        long,
        value_name = "NAME",
        env = "WEBHOOK_MUTATING_CONFIGURATION",
        default_value = "mutating-webhook-configuration"
    )]
    pub webhook_mutating_configuration: String,

    /// Name of the ValidatingWebhookConfiguration
    #[arg(
        long,
        value_name = "NAME",
        env = "WEBHOOK_VALIDATING_CONFIGURATION",
        default_value = "validating-webhook-configuration"
    )]
    pub webhook_validating_configuration: String,

    /// Host (a DNS name or an IP address) at which the API server reaches this machine: while the operator
    /// runs, the cluster's webhooks are served from this machine
    #[arg(long, value_name = "HOST", conflicts_with = "webhook_cert_path")]
    pub webhook_host: Option<String>,

    /// The operator's namespace [default: the pod's]
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE")]
    pub pod_namespace: Option<String>,

    /// Shorter in tests.
    #[arg(skip)]
    pub(crate) periods: Periods,
}
