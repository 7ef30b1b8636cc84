//! The command line of an operator, with controller-runtime's names and defaults.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    num::NonZeroU16,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use clap::ArgAction;

use crate::{LeaderElection, MetricsFlags, duration::duration, webhook::WebhookFlags};

/// Flags that every operator has; `main` flattens them into its own.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// Address of the probes /healthz and /readyz; 0 switches them off
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: Address,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub metrics: MetricsFlags,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub webhooks: WebhookFlags,

    /// Let the servers of metrics and webhooks speak HTTP/2, too
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

    /// Objects that each controller reconciles at once, unless it says otherwise
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub max_concurrent_reconciles: NonZeroU16,

    /// How often everything is reconciled although nothing changed, such as 30m
    #[arg(long, value_name = "DURATION", default_value = "10h", value_parser = duration)]
    pub sync_period: Duration,

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

    /// Which of several replicas works.
    #[command(flatten)]
    pub leader_election: LeaderElection,
}

/// How log lines are written to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Where a server listens: `IP:port`, `:port` for all interfaces, or `0` for nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub Option<SocketAddr>);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "0" {
            return Ok(Self(None));
        }
        let address = match text.strip_prefix(':') {
            // The unspecified IPv6 address takes IPv4 connections, too.
            Some(port) => {
                let any = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
                port.parse().ok().map(|port| SocketAddr::new(any, port))
            }
            None => text.parse().ok(),
        };
        let expected = || "expected `IP:PORT`, `:PORT`, or `0` for none".to_owned();
        address
            .map(|address| Self(Some(address)))
            .ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let cases = [
            ("0", Some(None)),
            (":8081", Some(Some("[::]:8081"))),
            ("127.0.0.1:80", Some(Some("127.0.0.1:80"))),
            ("[::1]:80", Some(Some("[::1]:80"))),
            ("8081", None),
            (":x", None),
            (":70000", None),
            ("", None),
        ];
        for (text, address) in cases {
            let parsed = text.parse::<Address>().ok().map(|address| address.0);
            let address = address.map(|address| address.map(|text| text.parse().unwrap()));
            assert_eq!(parsed, address, "{text}");
        }
    }
}
