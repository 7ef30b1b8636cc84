//! The manager: starts everything in order, and stops it in order.

use std::{collections::BTreeSet, io, net::SocketAddr, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kube::{Client, Config};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    Address, Controllers, Flags,
    client::{self, Clients},
    controller::{Definition, Environment},
    discovery,
    election::{Candidate, Election, ElectionError, Leadership},
    fence::Fence,
    logs,
    metrics::Metrics,
    object::Type,
    probes::{self, Readiness},
    stop,
};

/// What stays the same wherever the operator runs.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Unique in a cluster, such as `project.example.com`.
    pub name: &'static str,
    /// Where its permissions reach.
    pub scope: Scope,
}

/// Where an operator may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the whole cluster, by a ClusterRole; `WATCH_NAMESPACE` may restrict what it watches.
    Cluster,
    /// In the namespaces of `WATCH_NAMESPACE`, by a Role in each.
    Namespace,
}

/// Why an operator could not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    #[error(
        "`WATCH_NAMESPACE` is not set: this operator works in the namespaces that it names \
         (one, or several separated by commas)"
    )]
    NoNamespace,
    #[error("no Kubernetes configuration: give --kubeconfig or set KUBECONFIG")]
    InferConfig(#[source] kube::config::InferConfigError),
    #[error("cannot use kubeconfig `{0}`")]
    Kubeconfig(String, #[source] kube::config::KubeconfigError),
    #[error("cannot make a Kubernetes client")]
    Client(#[source] kube::Error),
    #[error("cannot listen on {1} for {0}")]
    Listen(&'static str, SocketAddr, #[source] io::Error),
    #[error("cannot handle signals")]
    Signals(#[source] io::Error),
    #[error("two controllers are named `{0}`")]
    SameName(&'static str),
    #[error(transparent)]
    Election(#[from] ElectionError),
    #[error("leader election lost")]
    Lost,
    #[error("{0} ended, which it never should")]
    Ended(String),
    #[error("reconciles still ran {} s after the stop", stop::GRACE.as_secs())]
    StopTimeout,
}

/// Runs controllers, with probes, metrics and a graceful stop.
pub struct Manager {
    health: Address,
    metrics_address: Address,
    readiness: Readiness,
    environment: Environment,
    candidate: Option<Candidate>,
    fence: Fence,
    parts: Vec<Part>,
}

/// A controller that has its context.
struct Part {
    name: &'static str,
    types: Vec<Type>,
    run: Box<dyn FnOnce(Environment) -> BoxFuture<'static, ()> + Send>,
}

impl Manager {
    /// Starts logging and makes the clients; call it first in `main`.
    ///
    /// # Errors
    /// If the flags leave open where the API server is, or which namespaces to watch.
    pub async fn new(settings: &Settings, flags: Flags) -> Result<Self, Error> {
        logs::init(flags.log_format);
        let config = client::config(flags.kubeconfig.as_deref()).await?;
        let candidate = flags.leader_election.candidate(settings.name)?;
        let namespaces = &flags.watch_namespace;
        let mut manager = Self::with_config(settings, config, namespaces, candidate)?;
        manager.health = flags.health_probe_bind_address;
        manager.metrics_address = flags.metrics_bind_address;
        Ok(manager)
    }

    pub(crate) fn with_config(
        settings: &Settings,
        config: Config,
        namespaces: &[String],
        candidate: Option<Candidate>,
    ) -> Result<Self, Error> {
        // Without this, TLS panics as soon as a dependency brings a second provider.
        _ = rustls::crypto::ring::default_provider().install_default();
        let (fence, margin) = match &candidate {
            Some(candidate) => (Fence::closed(), candidate.timing.margin()),
            None => (Fence::open(), Duration::MAX),
        };
        let environment = Environment {
            clients: Clients::new(config, &fence, margin)?,
            namespaces: watched(settings.scope, namespaces)?,
            metrics: Metrics::default(),
            stop: CancellationToken::new(),
        };
        Ok(Self {
            health: Address(None),
            metrics_address: Address(None),
            readiness: Readiness::default(),
            environment,
            candidate,
            fence,
            parts: Vec::new(),
        })
    }

    /// A client whose calls are bounded in time; clones are cheap.
    pub fn client(&self) -> Client {
        self.environment.clients.calls.clone()
    }

    /// Adds controllers, which share `context`.
    #[must_use]
    pub fn controllers<C>(mut self, controllers: Controllers<C>, context: C) -> Self
    where
        C: Send + Sync + 'static,
    {
        let context = Arc::new(context);
        let readiness = self.readiness.clone();
        let part = |controller: Definition<C>| {
            let context = context.clone();
            readiness.expect(controller.name);
            Part {
                name: controller.name,
                types: controller.types(),
                run: Box::new(move |environment| controller.run(context, environment)),
            }
        };
        self.parts
            .extend(controllers.into_vec().into_iter().map(part));
        self
    }

    /// Runs until SIGTERM or SIGINT, then lets running reconciles finish for up to 30 s.
    ///
    /// # Errors
    /// If something cannot start, or ends without having been asked to.
    pub async fn run(self) -> Result<(), Error> {
        stop::on_signals(self.environment.stop.clone()).map_err(Error::Signals)?;
        let result = self.run_until_stopped().await;
        if matches!(result, Err(Error::Lost)) {
            stop::end_after(stop::LOST);
        }
        result
    }

    pub(crate) async fn run_until_stopped(self) -> Result<(), Error> {
        let Environment { stop, metrics, .. } = &self.environment;
        let mut names = BTreeSet::new();
        if let Some(part) = self.parts.iter().find(|part| !names.insert(part.name)) {
            return Err(Error::SameName(part.name));
        }
        let mut servers = JoinSet::new();
        let probes = probes::router(self.readiness.clone());
        serve(&mut servers, "probes", self.health, probes).await?;
        serve(
            &mut servers,
            "metrics",
            self.metrics_address,
            metrics.router(),
        )
        .await?;

        let clients = &self.environment.clients;
        let start = |candidate| Election::start(clients.watches.clone(), candidate, self.fence);
        let election = self.candidate.map(start);
        let leadership = election
            .as_ref()
            .map_or_else(Leadership::always, Election::leadership);

        let mut controllers = JoinSet::new();
        for Part { name, types, run } in self.parts {
            let environment = self.environment.clone();
            let readiness = self.readiness.clone();
            let leadership = leadership.clone();
            controllers.spawn(async move {
                let stop = environment.stop.clone();
                let client = &environment.clients.calls;
                tokio::select! {
                    () = discovery::wait(client, name, &types) => {}
                    () = stop.cancelled() => return name,
                }
                readiness.pass(name);
                tokio::select! {
                    () = leadership.acquired() => {}
                    () = stop.cancelled() => return name,
                }
                run(environment).await;
                name
            });
        }
        let failed = tokio::select! {
            // Looked at first: after a stop, everything ends as it should.
            biased;
            () = stop.cancelled() => None,
            () = leadership.lost().cancelled() => return Err(Error::Lost),
            Some(end) = servers.join_next() => Some(end),
            Some(end) = controllers.join_next() => Some(end),
        };
        stop.cancel();
        let drain = async { while controllers.join_next().await.is_some() {} };
        let drained = tokio::select! {
            drained = timeout(stop::GRACE, drain) => drained,
            () = leadership.lost().cancelled() => return Err(Error::Lost),
        };
        // What still runs may change something: then the others wait until the lease expires.
        if let (Ok(()), Some(election)) = (&drained, election) {
            election.release().await;
        }
        match failed {
            Some(Ok(name)) => Err(Error::Ended(name.to_owned())),
            Some(Err(panic)) => Err(Error::Ended(format!("a task ({panic})"))),
            None => drained.map_err(|_| Error::StopTimeout),
        }
    }

    #[cfg(feature = "envtest")]
    pub(crate) fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    #[cfg(feature = "envtest")]
    pub(crate) fn stop(&self) -> CancellationToken {
        self.environment.stop.clone()
    }
}

/// The namespaces to watch, each once; `None` is all.
fn watched(scope: Scope, namespaces: &[String]) -> Result<Vec<Option<String>>, Error> {
    let names = namespaces
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty());
    let names: BTreeSet<&str> = names.collect();
    match scope {
        Scope::Namespace if names.is_empty() => Err(Error::NoNamespace),
        Scope::Cluster if names.is_empty() => Ok(vec![None]),
        _ => Ok(names
            .into_iter()
            .map(|name| Some(name.to_owned()))
            .collect()),
    }
}

async fn serve(
    servers: &mut JoinSet<&'static str>,
    name: &'static str,
    address: Address,
    router: axum::Router,
) -> Result<(), Error> {
    let Address(Some(address)) = address else {
        return Ok(());
    };
    let listener = bind(address)
        .await
        .map_err(|error| Error::Listen(name, address, error))?;
    tracing::info!(%address, "serving {name}");
    servers.spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "serving {name} failed");
        }
        name
    });
    Ok(())
}

/// Listens on `address`; all interfaces means those of IPv4 where there is no IPv6.
async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Err(error) if address.ip().is_unspecified() && error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind(("0.0.0.0", address.port()))
                .await
                .map_err(|_| error)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_to_watch() {
        let cases: [(Scope, &[&str], &str); 5] = [
            (Scope::Cluster, &[], "Some([None])"),
            (Scope::Cluster, &[""], "Some([None])"),
            (
                Scope::Cluster,
                &["b", " a", "b"],
                r#"Some([Some("a"), Some("b")])"#,
            ),
            (Scope::Namespace, &["a"], r#"Some([Some("a")])"#),
            (Scope::Namespace, &["", " "], "None"),
        ];
        for (scope, names, expected) in cases {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            let watched = format!("{:?}", watched(scope, &names).ok());
            assert_eq!(watched, expected, "{scope:?} {names:?}");
        }
    }
}
