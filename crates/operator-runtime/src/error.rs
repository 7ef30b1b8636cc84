//! Errors that end an operator.

mod chain;

use std::{error, io, net::SocketAddr, time::Duration};

pub use chain::in_one_line;
pub(crate) use chain::{chain, panic_message, refusal};

/// The error of a task.
pub type TaskError = Box<dyn error::Error + Send + Sync>;

/// client-go's jitter factor: a candidate polls after `--leader-elect-retry-period` plus up to this factor
/// of it.
pub(crate) const JITTER: f64 = 1.2;

/// The reason why an operator could not start, or stopped. It displays as one line with its causes, so
/// return it from `main`.
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
    #[error("cannot create a Kubernetes client: {}", chain(.0))]
    Client(kube::Error),
    #[error("cannot export traces: {0}")]
    Traces(String),
    #[error("cannot listen on {1} for {0}: {2}")]
    Listen(String, SocketAddr, io::Error),
    #[error("cannot use the certificate: {0}")]
    Certificate(String),
    #[error("cannot use the CA of `--webhook-client-ca`: {0}")]
    ClientCa(String),
    #[error("cannot issue a certificate: {0}")]
    SelfSigned(String),
    #[error(
        "webhooks need a certificate: name its Secret by `--webhook-secret` or its directory by \
         `--webhook-cert-path`, or do without webhooks by `--enable-webhooks=false`"
    )]
    NoWebhookCertificate,
    #[error("`{0}` is not a host: give `--webhook-host` a DNS name or an IP address")]
    WebhookHost(String),
    #[error("not in a pod: set --pod-namespace to the namespace of the webhooks' Secret")]
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
    #[error(
        "controllers `{0}` and `{1}` both prune each {2} of a {3}, and would delete each other's: leave \
         `.prunes::<{2}>()` to one of them"
    )]
    SamePruned(&'static str, &'static str, String, String),
    #[error(
        "controller `{controller}` uses {kind} in {version}, but the hub is {hub}: its writes would erase \
         fields that only {hub} has. Use the type of {hub}, or add `.uses_spokes()`"
    )]
    Spoke {
        controller: &'static str,
        kind: String,
        version: String,
        hub: String,
    },
    #[error("controller `{0}` cannot have `.sharded(..)`: {1}")]
    Unshared(&'static str, Unshared),
    #[error("a trigger or a dynamic watch names controller `{0}`, which does not exist")]
    NoController(&'static str),
    #[error("a predicate over {0} is used in a watch of {1}")]
    Predicate(String, String),
    #[error("the transform of a store of {0} is used in a watch of {1}")]
    Transform(String, String),
    #[error("a controller watches cluster `{0}`, which was not added to the manager")]
    NoCluster(&'static str),
    #[error(transparent)]
    Election(#[from] ElectionError),
    #[error("leader election lost")]
    Lost,
    #[error("the Lease of this replica is lost, and with it its share of the objects")]
    LostShare,
    #[error("{0} ended unexpectedly")]
    Ended(String),
    #[error("{} failed: {}", .0, chain(&**.1))]
    Failed(String, TaskError),
    #[error(
        "reconciles still ran {0:?} after the stop signal: give them longer by \
         `--graceful-shutdown-timeout`, or a `.timeout(..)`"
    )]
    StopTimeout(Duration),
}

/// Why replicas cannot share the objects of a controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Unshared {
    #[error("{0}. Remove `.sharded(..)`: the leader reconciles all objects then")]
    One(&'static str),
    #[error(
        "with `.without_leadership()`, every replica reconciles all objects. Remove one of the two lines"
    )]
    All,
    #[error(
        "a {0} is in no namespace, so one replica would get all of them. Use `ShardKey::uid()` in place of \
         `ShardKey::namespace()`"
    )]
    NoNamespace(String),
}

/// The following lines show the place in the file, which may contain a secret.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The reason why a replica cannot take part in leader election.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ElectionError {
    #[error(
        "--leader-elect-lease-duration ({0:?}) must be longer than --leader-elect-renew-deadline ({1:?})"
    )]
    Lease(Duration, Duration),
    #[error(
        "--leader-elect-renew-deadline ({0:?}) must be longer than {JITTER} times --leader-elect-retry-period ({1:?})"
    )]
    Renew(Duration, Duration),
    #[error("--shards needs an election: add --leader-elect")]
    Shards,
    #[error(
        "a replica with --shards has a name of letters, digits, `-`, `_` and `.`, and this one has `{0}`: set the \
         environment variable POD_NAME to the name of the pod"
    )]
    Member(String),
    #[error("not in a pod: set --leader-elect-resource-namespace to the namespace of the lease")]
    Namespace,
    #[error("cannot get random numbers from the operating system")]
    Random,
}
