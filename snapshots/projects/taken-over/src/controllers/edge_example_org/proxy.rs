// SPDX-License-Identifier: Apache-2.0

use std::sync::{Arc, LazyLock};

use k8s_openapi::api::core::v1::Secret;
use operator_helm::{Chart, Error, InstallsChart, Values};
use operator_runtime::{Action, Controller, ReadyCondition, Verb};

use crate::Context;
use crate::api::edge_example_org::proxy::Proxy;
use crate::charts;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "edge-example-org-proxy";

/// The condition that reports readiness: `True` when the objects of the release are ready.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// The chart. Its methods set what happens to the releases: with `with_rollback`, for example, a
/// failed upgrade goes back to the revision before.
pub static CHART: LazyLock<Chart> = LazyLock::new(charts::proxy);

/// Installs the chart. `make manifests` derives the permissions from what its templates can render.
///
/// Add `.needs::<Ingress>(&[…])` for a kind whose name a template takes from the values: get, list,
/// watch, create, patch and delete for one that it renders, get and list for one that it looks up.
pub fn controller() -> Controller<Proxy, Context> {
    Controller::new(NAME, reconcile)
        .condition(READY)
        .finalizer()
        // The Secrets of Helm say what the former operator installed. When every object has
        // `status.revision`, this line can go.
        .needs::<Secret>(&[Verb::List])
        .installs(&CHART)
}

/// Installs, upgrades or uninstalls the release of `proxy`. Runs after every change.
async fn reconcile(proxy: Arc<Proxy>, context: Arc<Context>) -> Result<Action, Error> {
    let values = values(&proxy);
    context.releases.reconcile(&*proxy, values).await
}

/// The values of the release: those of `spec`, and what the operator sets itself.
fn values(proxy: &Proxy) -> Values {
    proxy.spec.0.clone()
}

#[cfg(test)]
mod tests {
    use operator_runtime::envtest::sample;

    use super::*;

    /// The sample has the values that the chart requires.
    #[test]
    fn the_chart_renders() -> anyhow::Result<()> {
        let proxy = sample("config/samples")?;
        Ok(CHART.check(&values(&proxy))?)
    }
}
