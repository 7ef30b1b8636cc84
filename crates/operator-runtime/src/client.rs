//! Clients with bounds: kube's own wait without end for a server that does not answer.

pub(crate) mod discovery;
pub(crate) mod fence;
mod warnings;

use std::{fs, path::Path, time::Duration};

use http::Uri;
use kube::{
    Client, Config,
    client::ClientBuilder,
    config::{KubeConfigOptions, Kubeconfig},
};

pub use fence::NotLeading;
pub(crate) use warnings::Warnings;

use crate::{
    client::fence::Fence,
    error::Error,
    metrics::{Calls, Metrics},
};

/// Where a pod finds the namespace that it runs in.
pub(crate) const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

const CONNECT: Duration = Duration::from_secs(10);

/// How long a call may hear nothing from the API server, which itself gives up after 60 s.
const CALL: Duration = Duration::from_secs(65);

/// How long a watch may hear nothing: a little longer than the time after which each is begun anew.
const WATCH: Duration = Duration::from_secs(60);

/// Clients for calls and for watches: they differ in how long silence is normal.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) calls: Client,
    /// For calls of a replica that does not lead.
    pub(crate) unfenced: Client,
    pub(crate) watches: Client,
}

/// What looks at every call that is sent.
#[derive(Clone)]
pub(crate) struct Observers {
    pub(crate) calls: Calls,
    pub(crate) warnings: Warnings,
}

impl Clients {
    /// Neither retries by itself: the retries of a controller show in its metrics and back off.
    ///
    /// Calls change nothing but with the fence's permission, and are given up after `margin` without
    /// an acknowledgement by the network.
    pub(crate) fn new(
        mut config: Config,
        metrics: &Metrics,
        fence: &Fence,
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
        let watches = ClientBuilder::try_from(config.clone()).map_err(Error::Client)?;
        let watches = watches.with_layer(&observers.calls).build();
        config.read_timeout = Some(CALL);
        let client = |fence| fence::client(config.clone(), observers.clone(), fence, margin);
        let calls = client(fence).map_err(Error::Client)?;
        let unfenced = match fence.is_always_open() {
            true => calls.clone(),
            false => client(&Fence::open()).map_err(Error::Client)?,
        };
        Ok(Self {
            calls,
            unfenced,
            watches,
        })
    }

    /// All clients, each as `through` makes it.
    pub(crate) fn map(self, through: impl Fn(Client) -> Client) -> Self {
        Self {
            calls: through(self.calls),
            unfenced: through(self.unfenced),
            watches: through(self.watches),
        }
    }
}

/// The configuration in `kubeconfig`, or the one kubectl or a pod would use.
pub(crate) async fn config(kubeconfig: Option<&Path>) -> Result<Config, Error> {
    let Some(path) = kubeconfig else {
        return Config::infer().await.map_err(Error::InferConfig);
    };
    let error = |error| Error::Kubeconfig(path.display().to_string(), error);
    let kubeconfig = Kubeconfig::read_from(path).map_err(error)?;
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(error)
}

/// The namespace of the pod that this process runs in, if it does.
pub(crate) fn pod_namespace() -> Option<String> {
    let name = fs::read_to_string(NAMESPACE_FILE).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Host and port of the API server.
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
