//! Clients with bounds: kube's own wait without end for a server that does not answer.

use std::{path::Path, time::Duration};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::{
    fence::{self, Fence},
    manager::Error,
};

const CONNECT: Duration = Duration::from_secs(10);

/// How long a call may hear nothing from the API server, which itself gives up after 60 s.
const CALL: Duration = Duration::from_secs(65);

/// How long a watch may hear nothing: a little longer than the time after which each is begun anew.
const WATCH: Duration = Duration::from_secs(60);

/// A client for calls and one for watches: they differ in how long silence is normal.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) calls: Client,
    pub(crate) watches: Client,
}

impl Clients {
    /// Neither retries by itself: the retries of a controller show in its metrics and back off.
    ///
    /// Calls change nothing but with the fence's permission, and are given up after `margin` without
    /// an acknowledgement by the network.
    pub(crate) fn new(mut config: Config, fence: &Fence, margin: Duration) -> Result<Self, Error> {
        config.connect_timeout = Some(CONNECT);
        config.write_timeout = Some(CALL);
        config.default_retry = false;
        config.read_timeout = Some(WATCH);
        let watches = Client::try_from(config.clone()).map_err(Error::Client)?;
        config.read_timeout = Some(CALL);
        let calls = fence::client(config, fence, margin).map_err(Error::Client)?;
        Ok(Self { calls, watches })
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
