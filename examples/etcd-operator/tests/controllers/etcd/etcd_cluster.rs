use std::time::Duration;

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use operator_runtime::envtest::eventually;
use serde_json::json;

use etcd_operator::api::etcd::etcd_cluster::EtcdCluster;

use crate::cluster;

fn etcd_cluster(name: &str, size: i32) -> EtcdCluster {
    serde_json::from_value(json!({
        "metadata": { "name": name },
        "spec": { "size": size, "version": "3.6.10", "storage": {} },
    }))
    .unwrap()
}

/// The operator prepares the first member and waits for it. No node runs it here: `tests/etcd` of the
/// repository has one.
#[tokio::test]
async fn prepares_the_first_member() -> anyhow::Result<()> {
    let cluster = cluster()?;
    let api = cluster.api::<EtcdCluster>()?;
    let params = PostParams::default();
    api.create(&params, &etcd_cluster("first", 3)).await?;
    let pods: Api<Pod> = cluster.api()?;
    let patience = Duration::from_secs(20);
    let first = eventually(patience, async || Ok(pods.get("first-0").await?)).await?;
    let secrets: Api<Secret> = cluster.api()?;
    for name in ["first-ca", "first-client", "first-0"] {
        assert!(secrets.get_opt(name).await?.is_some(), "{name}");
    }
    let services: Api<Service> = cluster.api()?;
    for name in ["first", "first-client"] {
        assert!(services.get_opt(name).await?.is_some(), "{name}");
    }
    assert!(
        cluster
            .api::<PersistentVolumeClaim>()?
            .get_opt("first-0")
            .await?
            .is_some()
    );
    assert!(
        cluster
            .api::<PodDisruptionBudget>()?
            .get_opt("first")
            .await?
            .is_some()
    );
    // The Pod is created again if it is deleted, and nothing else is.
    pods.delete("first-0", &DeleteParams::default().grace_period(0))
        .await?;
    eventually(patience, async || {
        let pod = pods.get("first-0").await?;
        anyhow::ensure!(
            pod.metadata.uid != first.metadata.uid,
            "the Pod is still there"
        );
        Ok(())
    })
    .await?;
    // RBAC refused no call, because `controller()` declares all of them.
    assert_eq!(cluster.operator()?.refused(), Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn the_schema_refuses_what_etcd_would() -> anyhow::Result<()> {
    let api = cluster()?.api::<EtcdCluster>()?;
    let params = PostParams::default();
    let refusal = async |object: EtcdCluster| match api.create(&params, &object).await {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    assert!(
        refusal(etcd_cluster("even", 2))
            .await
            .contains("size must be odd")
    );
    let long = "a".repeat(41);
    assert!(
        refusal(etcd_cluster(&long, 1))
            .await
            .contains("DNS label of at most 40")
    );
    assert!(
        refusal(etcd_cluster("a-client", 1))
            .await
            .contains("does not end with -client")
    );
    let mut short = etcd_cluster("short", 1);
    short.spec.tls = Some(serde_json::from_value(json!({ "validity": "59m" }))?);
    assert!(refusal(short).await.contains("an hour or more"));
    assert_eq!(refusal(etcd_cluster("versions", 1)).await, "");
    let status = Patch::Merge(json!({ "status": { "version": "3.6.11" } }));
    for (version, is_refused) in [
        // No member has answered yet.
        ("3.8.0", false),
        ("3.6.10", false),
        ("3.6.9", true),
        ("3.5.20", true),
        ("3.8.0", true),
        ("3.6.11", false),
        ("3.7.1", false),
        ("3.8.0", true),
        // A member still runs 3.6.11.
        ("3.6.10", true),
        ("3.7.0", false),
        ("3.6.11", false),
    ] {
        if version == "3.6.9" {
            api.patch_status("versions", &PatchParams::default(), &status)
                .await?;
        }
        let patch = Patch::Merge(json!({ "spec": { "version": version } }));
        let result = api.patch("versions", &PatchParams::default(), &patch).await;
        match result {
            Ok(_) if !is_refused => {}
            Err(error) if is_refused && error.to_string().contains("version must be at most") => {}
            result => panic!("{version}: {result:?}"),
        }
    }
    for (storage, expected) in [
        (json!({ "size": "1Gi" }), "size cannot shrink"),
        (json!({ "size": "3Gi" }), ""),
    ] {
        let patch = Patch::Merge(json!({ "spec": { "storage": storage } }));
        let refused = api
            .patch("versions", &PatchParams::default(), &patch)
            .await
            .err();
        let text = refused.map_or(String::new(), |error| error.to_string());
        assert!(
            text.contains(expected) && text.is_empty() == expected.is_empty(),
            "{text}"
        );
    }
    Ok(())
}
