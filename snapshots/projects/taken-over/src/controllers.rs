// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_helm::Releases;
use operator_runtime::{Controllers, Manager};

use crate::Context;

pub mod cache {
    pub mod memcached;
}

pub mod edge_example_org {
    pub mod proxy;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(cache::memcached::controller());
    all.add(edge_example_org::proxy::controller());
    all
}

/// The releases of the charts.
#[rustfmt::skip]
pub fn releases(manager: &Manager) -> Releases {
    let mut releases = Releases::new(manager);
    releases.add::<crate::api::cache::memcached::Memcached>(manager, cache::memcached::NAME, &cache::memcached::CHART);
    releases.add::<crate::api::edge_example_org::proxy::Proxy>(manager, edge_example_org::proxy::NAME, &edge_example_org::proxy::CHART);
    releases
}
