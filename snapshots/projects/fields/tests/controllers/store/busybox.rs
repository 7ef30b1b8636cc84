// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::{apps::v1 as apps, core::v1 as core, policy::v1 as policy};
use kube::api::{Patch, PatchParams, PostParams};
use operator_runtime::envtest::{eventually, wait_for};
use serde_json::json;

use cronjob::api::store::busybox::Busybox;
use cronjob::controllers::store::busybox::READY;

use crate::cluster;

const NAME: &str = "store-busybox";

/// The object is ready as soon as its Deployment is. The API server of the test runs no Pods, so the test writes the status of the
/// Deployment.
#[tokio::test]
async fn becomes_ready() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<Busybox>()?;
    // A minimal object that the CRD's schema allows. If CEL rules require more, write one by hand.
    let busybox = cluster.minimal_object(NAME).await?;
    let params = PostParams::default();
    api.create(&params, &busybox).await?;
    // The CRD allows only names that the other objects can have.
    let mut long = busybox;
    long.metadata.name = Some("a".repeat(64));
    let refused = api.create(&params, &long).await.unwrap_err().to_string();
    assert!(refused.contains("must be a DNS label"), "{refused}");

    let deployments = cluster.api::<apps::Deployment>()?;
    let deployment = eventually(Duration::from_secs(30), async || {
        let deployment = deployments.get_opt(NAME).await?;
        deployment.context("no Deployment")
    })
    .await?;
    let pod = deployment.spec.template.spec;
    let pod = pod.context("no Pod template")?;
    assert_eq!(pod.automount_service_account_token, Some(false));
    let container = &pod.containers[0];
    let resources = container.resources.clone().unwrap_or_default();
    assert!(resources.requests.is_some() && resources.limits.is_some());
    assert!(container.readiness_probe.is_some() && container.liveness_probe.is_some());
    let status = json!({ "status": {
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
    }});
    let params = PatchParams::default();
    let patch = Patch::Merge(status);
    deployments.patch_status(NAME, &params, &patch).await?;
    wait_for(&api, NAME, READY).await?;
    let budgets = cluster.api::<policy::PodDisruptionBudget>()?;
    budgets.get(NAME).await?;
    let service = cluster.api::<core::Service>()?.get(NAME).await?;
    let port = service.spec.and_then(|it| Some(it.ports?.first()?.port));
    assert_eq!(port, Some(8080));
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}
