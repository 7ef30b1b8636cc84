//! The command-line flags of an operator, with controller-runtime's names and defaults.

use std::{num::NonZeroU16, path::PathBuf, time::Duration};

use clap::ArgAction;

#[cfg(feature = "leader-election")]
use crate::leader::LeaderElectionFlags;
#[cfg(feature = "metrics")]
use crate::server::MetricsFlags;
#[cfg(feature = "webhooks")]
use crate::webhook::WebhookFlags;
use crate::{duration::duration, logs::LogFormat, server::Address};

/// Flags of every operator. `main` flattens them into its own flags, or parses them alone.
#[derive(Clone, Debug, clap::Parser)]
#[command(about = None, long_about = None)]
pub struct Flags {
    /// Bind address of the probes /healthz and /readyz; 0 disables them
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: Address,

    #[cfg(feature = "metrics")]
    #[command(flatten)]
    #[allow(missing_docs)]
    pub metrics: MetricsFlags,

    #[cfg(feature = "webhooks")]
    #[command(flatten)]
    #[allow(missing_docs)]
    pub webhooks: WebhookFlags,

    /// Enable HTTP/2 on the metrics and webhook servers
    #[arg(
        long,
        value_name = "BOOL",
        default_value = "false",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub enable_http2: bool,

    /// Maximum number of concurrent reconciles per controller, unless the controller sets its own
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub max_concurrent_reconciles: NonZeroU16,

    /// Resync period: how often all objects are reconciled although nothing changed, such as 30m
    #[arg(long, value_name = "DURATION", default_value = "10h", value_parser = duration)]
    pub sync_period: Duration,

    /// How long watched objects may take to be listed at the start; then the operator ends with the reason
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub cache_sync_timeout: Duration,

    /// How long a shutdown may take; running reconciles get three quarters of it. The Pod's
    /// terminationGracePeriodSeconds must be longer
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub graceful_shutdown_timeout: Duration,

    /// Log format [default: text on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Namespaces to watch, comma-separated [default: all]
    #[arg(
        long,
        value_name = "LIST",
        env = "WATCH_NAMESPACE",
        value_delimiter = ','
    )]
    pub watch_namespace: Vec<String>,

    /// Field manager of the operator that this one replaces, such as "manager" for kubebuilder's: what it wrote
    /// and this one does not want is removed
    #[arg(long, value_name = "NAME")]
    pub former_field_manager: Option<String>,

    /// Flags of leader election.
    #[cfg(feature = "leader-election")]
    #[command(flatten)]
    pub leader_election: LeaderElectionFlags,
}
