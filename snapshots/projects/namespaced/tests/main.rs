//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

use std::sync::LazyLock;

use operator_runtime::envtest::Cluster;
use tenant_operator::{Context, OPTIONS, api};

mod controllers {
    mod batch {
        mod job;
    }
    mod cache {
        mod memcached;
    }
}

/// The cluster and the operator of all tests, started by the first of them.
fn cluster() -> anyhow::Result<&'static Cluster> {
    static CLUSTER: LazyLock<anyhow::Result<Cluster>> = LazyLock::new(|| {
        let controllers = tenant_operator::controllers::all();
        let webhooks = tenant_operator::webhooks::all();
        Cluster::with_operator(&OPTIONS, api::crds(), controllers, webhooks, Context::new)
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}
