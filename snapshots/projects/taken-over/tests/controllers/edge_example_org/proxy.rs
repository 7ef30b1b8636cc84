// SPDX-License-Identifier: Apache-2.0

use kube::ResourceExt as _;
use kube::api::PostParams;
use operator_helm::{RELEASED, SKIP_HOOKS};
use operator_runtime::envtest::{sample, wait_for};

use caches::api::edge_example_org::proxy::Proxy;

use crate::cluster;

/// The operator installs a release of the sample.
#[tokio::test]
async fn is_released() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Proxy>()?;
    let mut proxy: Proxy = sample("config/samples")?;
    // Nothing runs Jobs here, which hooks wait for.
    let annotations = proxy.annotations_mut();
    annotations.insert(SKIP_HOOKS.into(), "true".into());
    let params = PostParams::default();
    api.create(&params, &proxy).await?;
    // Nothing runs Pods either, so the objects are created, and need not become ready.
    wait_for(&api, &proxy.name_any(), RELEASED).await?;
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
