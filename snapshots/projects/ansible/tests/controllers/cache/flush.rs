// SPDX-License-Identifier: Apache-2.0

use kube::ResourceExt as _;
use kube::api::PostParams;
use operator_runtime::envtest::{sample, wait_for};

use caches::api::cache::flush::Flush;
use caches::controllers::cache::flush::READY;

use crate::cluster;

/// The playbook runs for the sample. Nothing runs Pods here, so tasks that wait for some fail.
#[tokio::test]
async fn runs() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Flush>()?;
    let flush: Flush = sample("config/samples")?;
    let params = PostParams::default();
    api.create(&params, &flush).await?;
    wait_for(&api, &flush.name_any(), READY).await?;
    // RBAC refused no call, because `make manifests` finds them in the tasks.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
