//! The manager: starts everything in order, and stops it in order.

use std::{collections::BTreeSet, io, net::SocketAddr, sync::Arc};

use futures::future::BoxFuture;
use kube::{Client, Config};
use prometheus_client::registry::Registry;
use tokio::{task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    Controllers, Flags,
    client::{self, Clients},
    controller::{Definition, Environment},
    discovery,
    endpoints::Endpoints,
    logs,
    metrics::Metrics,
    object::Type,
    probes::Readiness,
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
    #[error("cannot listen on {1} for {0}: {2}")]
    Listen(&'static str, SocketAddr, io::Error),
    #[error("serving {0} failed: {1}")]
    Serve(&'static str, io::Error),
    #[error("cannot use the certificate: {0}")]
    Certificate(String),
    #[error("cannot make a certificate: {0}")]
    SelfSigned(String),
    #[error("cannot handle signals")]
    Signals(#[source] io::Error),
    #[error("two controllers are named `{0}`")]
    SameName(&'static str),
    #[error("{0} ended, which it never should")]
    Ended(String),
    #[error("reconciles still ran {} s after the stop", stop::GRACE.as_secs())]
    StopTimeout,
}

/// Runs controllers, with probes, metrics and a graceful stop.
pub struct Manager {
    endpoints: Endpoints,
    readiness: Readiness,
    environment: Environment,
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
        let endpoints = Endpoints::from(&flags);
        let config = client::config(flags.kubeconfig.as_deref()).await?;
        let mut manager = Self::with_config(settings, config, &flags.watch_namespace)?;
        manager.endpoints = endpoints;
        Ok(manager)
    }

    pub(crate) fn with_config(
        settings: &Settings,
        config: Config,
        namespaces: &[String],
    ) -> Result<Self, Error> {
        // Without this, TLS panics as soon as a dependency brings a second provider.
        _ = rustls::crypto::ring::default_provider().install_default();
        let metrics = Metrics::default();
        let environment = Environment {
            clients: Clients::new(config, &metrics)?,
            namespaces: watched(settings.scope, namespaces)?,
            metrics,
            stop: CancellationToken::new(),
        };
        Ok(Self {
            endpoints: Endpoints::default(),
            readiness: Readiness::default(),
            environment,
            parts: Vec::new(),
        })
    }

    /// A client whose calls are bounded in time; clones are cheap.
    pub fn client(&self) -> Client {
        self.environment.clients.calls.clone()
    }

    /// Registers metrics of your own, which are served beside those of the controllers:
    /// `manager.metrics(|registry| registry.register("widgets_made", "Widgets made", counter.clone()))`.
    pub fn metrics(&self, register: impl FnOnce(&mut Registry)) {
        self.environment.metrics.register(register);
    }

    /// Adds a check to `/readyz`. It is asked at each probe and must not block; what it fails with
    /// is shown to whoever asks.
    pub fn readiness_check(
        &self,
        name: &'static str,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.readiness.ask(name, check);
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
        self.run_until_stopped().await
    }

    pub(crate) async fn run_until_stopped(self) -> Result<(), Error> {
        let Environment {
            stop,
            metrics,
            clients,
            ..
        } = &self.environment;
        let mut names = BTreeSet::new();
        if let Some(part) = self.parts.iter().find(|part| !names.insert(part.name)) {
            return Err(Error::SameName(part.name));
        }
        // Answers probes and scrapes until the controllers have ended.
        let stop_servers = CancellationToken::new();
        let mut servers = JoinSet::new();
        let client = clients.calls.clone();
        let bound = self.endpoints.bind(self.readiness.clone(), metrics, client);
        for (server, router) in bound.await? {
            servers.spawn(server.run(router, stop_servers.clone()));
        }

        let mut controllers = JoinSet::new();
        for Part { name, types, run } in self.parts {
            let environment = self.environment.clone();
            let readiness = self.readiness.clone();
            controllers.spawn(async move {
                let stop = environment.stop.clone();
                let client = &environment.clients.calls;
                tokio::select! {
                    () = discovery::wait(client, name, &types, &readiness) => {}
                    () = stop.cancelled() => return name,
                }
                readiness.pass(name);
                run(environment).await;
                name
            });
        }
        let failed = tokio::select! {
            // Looked at first: after a stop, everything ends as it should.
            biased;
            () = stop.cancelled() => None,
            Some(end) = servers.join_next() => Some(match end {
                Ok(Err(error)) => error,
                Ok(Ok(())) => Error::Ended("a server".to_owned()),
                Err(panic) => Error::Ended(format!("a server ({panic})")),
            }),
            Some(end) = controllers.join_next() => Some(match end {
                Ok(name) => Error::Ended(name.to_owned()),
                Err(panic) => Error::Ended(format!("a task ({panic})")),
            }),
        };
        stop.cancel();
        let drain = async { while controllers.join_next().await.is_some() {} };
        let drained = timeout(stop::GRACE, drain).await;
        stop_servers.cancel();
        while servers.join_next().await.is_some() {}
        match failed {
            Some(error) => Err(error),
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
