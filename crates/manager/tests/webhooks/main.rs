//! Webhooks, asked by a real API server through TLS, with the permissions that `make manifests`
//! writes and no more.
#![cfg(feature = "envtest")]

mod admission;
mod availability;
mod flags;
mod fuzz;
mod gadget;
mod kubectl;
mod manifests;
mod operator;
mod parts;
mod reviews;
mod rotation;

use std::{sync::LazyLock, time::Duration};

use anyhow::{Result, bail, ensure};
use manager::{Controllers, Manager, Scope, Settings, envtest::Cluster};
use tokio::time::{Instant, sleep};

const SETTINGS: Settings = Settings {
    name: "webhooks.example.com",
    scope: Scope::Cluster,
};

/// A control plane, and the operator of [`operator::webhooks`].
fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(|| {
        let controllers = Controllers::default();
        let webhooks = operator::webhooks();
        Cluster::with_operator(
            &SETTINGS,
            gadget::crds(),
            controllers,
            webhooks,
            Manager::client,
        )
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

/// Waits until something is so, for up to 30 s.
async fn until(what: &str, so: impl AsyncFn() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !so().await? {
        let late = begin.elapsed() > Duration::from_secs(30);
        ensure!(!late, "not within 30 s: {what}");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
