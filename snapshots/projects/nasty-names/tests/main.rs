// SPDX-License-Identifier: Apache-2.0

//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

use std::sync::LazyLock;

use core_operator::{Context, OPTIONS, api};
use operator_runtime::envtest::Cluster;

mod controllers {
    mod a_b_c {
        mod controller;
        mod error;
    }
    mod r#async {
        mod client;
        mod context;
    }
    mod crate_ {
        mod crate_;
        mod self_;
    }
    mod gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa {
        mod ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc;
        mod kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
    }
    mod main {
        mod http_route;
        mod main;
    }
    mod self_ {
        mod api;
        mod condition;
    }
    mod r#type {
        mod option;
        mod result;
        mod string;
        mod r#type;
        mod vec;
    }
}

/// The cluster and the operator of all tests, started by the first of them.
fn cluster() -> anyhow::Result<&'static Cluster> {
    static CLUSTER: LazyLock<anyhow::Result<Cluster>> = LazyLock::new(|| {
        let controllers = core_operator::controllers::all();
        let webhooks = core_operator::webhooks::all();
        Cluster::with_operator(&OPTIONS, api::crds(), controllers, webhooks, Context::new)
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}
