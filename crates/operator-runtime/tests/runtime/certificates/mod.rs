//! Certificates that operators issue themselves, against a real API server and with real processes, which
//! have exactly the permissions of generated projects.

mod audit;
mod client_ca;
mod load;
mod local;
mod manifests;
mod operator;
mod repair;
mod self_managed;
mod site;
mod tls;

use std::sync::LazyLock;

use anyhow::{Result, bail};
use operator_runtime::envtest::{Cluster, Options};

/// The cluster of all tests.
fn cluster() -> Result<&'static Cluster> {
    static CLUSTER: LazyLock<Result<Cluster>> = LazyLock::new(|| {
        Cluster::start_with(&Options {
            audit_policy: Some(audit::POLICY.to_owned()),
            ..Options::default()
        })
    });
    match &*CLUSTER {
        Ok(cluster) => Ok(cluster),
        Err(error) => bail!("{error:#}"),
    }
}

/// Not a test: the test binary runs itself as the operator.
#[test]
fn operator() {
    operator::main();
}
