// SPDX-License-Identifier: Apache-2.0

use kube::ResourceExt as _;
use kube::api::PostParams;
use operator_runtime::envtest::{sample, wait_for};

use caches::api::r#type::automation::Automation;
use caches::controllers::r#type::automation::READY;

use crate::cluster;

/// The role runs for the sample. Nothing runs Pods here, so tasks that wait for some fail.
#[tokio::test]
async fn runs() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Automation>()?;
    let object: Automation = sample("config/samples")?;
    let params = PostParams::default();
    api.create(&params, &object).await?;
    wait_for(&api, &object.name_any(), READY).await?;
    // RBAC refused no call, because `make manifests` finds them in the tasks.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
