//! The life of an object: what a role creates, changes and removes for it, and what its status says.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap, events::v1::Event};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use operator_ansible::Automation;
use operator_runtime::envtest::{Cluster, NAMESPACE, eventually};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::app::{self, App, LIMIT, Subject, automation, value};

const OTHER: &str = "kube-public";

#[tokio::test(flavor = "multi_thread")]
async fn a_role_runs_from_the_first_object_to_the_last() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(&cluster, automation())?;
    let sample = Subject::new(&cluster, "sample")?;
    sample
        .create(json!({ "size": 2, "replicaCount": 5, "message": "{{ 7 * 7 }}" }))
        .await?;
    sample.condition("Ready", "True", "").await?;

    // What the role made, by the variables of the spec. No template of the object was evaluated.
    let settings: ConfigMap = sample.has(NAMESPACE, "sample", |_| true).await?;
    ensure!(
        value(&settings, "message") == Some("{{ 7 * 7 }}"),
        "{settings:?}"
    );
    ensure!(value(&settings, "replicas") == Some("5"), "{settings:?}");
    let app = sample.apps().get("sample").await?;
    let deployment: Deployment = sample.has(NAMESPACE, "sample", |_| true).await?;
    let handled: ConfigMap = sample.has(NAMESPACE, "sample-handled", |_| true).await?;
    for metadata in [&settings.metadata, &deployment.metadata, &handled.metadata] {
        let owners = metadata.owner_references.iter().flatten();
        let owners: Vec<_> = owners.map(|it| Some(it.uid.clone())).collect();
        ensure!(owners == [app.metadata.uid.clone()], "{metadata:?}");
    }
    let outside: ConfigMap = sample.has(OTHER, "sample-outside", |_| true).await?;
    let annotations = outside.metadata.annotations.clone().unwrap_or_default();
    ensure!(
        annotations["operator-sdk/primary-resource"] == "default/sample",
        "{outside:?}"
    );
    ensure!(
        annotations["operator-sdk/primary-resource-type"] == "App.apps.example.com",
        "{outside:?}"
    );
    ensure!(outside.metadata.owner_references.is_none(), "{outside:?}");

    // The conditions of operator-sdk, and what the role wrote beside them.
    let running = sample
        .condition("Running", "True", "Awaiting next reconciliation")
        .await?;
    ensure!(running["reason"] == "Successful", "{running}");
    let counts = &running["ansibleResult"];
    ensure!(
        counts["failures"] == 0 && counts["changed"].as_i64() >= Some(4),
        "{counts}"
    );
    sample
        .condition("Successful", "True", "Last reconciliation succeeded")
        .await?;
    sample.condition("Failure", "False", "").await?;
    let status = sample.status().await?;
    ensure!(
        status["rescued"] == "this is rescued" && status["size"] == 2,
        "{status}"
    );

    // Nothing changes, so nothing runs and nobody writes.
    sleep(Duration::from_secs(3)).await;
    let before = sample.apps().get("sample").await?;
    sleep(Duration::from_secs(3)).await;
    let after = sample.apps().get("sample").await?;
    ensure!(before.metadata.resource_version == after.metadata.resource_version);

    // Drift of each of the kinds is corrected, also of an object in another namespace.
    let patch = Patch::Merge(json!({ "data": { "message": "drift" } }));
    let maps: Api<ConfigMap> = sample.api(NAMESPACE);
    maps.patch("sample", &PatchParams::default(), &patch)
        .await?;
    sample
        .has(NAMESPACE, "sample", |it: &ConfigMap| {
            value(it, "message") == Some("{{ 7 * 7 }}")
        })
        .await?;
    let deployments: Api<Deployment> = sample.api(NAMESPACE);
    deployments
        .delete("sample", &DeleteParams::default())
        .await?;
    sample
        .has(NAMESPACE, "sample", |it: &Deployment| {
            it.metadata.uid != deployment.metadata.uid
        })
        .await?;
    let others: Api<ConfigMap> = sample.api(OTHER);
    others
        .delete("sample-outside", &DeleteParams::default())
        .await?;
    sample
        .has::<ConfigMap>(OTHER, "sample-outside", |_| true)
        .await?;
    sample.condition("Ready", "True", "").await?;

    // Another spec.
    sample.change(json!({ "size": 3 })).await?;
    sample.condition("Ready", "True", "").await?;
    let scaled = |it: &Deployment| it.spec.replicas == Some(3);
    sample.has(NAMESPACE, "sample", scaled).await?;
    ensure!(sample.status().await?["rescued"] == "this is rescued");

    // The finalizer.
    sample.delete().await?;
    sample.lacks::<ConfigMap>(OTHER, "sample-outside").await?;
    sample.lacks::<App>(NAMESPACE, "sample").await?;
    operator.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_says_which_task_and_no_secret_leaves_the_run() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(&cluster, automation())?;
    let sample = Subject::new(&cluster, "sample")?;
    sample
        .create(json!({ "fail": true, "message": "regards", "password": "hunter2" }))
        .await?;
    let words = "the task `app : fail if asked to` failed: the object asks to fail, with regards";
    let ready = sample.condition("Ready", "False", words).await?;
    ensure!(ready["reason"] == "TaskFailed", "{ready}");
    let failure = sample
        .condition("Failure", "True", "the object asks to fail, with regards")
        .await?;
    ensure!(
        failure["reason"] == "Failed" && failure["ansibleResult"]["failures"] == 1,
        "{failure}"
    );
    // It is tried again, ever later.
    eventually(LIMIT, async || {
        let again = sample.condition("Failure", "True", "").await?;
        let completion = &again["ansibleResult"]["completion"];
        ensure!(
            *completion != failure["ansibleResult"]["completion"],
            "{again}"
        );
        Ok(())
    })
    .await?;

    sample
        .change(json!({ "fail": false, "fail_with_secret": true }))
        .await?;
    let ready = sample
        .condition("Ready", "False", "fail with a secret")
        .await?;
    ensure!(
        ready["message"]
            .as_str()
            .is_some_and(|it| it.contains("no_log")),
        "{ready}"
    );
    let status = sample.status().await?.to_string();
    ensure!(!status.contains("hunter2"), "{status}");
    let events: Api<Event> = sample.api(NAMESPACE);
    let events = events.list(&ListParams::default()).await?.items;
    let notes: Vec<_> = events.iter().filter_map(|it| it.note.as_deref()).collect();
    ensure!(notes.iter().any(|it| it.contains("failed")), "{notes:?}");
    ensure!(!notes.iter().any(|it| it.contains("hunter2")), "{notes:?}");

    sample.change(json!({ "fail_with_secret": null })).await?;
    sample.condition("Ready", "True", "").await?;
    sample.condition("Failure", "False", "").await?;
    operator.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_asks_to_run_again_and_a_period_ends() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = app::run(
        &cluster,
        automation().reconcile_period(Duration::from_secs(3)),
    )?;
    let again = async |of: &Subject| {
        let first = of.completion().await?;
        eventually(LIMIT, async || {
            let next = of.completion().await?;
            ensure!(next != first, "{next}");
            Ok(())
        })
        .await
    };
    let periodic = Subject::new(&cluster, "periodic")?;
    periodic.create(json!({})).await?;
    periodic.condition("Ready", "True", "").await?;
    again(&periodic).await?;
    // A run without a change writes the status once.
    let (mut versions, mut completions) = (BTreeSet::new(), BTreeSet::new());
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(10) || completions.len() < 3 {
        ensure!(begin.elapsed() < LIMIT, "{completions:?}");
        let found = periodic.apps().get("periodic").await?;
        versions.insert(found.metadata.resource_version);
        completions.insert(periodic.completion().await?);
        sleep(Duration::from_millis(20)).await;
    }
    ensure!(
        versions.len().abs_diff(completions.len()) <= 1,
        "{versions:?} {completions:?}"
    );
    let annotation = json!({ "ansible.sdk.operatorframework.io/reconcile-period": "soon" });
    let patch = Patch::Merge(json!({ "metadata": { "annotations": annotation } }));
    periodic
        .apps()
        .patch("periodic", &PatchParams::default(), &patch)
        .await?;
    periodic.condition("Ready", "False", "`soon`").await?;

    let asking = Subject::new(&cluster, "asking")?;
    asking.create(json!({ "again": "1h" })).await?;
    asking
        .condition("Ready", "False", "run again after 3600s")
        .await?;
    operator.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_managed_status_the_operator_writes_none() -> Result<()> {
    let cluster = Cluster::start()?;
    let automation = Automation::role("app").manage_status(false);
    let operator = app::run(&cluster, automation)?;
    let sample = Subject::new(&cluster, "sample")?;
    sample.create(json!({ "size": 1 })).await?;
    sample
        .has::<Deployment>(NAMESPACE, "sample", |_| true)
        .await?;
    eventually(LIMIT, async || {
        let status = sample.status().await?;
        ensure!(status["rescued"] == "this is rescued", "{status}");
        ensure!(status["conditions"] == Value::Null, "{status}");
        Ok(())
    })
    .await?;
    operator.stop()
}
