//! What runs read from memory, what operator-sdk left, and what roles report.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Resource as _, ResourceExt as _,
    api::{DeleteParams, PostParams},
};
use operator_ansible::Automation;
use operator_runtime::envtest::{Cluster, NAMESPACE, eventually};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    app::{self, LIMIT, Subject, value},
    process::Process,
};

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_what_is_watched_come_from_memory_with_the_writes_of_the_run() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(&cluster, Automation::role("reads"))?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({ "round": 0 })).await?;
    let mut hits = 0;
    // Each run reads what the one before wrote, and what it wrote itself, or it fails.
    for round in 1..=6 {
        sample.condition("Ready", "True", "").await?;
        let status = sample.status().await?;
        let expected = match round {
            1 => json!("none"),
            round => json!((round - 2).to_string()),
        };
        ensure!(status["known"] == expected, "{round}: {status}");
        hits += usize::from(status["before"] == "HIT");
        sample.change(json!({ "round": round })).await?;
    }
    // The watch begins in the first run, and is filled soon.
    ensure!(hits > 0, "no read came from memory");
    operator.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_changes_nothing_the_second_time() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(&cluster, Automation::role("one"))?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({ "size": 1 })).await?;
    for round in 0..4 {
        sample.condition("Ready", "True", "").await?;
        let status = sample.status().await?;
        let conditions = status["conditions"].as_array().into_iter().flatten();
        let results: Vec<_> = conditions
            .filter_map(|it| it["ansibleResult"]["changed"].as_u64())
            .collect();
        // Whether the ConfigMap is read from memory or not, it is as it was.
        ensure!(results == [u64::from(round == 0)], "{round}: {status}");
        sample.change(json!({ "size": 1, "round": round })).await?;
    }
    operator.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_operator_sdk_created_is_watched_from_the_first_run_on() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({ "size": 1 })).await?;
    let app = sample.apps().get("sample").await?;
    let owner = app.owner_ref(&()).context("an owner")?;
    let maps = sample.api::<ConfigMap>(NAMESPACE);
    let mut map: ConfigMap = serde_json::from_value(json!({
        "metadata": { "name": "sample", "namespace": NAMESPACE },
        "data": { "size": "1" },
    }))?;
    map.metadata.owner_references = Some(vec![owner]);
    maps.create(&PostParams::default(), &map).await?;

    // The role merges a patch that changes nothing.
    let operator = app::run(&cluster, Automation::role("one"))?;
    sample.condition("Ready", "True", "").await?;
    let found: ConfigMap = sample
        .has(NAMESPACE, "sample", |it: &ConfigMap| {
            it.labels().contains_key("operator-ansible/controller")
        })
        .await?;
    ensure!(value(&found, "size") == Some("1"), "{found:?}");
    // Nobody writes it again.
    sleep(Duration::from_secs(3)).await;
    let same = maps.get("sample").await?;
    ensure!(same.resource_version() == found.resource_version());
    // It is watched.
    maps.delete("sample", &DeleteParams::default()).await?;
    sample
        .has::<ConfigMap>(NAMESPACE, "sample", |_| true)
        .await?;
    operator.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_roles_report_is_among_the_metrics_of_the_operator() -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(app::crds()).await?;
    let place = tempfile::tempdir()?;
    let operator = Process::start(&cluster, place.path(), "metrics")?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({})).await?;
    sample.condition("Ready", "True", "").await?;
    let gvk = r#"GVK="apps.example.com/v1, Kind=App""#;
    eventually(LIMIT, async || {
        let text = operator.metrics()?;
        for line in [
            "# HELP apps_made Apps that were made",
            "apps_made 1.0",
            "apps_first 1.5",
            "apps_second 0.0",
            r#"apps_seconds_bucket{le="0.5"} 1"#,
            "apps_seconds_count 1",
            &format!("ansible_operator_reconcile_result{{{gvk},result=\"succeeded\"}} 1"),
            &format!("ansible_operator_reconciles_count{{{gvk}}} 1"),
        ] {
            let ours = text
                .lines()
                .filter(|it| it.contains("apps_") || it.contains("ansible_"));
            let ours: Vec<_> = ours.collect();
            ensure!(text.lines().any(|it| it == line), "{line}: {ours:#?}");
        }
        // A role cannot take a name of the operator.
        ensure!(!text.contains("Not mine"));
        Ok(())
    })
    .await
}
