// SPDX-License-Identifier: Apache-2.0

use std::sync::{Arc, LazyLock};

use k8s_openapi::api::core::v1::Secret;
use operator_helm::{Chart, Error, InstallsChart, Values};
use operator_runtime::{Action, Controller, ReadyCondition, Verb, Watch};

use crate::Context;
use crate::api::cache::memcached::Memcached;
use crate::charts;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "cache-memcached";

/// The condition that reports readiness: `True` when the objects of the release are ready.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// The chart. Its methods set what happens to the releases: with `with_rollback`, for example, a
/// failed upgrade goes back to the revision before.
pub static CHART: LazyLock<Chart> = LazyLock::new(charts::memcached);

/// The labels of the objects that this operator sees.
const SELECTOR: &str = "tier=cache,environment notin (staging)";

/// Installs the chart. `make manifests` derives the permissions from what its templates can render.
///
/// Add `.needs::<Ingress>(&[…])` for a kind whose name a template takes from the values: get, list,
/// watch, create, patch and delete for one that it renders, get and list for one that it looks up.
pub fn controller() -> Controller<Memcached, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .finalizer()
        .primary_watch(Watch::new().labels(SELECTOR))
        // The Secrets of Helm say what the former operator installed. When every object has
        // `status.revision`, this line can go.
        .needs::<Secret>(&[Verb::List])
        .installs(&CHART)
}

/// Installs, upgrades or uninstalls the release of `memcached`. Runs after every change.
async fn reconcile(memcached: Arc<Memcached>, context: Arc<Context>) -> Result<Action, Error> {
    let values = values(&memcached);
    context.releases.reconcile(&*memcached, values).await
}

/// The values of the release: those of `spec`, and what the operator sets itself.
fn values(memcached: &Memcached) -> Values {
    let mut values = memcached.spec.0.clone();
    values.set(
        "exporter.image.repository",
        format!(
            "{}/memcached-exporter:{}",
            env_or_empty("EXPORTER_REGISTRY"),
            env_or_empty("EXPORTER_TAG")
        ),
    );
    values.set("image.repository", env_or_empty("RELATED_IMAGE_MEMCACHED"));
    values.set("nodeSelector.kubernetes\\.io/os", "linux");
    values
}

/// An environment variable of the manager; empty if it is not set.
fn env_or_empty(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use operator_runtime::envtest::sample;

    use super::*;

    /// The sample has the values that the chart requires.
    #[test]
    fn the_chart_renders() -> anyhow::Result<()> {
        let memcached = sample("config/samples")?;
        Ok(CHART.check(&values(&memcached))?)
    }
}
