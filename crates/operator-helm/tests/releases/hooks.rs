//! Hooks run as Jobs, before and after the objects.

use anyhow::{Result, ensure};
use k8s_openapi::api::{batch::v1::Job, core::v1::Service};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use operator_runtime::envtest::Cluster;
use serde_json::json;

use crate::web::{Release, run};

/// Ends a Job, as its controller would.
pub async fn end(jobs: &Api<Job>, name: &str, type_: &str) -> Result<()> {
    let now = "2026-01-01T00:00:00Z";
    let condition = |type_: &str| {
        json!({
            "type": type_,
            "status": "True",
            "reason": "Tested",
            "message": "it ended",
            "lastProbeTime": now,
            "lastTransitionTime": now,
        })
    };
    let ends = match type_ {
        "Complete" => ["SuccessCriteriaMet", "Complete"],
        _ => ["FailureTarget", "Failed"],
    };
    let mut status =
        json!({ "startTime": now, "conditions": [condition(ends[0]), condition(ends[1])] });
    if type_ == "Complete" {
        status["completionTime"] = now.into();
        status["succeeded"] = 1.into();
    }
    let patch = Patch::Merge(json!({ "status": status }));
    jobs.patch_status(name, &PatchParams::default(), &patch)
        .await?;
    Ok(())
}

fn run_of(job: &Job) -> Option<&str> {
    let annotations = job.metadata.annotations.as_ref();
    annotations?.get("operator-helm/run").map(String::as_str)
}

#[tokio::test]
async fn hooks_run_before_the_objects() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run(&cluster)?;
    let release = Release::new(&cluster, "hooked")?;
    let jobs: Api<Job> = release.api();
    release
        .create(json!({ "hook": { "enabled": true } }))
        .await?;
    release
        .has("hooked-migrate", |job: &Job| {
            run_of(job) == Some("1/pre-install")
        })
        .await?;
    release
        .condition("Released", "False", "the hook Job hooked-migrate")
        .await?;
    release.lacks::<Service>("hooked").await?;
    end(&jobs, "hooked-migrate", "Complete").await?;
    release.is_at(1).await?;
    release.has::<Service>("hooked", |_| true).await?;

    release.change(json!({ "message": "bye" })).await?;
    let job = release
        .has("hooked-migrate", |job: &Job| {
            run_of(job) == Some("2/pre-upgrade")
        })
        .await?;
    end(&jobs, "hooked-migrate", "Failed").await?;
    let failed = release.condition("Released", "False", "it ended").await?;
    ensure!(failed.reason == "HookFailed", "{failed:?}");
    let same = jobs.get("hooked-migrate").await?;
    ensure!(
        same.metadata.uid == job.metadata.uid,
        "a failed hook runs once"
    );
    let status = release.status().await?;
    ensure!(status.revision == Some(1), "{status:?}");

    // Other values try again.
    let policy =
        json!({ "message": "hello again", "policy": "before-hook-creation,hook-succeeded" });
    release.change(policy).await?;
    release
        .has("hooked-migrate", |job: &Job| {
            run_of(job) == Some("3/pre-upgrade")
        })
        .await?;
    end(&jobs, "hooked-migrate", "Complete").await?;
    release.is_at(3).await?;
    release.lacks::<Job>("hooked-migrate").await?;

    release.delete().await?;
    release
        .has("hooked-migrate", |job: &Job| {
            run_of(job) == Some("3/pre-delete")
        })
        .await?;
    release.has::<Service>("hooked", |_| true).await?;
    end(&jobs, "hooked-migrate", "Complete").await?;
    release.is_gone().await?;
    release.lacks::<Service>("hooked").await?;
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}
