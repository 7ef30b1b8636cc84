// SPDX-License-Identifier: Apache-2.0

//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

use std::sync::LazyLock;

use operator_runtime::envtest::Cluster;
use project_webhooks::{Context, OPTIONS, api};

mod controllers {
    mod cache {
        mod memcached;
    }
}

mod webhooks {
    mod cache {
        mod v1alpha1 {
            mod memcached {
                mod convert;
                mod default;
                mod validate;
            }
        }
        mod v2 {
            mod memcached {
                mod convert;
                mod validate;
            }
        }
    }
    mod core {
        mod v1 {
            mod pod {
                mod default;
                mod validate;
            }
        }
    }
}

/// The cluster and the operator of all tests, started by the first of them.
fn cluster() -> anyhow::Result<&'static Cluster> {
    static CLUSTER: LazyLock<anyhow::Result<Cluster>> = LazyLock::new(|| {
        let controllers = project_webhooks::controllers::all();
        let webhooks = project_webhooks::webhooks::all();
        Cluster::with_operator(&OPTIONS, api::crds(), controllers, webhooks, Context::new)
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}
