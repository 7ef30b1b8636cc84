//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

use std::sync::LazyLock;

use operator_runtime::envtest::Cluster;
use project_cert_manager::{Context, OPTIONS, api};

mod controllers {
    mod ship {
        mod request;
    }
}

mod webhooks {
    mod ship {
        mod v1 {
            mod request {
                mod convert;
                mod validate;
            }
        }
    }
}

/// The cluster and the operator of all tests, started by the first of them.
fn cluster() -> anyhow::Result<&'static Cluster> {
    static CLUSTER: LazyLock<anyhow::Result<Cluster>> = LazyLock::new(|| {
        let controllers = project_cert_manager::controllers::all();
        let webhooks = project_cert_manager::webhooks::all();
        Cluster::with_operator(&OPTIONS, api::crds(), controllers, webhooks, Context::new)
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}
