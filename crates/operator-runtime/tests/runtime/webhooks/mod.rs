//! Webhooks called by a real API server through TLS, with exactly the permissions of `make manifests`.

mod admission;
mod availability;
mod flags;
mod fuzz;
mod gadget;
mod hooks;
mod kubectl;
mod manifests;
mod parts;
mod reviews;
mod rollout;
mod rotation;
mod schema;
mod siege;

use std::{sync::LazyLock, thread, time::Duration};

use anyhow::{Result, anyhow, bail, ensure};
use operator_runtime::{
    Controllers, Manager, ManagerOptions, WatchScope,
    envtest::{Cluster, Operator},
};
use tokio::{
    runtime::Runtime,
    time::{Instant, sleep},
};

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "webhooks.example.com",
    scope: WatchScope::Cluster,
};

/// A control plane, in which [`operator`] runs.
fn cluster() -> Result<&'static Cluster> {
    site().map(|(cluster, _)| cluster)
}

/// The operator with the webhooks of [`hooks`].
fn operator() -> Result<&'static Operator> {
    site().map(|(_, operator)| operator)
}

fn site() -> Result<&'static (Cluster, Operator)> {
    static SITE: LazyLock<Result<(Cluster, Operator)>> = LazyLock::new(|| {
        let cluster = Cluster::start()?;
        // Objects from before the webhooks.
        thread::scope(|scope| {
            let store = || Runtime::new()?.block_on(gadget::store_undecodable(&cluster));
            let stored = scope.spawn(store).join();
            stored.map_err(|_| anyhow!("it panicked"))?
        })?;
        let (controllers, webhooks) = (Controllers::default(), hooks::webhooks());
        let mut crds = gadget::crds()?;
        crds.extend(schema::crds()?);
        let operator = cluster.run(
            &OPTIONS,
            anyhow::Ok(crds),
            controllers,
            webhooks,
            Manager::client,
        )?;
        Ok((cluster, operator))
    });
    match &*SITE {
        Ok(site) => Ok(site),
        Err(error) => bail!("{error:#}"),
    }
}

/// Waits until a condition holds, for up to 30 s.
async fn until(what: &str, so: impl AsyncFn() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !so().await? {
        let late = begin.elapsed() > Duration::from_secs(30);
        ensure!(!late, "not within 30 s: {what}");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
