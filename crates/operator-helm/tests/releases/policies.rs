//! What a chart asks for beyond the defaults: rollbacks, and newer CRDs.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::{
    api::{
        admissionregistration::v1::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding},
        apps::v1::StatefulSet,
        batch::v1::Job,
        core::v1::{ConfigMap, Event},
        rbac::v1::ClusterRole,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use operator_runtime::envtest::{Cluster, eventually};
use serde_json::{from_value, json};

use crate::{
    hooks::end,
    web::{LIMIT, Release, Web, careful, run_with},
};

fn says(text: &'static str) -> impl Fn(&ConfigMap) -> bool {
    move |it| it.data.as_ref().is_some_and(|data| data["message"] == text)
}

#[tokio::test]
async fn an_upgrade_that_fails_is_rolled_back() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run_with(&cluster, careful())?;
    let release = Release::new(&cluster, "careful")?;
    release
        .create(json!({ "after": { "enabled": true } }))
        .await?;
    release.is_at(1).await?;

    let bad = json!({ "message": "bad", "role": { "create": true } });
    release.change(bad).await?;
    release
        .has::<ConfigMap>("careful-config", says("bad"))
        .await?;
    let jobs: Api<Job> = release.api();
    release.has::<Job>("careful-after", |_| true).await?;
    end(&jobs, "careful-after", "Failed").await?;
    let failed = release
        .condition("Released", "False", "revision 1 is installed again")
        .await?;
    ensure!(
        failed.reason == "RolledBack" && failed.message.contains("it ended"),
        "{failed:?}"
    );
    release
        .has::<ConfigMap>("careful-config", says("hello"))
        .await?;
    let roles = release.cluster_api::<ClusterRole>();
    let role = roles.get_opt("default-careful").await?;
    ensure!(role.is_none(), "{role:?}");
    eventually(LIMIT, async || {
        let events = release.api::<Event>().list(&ListParams::default()).await?;
        let mut reasons = events
            .iter()
            .map(|it| (it.reason.as_deref(), it.type_.as_deref()));
        ensure!(reasons.any(|it| it == (Some("RolledBack"), Some("Warning"))));
        Ok(())
    })
    .await?;

    // It is not tried again, also not by another process, and what others change is corrected.
    drop(operator);
    let operator = run_with(&cluster, careful())?;
    let edit = Patch::Merge(json!({ "data": { "message": "mine" } }));
    let configs = release.api::<ConfigMap>();
    configs
        .patch("careful-config", &PatchParams::default(), &edit)
        .await?;
    release
        .has::<ConfigMap>("careful-config", says("hello"))
        .await?;
    let status = release.status().await?;
    ensure!(status.revision == Some(1), "{status:?}");
    release.condition("Released", "False", "it ended").await?;

    // The former values, and better ones.
    release
        .change(json!({ "message": null, "role": null }))
        .await?;
    release.condition("Released", "True", "").await?;
    release.is_at(1).await?;
    release
        .change(json!({ "message": "good", "after": { "enabled": false } }))
        .await?;
    release.is_at(3).await?;
    release
        .has::<ConfigMap>("careful-config", says("good"))
        .await?;
    release.delete().await?;
    release.is_gone().await?;
    release.lacks::<ConfigMap>("careful-config").await?;
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}

/// Lets the API server refuse the ConfigMaps of a release that have the message of the chart.
async fn refuse_hello(release: &Release) -> Result<()> {
    let name = json!({ "name": "no-hello" });
    let rule = json!({
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
    });
    let policy: ValidatingAdmissionPolicy = from_value(json!({
        "metadata": name,
        "spec": {
            "matchConstraints": { "resourceRules": [rule] },
            "validations": [{ "expression": "!has(object.data) || !('message' in object.data) || object.data.message != 'hello'" }],
        },
    }))?;
    let binding: ValidatingAdmissionPolicyBinding = from_value(json!({
        "metadata": name,
        "spec": { "policyName": "no-hello", "validationActions": ["Deny"] },
    }))?;
    let params = PostParams::default();
    release.cluster_api().create(&params, &policy).await?;
    release.cluster_api().create(&params, &binding).await?;
    let hello: ConfigMap =
        from_value(json!({ "metadata": { "name": "tried" }, "data": { "message": "hello" } }))?;
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    eventually(LIMIT, async || {
        let tried = release.api::<ConfigMap>().create(&dry, &hello).await;
        ensure!(tried.is_err(), "it is not refused yet");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_rollback_goes_past_what_is_refused() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run_with(&cluster, careful())?;
    let release = Release::new(&cluster, "past")?;
    release
        .create(json!({ "after": { "enabled": true } }))
        .await?;
    release.is_at(1).await?;
    release
        .change(json!({ "message": "bad", "replicaCount": 2 }))
        .await?;
    let jobs: Api<Job> = release.api();
    release.has::<Job>("past-after", |_| true).await?;
    refuse_hello(&release).await?;
    end(&jobs, "past-after", "Failed").await?;
    release.condition("Released", "False", "it ended").await?;
    // It comes after the ConfigMap.
    release
        .has::<StatefulSet>("past", |it| it.spec.replicas == Some(1))
        .await?;
    let ready = release.condition("Ready", "False", "no-hello").await?;
    ensure!(ready.reason == "ObjectRefused", "{ready:?}");
    release.has::<ConfigMap>("past-config", says("bad")).await?;
    let bindings = release.cluster_api::<ValidatingAdmissionPolicyBinding>();
    bindings.delete("no-hello", &Default::default()).await?;
    release
        .has::<ConfigMap>("past-config", says("hello"))
        .await?;
    release.condition("Released", "False", "it ended").await?;
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn what_a_failed_revision_keeps_is_kept() -> Result<()> {
    let cluster = Cluster::start()?;
    let _operator = run_with(&cluster, careful())?;
    let release = Release::new(&cluster, "keeps")?;
    release.create(json!({})).await?;
    release.is_at(1).await?;
    let owned = |it: &ConfigMap| it.metadata.owner_references.is_some();
    release.has::<ConfigMap>("keeps-config", owned).await?;
    // Its hook never ends.
    let kept = json!({ "config": { "keep": true }, "hook": { "enabled": true } });
    release.change(kept).await?;
    release.has::<Job>("keeps-migrate", |_| true).await?;
    let skip = json!({ "metadata": { "annotations": { "operator-helm/skip-hooks": "true" } } });
    let params = PatchParams::default();
    let webs = release.api::<Web>();
    webs.patch("keeps", &params, &Patch::Merge(skip)).await?;
    release.delete().await?;
    release.is_gone().await?;
    // Garbage collection deletes what has an owner that is gone.
    release
        .has::<ConfigMap>("keeps-config", |it| !owned(it))
        .await?;
    Ok(())
}

#[tokio::test]
async fn crds_are_upgraded_where_the_chart_asks_for_it() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run_with(&cluster, careful())?;
    let release = Release::new(&cluster, "defines")?;
    release.create(json!({})).await?;
    release.is_at(1).await?;
    let crds = release.cluster_api::<CustomResourceDefinition>();
    let has_new = async || {
        let crd = crds.get("things.example.com").await?;
        let schema = crd.spec.versions[0].schema.clone();
        let schema = schema.and_then(|it| it.open_api_v3_schema);
        let properties = schema.context("no schema")?.properties;
        anyhow::Ok(properties.is_some_and(|it| it.contains_key("new")))
    };
    ensure!(has_new().await?, "it is created");
    // As an older chart has it.
    let older = json!([{
        "op": "replace",
        "path": "/spec/versions/0/schema/openAPIV3Schema",
        "value": { "type": "object" },
    }]);
    let older = Patch::Json::<()>(serde_json::from_value(older)?);
    crds.patch("things.example.com", &PatchParams::default(), &older)
        .await?;
    ensure!(!has_new().await?);
    release.change(json!({ "message": "bye" })).await?;
    release.is_at(2).await?;
    ensure!(has_new().await?, "it is upgraded");
    release.delete().await?;
    release.is_gone().await?;
    ensure!(has_new().await?, "it stays");
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}
