//! Why an operator does not run.

use std::{io, net::SocketAddr};

use crate::{election::ElectionError, logs::chain, runnable::TaskError, stop};

/// Why an operator could not start, or stopped: in one line, causes included, for `main` to return.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "`WATCH_NAMESPACE` is not set: this operator works in the namespaces that it names \
         (one, or several separated by commas)"
    )]
    NoNamespace,
    #[error("no Kubernetes configuration: give --kubeconfig or set KUBECONFIG ({})", chain(.0))]
    InferConfig(kube::config::InferConfigError),
    #[error("cannot use kubeconfig `{}`: {}", .0, first_line(&chain(.1)))]
    Kubeconfig(String, kube::config::KubeconfigError),
    #[error("cannot make a Kubernetes client: {}", chain(.0))]
    Client(kube::Error),
    #[error("cannot listen on {1} for {0}: {2}")]
    Listen(String, SocketAddr, io::Error),
    #[error("cannot use the certificate: {0}")]
    Certificate(String),
    #[error("cannot make a certificate: {0}")]
    SelfSigned(String),
    #[error(
        "webhooks need a certificate: name its Secret by `--webhook-secret` or its directory by \
         `--webhook-cert-path`, or do without webhooks by `--enable-webhooks=false`"
    )]
    NoWebhookCertificate,
    #[error("`{0}` is not a host: give `--webhook-host` a DNS name or an IP address")]
    WebhookHost(String),
    #[error("not in a pod: name the namespace of the webhooks' Secret by --pod-namespace")]
    NoPodNamespace,
    #[error("{0}")]
    Webhooks(String),
    #[error("`{0}` cannot be the name of an operator")]
    Name(&'static str),
    #[error("cannot handle signals: {0}")]
    Signals(io::Error),
    #[error("two controllers are named `{0}`")]
    SameName(&'static str),
    #[error(
        "controllers `{0}` and `{1}` both show failures of {2} as `{3}`: give one of them another \
         `.condition(..)`"
    )]
    SameCondition(&'static str, &'static str, String, &'static str),
    #[error("no controller is named `{0}`, which is to be triggered")]
    NoController(&'static str),
    #[error("a controller watches in cluster `{0}`, which the manager was not told of")]
    NoCluster(&'static str),
    #[error(transparent)]
    Election(#[from] ElectionError),
    #[error("leader election lost")]
    Lost,
    #[error("{0} ended, which it never should")]
    Ended(String),
    #[error("{} failed: {}", .0, chain(&**.1))]
    Failed(String, TaskError),
    #[error("reconciles still ran {} s after the stop", stop::DRAIN.as_secs())]
    StopTimeout,
}

/// What comes after it shows the place in the file, which may hold a secret.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
