// SPDX-License-Identifier: MIT

//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

use std::sync::LazyLock;

use operator_runtime::envtest::Cluster;
use project_many::{Context, OPTIONS, api};

mod controllers {
    mod apps {
        mod deployment;
    }
    mod core {
        mod pod;
    }
    mod crew {
        mod admiral;
        mod captain;
        mod captain_backup;
        mod first_mate;
    }
    mod fiz {
        mod bar;
    }
    mod foo {
        mod bar;
    }
    mod foo_policy {
        mod health_check_policy;
    }
    mod sea_creatures {
        mod kraken;
    }
    mod ship {
        mod cruiser;
        mod frigate;
    }
    mod testproject_org {
        mod lakers;
    }
}

/// The cluster and the operator of all tests, started by the first of them.
fn cluster() -> anyhow::Result<&'static Cluster> {
    static CLUSTER: LazyLock<anyhow::Result<Cluster>> = LazyLock::new(|| {
        let controllers = project_many::controllers::all();
        let webhooks = project_many::webhooks::all();
        Cluster::with_operator(&OPTIONS, api::crds(), controllers, webhooks, Context::new)
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => anyhow::bail!("{error:#}"),
    }
}
