// SPDX-License-Identifier: Apache-2.0

//! The cluster of the integration tests, and functions that they share. Yours to edit.

use std::sync::LazyLock;

use operator_runtime::envtest::Cluster;

use caches::{Context, OPTIONS, api, controllers, webhooks};

/// The cluster and the operator that all tests share. The first test starts them.
pub fn cluster() -> anyhow::Result<&'static Cluster> {
    static CLUSTER: LazyLock<anyhow::Result<Cluster>> = LazyLock::new(|| {
        // `.with_roles("config/rbac/….yaml")?` adds permissions from a role of your own.
        let cluster = Cluster::start()?;
        let (controllers, webhooks) = (controllers::all(), webhooks::all());
        cluster.with_operator(&OPTIONS, api::crds(), controllers, webhooks, Context::new)
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}
