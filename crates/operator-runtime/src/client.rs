//! Clients with timeouts: kube's own wait forever for a server that does not answer.

pub(crate) mod discovery;
pub(crate) mod fence;
mod limit;
#[cfg_attr(not(feature = "leader-election"), allow(dead_code))]
pub(crate) mod permit;
#[cfg_attr(not(feature = "leader-election"), allow(dead_code))]
pub(crate) mod selector;
mod spans;
mod unanswered;
mod warnings;
pub(crate) mod watches;

use std::{env, fs, path::Path, time::Duration};

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

pub use fence::NotLeading;
pub(crate) use limit::TooLong;
pub use permit::NotOwning;
pub(crate) use warnings::Warnings;

use crate::{
    client::fence::Fence,
    crypto,
    error::Error,
    metrics::{Calls, Metrics},
};

/// The file with the namespace of the pod.
pub(crate) const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

const CONNECT: Duration = Duration::from_secs(10);

/// The longest silence during a call; the API server itself gives up after 60 s.
const CALL: Duration = Duration::from_secs(65);

/// The longest silence on a connection of watches: a little longer than a watch lasts over HTTP/1.1, and
/// than a ping takes over HTTP/2.
const WATCH: Duration = Duration::from_secs(55);

/// Clients for calls and for watches, which differ in their idle timeouts, and for the Lease.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) calls: Client,
    /// The client for calls of a replica that does not lead.
    pub(crate) unfenced: Client,
    pub(crate) watches: Client,
    /// The client for the Lease, whose connection nothing else uses: no list or watch delays a renewal.
    pub(crate) lease: Client,
}

/// The fences of a process.
#[derive(Clone, Debug)]
pub(crate) struct Fences {
    /// That of the leader.
    pub(crate) leader: Fence,
    /// That of a replica with a share of the objects; within it, each slot has its own.
    pub(crate) member: Option<Fence>,
}

#[cfg(test)]
impl Fences {
    /// Those of a process without an election.
    pub(crate) fn open() -> Self {
        Self {
            leader: Fence::open(),
            member: None,
        }
    }
}

/// The observers of every call.
#[derive(Clone)]
pub(crate) struct Observers {
    pub(crate) calls: Calls,
    pub(crate) warnings: Warnings,
}

impl Clients {
    /// Builds the clients. None retries: the retries of a controller show in its metrics and back off.
    ///
    /// Calls write only if the fence permits it or [in every replica](fence::in_every_replica), and are
    /// aborted after `margin` without an acknowledgement by the network. With shards, `member` is the fence of
    /// this replica's share.
    pub(crate) fn new(
        mut config: Config,
        metrics: &Metrics,
        Fences {
            leader: fence,
            member,
        }: &Fences,
        margin: Duration,
    ) -> Result<Self, Error> {
        let observers = Observers {
            calls: metrics.calls(&host(&config.cluster_url)),
            warnings: Warnings::default(),
        };
        config.connect_timeout = Some(CONNECT);
        config.write_timeout = Some(CALL);
        config.default_retry = false;
        config.read_timeout = Some(WATCH);
        let watches = || {
            let client = watches::client(config.clone(), &observers.calls);
            client.map(limit::limited).map_err(Error::Client)
        };
        let (watches, lease) = (watches()?, watches()?);
        config.read_timeout = Some(CALL);
        let client = |fence: &Fence| {
            let client = fence::client(config.clone(), observers.clone(), fence, margin);
            client.map_err(Error::Client)
        };
        let unfenced = client(&Fence::open())?;
        let calls = match fence.is_always_open() {
            true => unfenced.clone(),
            false => {
                let sharded = member.as_ref().map(client).transpose()?;
                fence::either(client(fence)?, unfenced.clone(), sharded)
            }
        };
        Ok(Self {
            calls,
            unfenced,
            watches,
            lease,
        })
    }

    /// Applies `through` to all clients.
    pub(crate) fn map(self, through: impl Fn(Client) -> Client) -> Self {
        Self {
            calls: through(self.calls),
            unfenced: through(self.unfenced),
            watches: through(self.watches),
            lease: through(self.lease),
        }
    }
}

/// The configuration from `kubeconfig`, or kubectl's or the pod's default.
pub(crate) async fn config(kubeconfig: Option<&Path>) -> Result<Config, Error> {
    crypto::provider();
    let mut config = match kubeconfig {
        None => Config::infer().await.map_err(Error::InferConfig)?,
        Some(path) => {
            let error = |error| Error::Kubeconfig(path.display().to_string(), error);
            let kubeconfig = Kubeconfig::read_from(path).map_err(error)?;
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
            config.map_err(error)?
        }
    };
    // kube checks NO_PROXY against the proxy's own address. A proxy in the kubeconfig stays.
    let variable = |names: [&str; 2]| names.into_iter().find_map(|name| env::var(name).ok());
    let proxy: Option<Uri> =
        variable(["HTTPS_PROXY", "https_proxy"]).and_then(|uri| uri.parse().ok());
    let exempt = variable(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    if config.proxy_url == proxy && is_exempt(&config.cluster_url, &exempt) {
        config.proxy_url = None;
    }
    Ok(config)
}

/// Whether a `NO_PROXY` list matches the API server.
fn is_exempt(server: &Uri, exempt: &str) -> bool {
    let proxy = Matcher::builder().all("http://proxy.invalid").no(exempt);
    proxy.build().intercept(server).is_none()
}

/// The namespace of this process' pod, if it runs in one.
pub(crate) fn pod_namespace() -> Option<String> {
    let name = fs::read_to_string(NAMESPACE_FILE).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The host and port of the API server.
fn host(server: &Uri) -> String {
    let port = match server.scheme_str() {
        Some("http") => 80,
        _ => 443,
    };
    let host = server.host().unwrap_or_default();
    format!("{host}:{}", server.port_u16().unwrap_or(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_servers_need_no_proxy() {
        let cases = [
            ("https://127.0.0.1:6443", "localhost,127.0.0.1", true),
            ("https://10.1.2.3", "example.com, 10.0.0.0/8", true),
            ("https://api.example.com:6443", ".example.com", true),
            ("https://api.example.com:6443", "*", true),
            (
                "https://api.example.com",
                "other.example.com,10.0.0.0/8",
                false,
            ),
            ("https://api.example.com", "", false),
        ];
        for (server, exempt, expected) in cases {
            let found = is_exempt(&server.parse().unwrap(), exempt);
            assert_eq!(found, expected, "{server} {exempt}");
        }
    }

    #[test]
    fn hosts_have_a_port() {
        let cases = [
            ("https://10.0.0.1:6443/path", "10.0.0.1:6443"),
            ("https://example.com", "example.com:443"),
            ("http://localhost", "localhost:80"),
            ("https://[::1]:443", "[::1]:443"),
        ];
        for (server, expected) in cases {
            assert_eq!(host(&server.parse().unwrap()), expected);
        }
    }
}
