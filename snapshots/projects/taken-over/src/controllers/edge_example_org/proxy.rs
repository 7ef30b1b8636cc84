// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use operator_helm::Error;
use operator_runtime::{Action, Controller, ReadyCondition, Verb};

use crate::Context;
use crate::api::edge_example_org::proxy::Proxy;
use crate::charts;

/// The name of this controller in logs, metrics and probes.
pub const NAME: &str = "edge-example-org-proxy";

/// The condition that reports readiness: `True` when the objects of the release are ready.
pub const READY: ReadyCondition = ReadyCondition::positive("Ready");

/// Installs the chart. `make manifests` derives the permissions from what its templates can render.
///
/// Add `.needs::<Ingress>(&[…])` for a kind whose name a template takes from the values: get, list,
/// watch, create, patch and delete for one that it renders, get and list for one that it looks up.
pub fn controller() -> Controller<Proxy, Context> {
    let controller = Controller::new(NAME, reconcile)
        .condition(READY)
        .finalizer()
        // The Secrets of Helm say what the former operator installed. When every object has
        // `status.revision`, this line can go.
        .needs::<Secret>(&[Verb::List]);
    charts::proxy().permissions(controller)
}

/// Installs, upgrades or uninstalls the release of `proxy`. Runs after every change.
async fn reconcile(proxy: Arc<Proxy>, context: Arc<Context>) -> Result<Action, Error> {
    context.releases.reconcile(NAME, &*proxy).await
}

#[cfg(test)]
mod tests {
    use operator_helm::Values;

    use super::*;

    #[test]
    fn the_chart_renders() -> Result<(), Error> {
        // Those that the chart requires: `values.set("image.tag", "1.0")`.
        let values = Values::default();
        charts::proxy().check(&values)
    }
}
