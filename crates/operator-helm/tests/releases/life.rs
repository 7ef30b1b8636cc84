//! The life of a release: installed, changed, corrected, refused, restarted, uninstalled.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
    rbac::v1::ClusterRole,
};
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use operator_runtime::envtest::{Cluster, eventually};
use serde_json::{Value, from_value, json};

use tokio::time::sleep;

use crate::web::{LIMIT, Look, Release, run};

fn message(config: &ConfigMap) -> Option<&str> {
    Some(config.data.as_ref()?.get("message")?.as_str())
}

fn replicas(set: &StatefulSet) -> Option<i32> {
    set.spec.replicas
}

#[tokio::test]
async fn a_release_follows_its_values() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run(&cluster)?;
    let release = Release::new(&cluster, "follows")?;
    release
        .create(json!({ "replicaCount": 2, "role": { "create": true } }))
        .await?;
    let status = release.is_at(1).await?;
    ensure!(status.history[0].chart == "web-1.2.3", "{status:?}");
    ensure!(
        status.history[0].app_version.as_deref() == Some("4.5"),
        "{status:?}"
    );
    ensure!(status.objects.len() == 5, "{status:?}");
    release.condition("Released", "True", "").await?;
    release
        .condition("Deployed", "True", "follows says hello.")
        .await?;
    release
        .has::<StatefulSet>("follows", |it| replicas(it) == Some(2))
        .await?;
    let config = |text: &'static str| move |it: &ConfigMap| message(it) == Some(text);
    release.has("follows-config", config("hello")).await?;
    release
        .cluster_api::<ClusterRole>()
        .get("default-follows")
        .await?;

    release
        .change(json!({ "message": "bye", "role": null }))
        .await?;
    let status = release.is_at(2).await?;
    let labels = ListParams::default().labels("owner=helm,name=follows");
    let revisions = release.api::<Secret>().list(&labels).await?;
    let shown = revisions.iter().map(|secret| {
        let status = &secret.labels()["status"];
        format!("{} {status}", secret.name_any())
    });
    let shown: Vec<_> = shown.collect();
    let expected = [
        "sh.helm.release.v1.follows.v1 superseded",
        "sh.helm.release.v1.follows.v2 deployed",
    ];
    ensure!(shown == expected, "{shown:?}");
    ensure!(
        status.history.len() == 2 && status.history[0].upgrade,
        "{status:?}"
    );
    release.has("follows-config", config("bye")).await?;
    // The chart's default is back, so the role is gone.
    let role = release
        .cluster_api::<ClusterRole>()
        .get_opt("default-follows")
        .await?;
    ensure!(role.is_none(), "{role:?}");

    release
        .change(json!({ "config": { "enabled": false } }))
        .await?;
    release.is_at(3).await?;
    release.lacks::<ConfigMap>("follows-config").await?;

    release.delete().await?;
    release.is_gone().await?;
    release.lacks::<StatefulSet>("follows").await?;
    release.lacks::<Service>("follows").await?;
    // It says `helm.sh/resource-policy: keep`.
    release.has::<Secret>("follows-kept", |_| true).await?;
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}

/// It has the chart's own values, and can be changed and deleted.
#[tokio::test]
async fn an_object_needs_no_spec() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run(&cluster)?;
    let release = Release::new(&cluster, "blank")?;
    release.create_without_spec().await?;
    release.is_at(1).await?;
    let config = |text: &'static str| move |it: &ConfigMap| message(it) == Some(text);
    release.has("blank-config", config("hello")).await?;
    release.change(json!({ "message": "bye" })).await?;
    release.is_at(2).await?;
    release.has("blank-config", config("bye")).await?;
    release.delete().await?;
    release.is_gone().await?;
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn what_others_change_is_corrected() -> Result<()> {
    let cluster = Cluster::start()?;
    let _operator = run(&cluster)?;
    let release = Release::new(&cluster, "drifts")?;
    release.create(json!({})).await?;
    release.is_at(1).await?;
    let edit = Patch::Merge(json!({ "spec": { "replicas": 7 } }));
    let params = PatchParams::default();
    release
        .api::<StatefulSet>()
        .patch("drifts", &params, &edit)
        .await?;
    release
        .has::<StatefulSet>("drifts", |it| replicas(it) == Some(1))
        .await?;
    release
        .condition("Drifted", "False", "StatefulSet drifts")
        .await?;
    let edit = Patch::Merge(json!({ "data": { "message": "mine" } }));
    release
        .api::<ConfigMap>()
        .patch("drifts-config", &params, &edit)
        .await?;
    release
        .has::<ConfigMap>("drifts-config", |it| message(it) == Some("hello"))
        .await?;
    // Without its marks, the watch no longer shows it.
    let edit = Patch::Merge(json!({ "metadata": { "labels": null } }));
    release
        .api::<Service>()
        .patch("drifts", &params, &edit)
        .await?;
    release
        .has::<Service>("drifts", |it| it.metadata.labels.is_some())
        .await?;
    let params = DeleteParams::default();
    release
        .api::<StatefulSet>()
        .delete("drifts", &params)
        .await?;
    release.api::<Service>().delete("drifts", &params).await?;
    release
        .api::<Secret>()
        .delete("drifts-kept", &params)
        .await?;
    release.has::<StatefulSet>("drifts", |_| true).await?;
    release.has::<Service>("drifts", |_| true).await?;
    release.has::<Secret>("drifts-kept", |_| true).await?;
    let status = release.is_at(1).await?;
    ensure!(status.history.len() == 1, "{status:?}");
    Ok(())
}

#[tokio::test]
async fn a_failure_says_why_and_changes_nothing() -> Result<()> {
    let cluster = Cluster::start()?;
    let _operator = run(&cluster)?;
    let release = Release::new(&cluster, "fails")?;
    // The schema of the CRD knows the types of the values.
    let wrong = release.create(json!({ "replicaCount": "abc" })).await;
    let wrong = wrong.map_err(|error| format!("{error:#}")).err();
    let is_named = wrong
        .as_ref()
        .is_some_and(|it| it.contains("spec.replicaCount"));
    ensure!(is_named, "{wrong:?}");
    // The template needs a message.
    release.create(json!({ "message": "" })).await?;
    let failed = release
        .condition("Released", "False", "a message is needed")
        .await?;
    ensure!(failed.reason == "RenderFailed", "{failed:?}");
    ensure!(
        failed.message.contains("web/templates/config.yaml"),
        "{failed:?}"
    );
    release
        .condition("Ready", "False", "a message is needed")
        .await?;
    release
        .condition("ReleaseFailed", "True", "a message is needed")
        .await?;
    release.condition("Irreconcilable", "True", "").await?;
    release.lacks::<Service>("fails").await?;

    release.change(json!({ "message": "hello" })).await?;
    let installed = release.is_at(1).await?;
    release.condition("ReleaseFailed", "False", "").await?;

    // The API server refuses the second of the objects that change: none is changed.
    release
        .change(json!({ "message": "bye", "replicaCount": -1 }))
        .await?;
    let failed = release
        .condition("Released", "False", "spec.replicas")
        .await?;
    // Scripts still read what is installed.
    release
        .condition("Deployed", "True", "fails says hello.")
        .await?;
    ensure!(failed.reason == "ObjectRefused", "{failed:?}");
    ensure!(
        failed.message.contains("web/templates/set.yaml"),
        "{failed:?}"
    );
    release
        .has::<ConfigMap>("fails-config", |it| message(it) == Some("hello"))
        .await?;
    let status = release.status().await?;
    ensure!(status.revision == installed.revision, "{status:?}");

    // The former values end the failure.
    release
        .change(json!({ "message": "hello", "replicaCount": 1 }))
        .await?;
    release.condition("Released", "True", "").await?;
    release.delete().await?;
    release.is_gone().await
}

#[tokio::test]
async fn an_object_of_others_is_not_taken() -> Result<()> {
    let cluster = Cluster::start()?;
    let _operator = run(&cluster)?;
    let release = Release::new(&cluster, "takes")?;
    let config: ConfigMap = from_value(json!({
        "metadata": { "name": "takes-config" },
        "data": { "message": "mine" },
    }))?;
    release
        .api()
        .create(&PostParams::default(), &config)
        .await?;
    release.create(json!({})).await?;
    let failed = release
        .condition("Released", "False", "ConfigMap takes-config exists")
        .await?;
    ensure!(failed.reason == "ObjectExists", "{failed:?}");
    release
        .has::<ConfigMap>("takes-config", |it| message(it) == Some("mine"))
        .await?;
    let annotation = json!({ "metadata": { "annotations": { "operator-helm/adopt": "true" } } });
    let (params, patch) = (PatchParams::default(), Patch::Merge(annotation));
    release
        .api::<crate::web::Web>()
        .patch("takes", &params, &patch)
        .await?;
    release.is_at(1).await?;
    release
        .has::<ConfigMap>("takes-config", |it| message(it) == Some("hello"))
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_password_is_made_once() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run(&cluster)?;
    let release = Release::new(&cluster, "secret")?;
    release
        .create(json!({ "password": { "create": true } }))
        .await?;
    release.is_at(1).await?;
    let password = release
        .has("secret-password", |_: &Secret| true)
        .await?
        .data;
    operator.stop()?;
    let operator = run(&cluster)?;
    let set = release.api::<StatefulSet>();
    set.delete("secret", &DeleteParams::default()).await?;
    release.has::<StatefulSet>("secret", |_| true).await?;
    let after = release
        .has("secret-password", |_: &Secret| true)
        .await?
        .data;
    ensure!(after == password, "a restart made another password");
    // A failed upgrade, and the former values again: what was installed is what is kept.
    release.change(json!({ "replicaCount": -1 })).await?;
    release
        .condition("Released", "False", "spec.replicas")
        .await?;
    release.change(json!({ "replicaCount": null })).await?;
    release.condition("Released", "True", "").await?;
    let after = release
        .has("secret-password", |_: &Secret| true)
        .await?
        .data;
    ensure!(after == password, "a failed upgrade made another password");
    release.change(json!({ "message": "bye" })).await?;
    release.is_at(2).await?;
    let after = release
        .has("secret-password", |_: &Secret| true)
        .await?
        .data;
    ensure!(after != password, "an upgrade renders the chart again");
    release.delete().await?;
    release.is_gone().await?;
    let secrets = release.api::<Secret>().list(&ListParams::default()).await?;
    let names: Vec<_> = secrets
        .items
        .iter()
        .filter_map(|it| it.metadata.name.as_deref())
        .collect();
    // Neither a rendering nor a revision of Helm is left.
    ensure!(names == ["secret-kept"], "{names:?}");
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}

/// The versions of all objects of a release.
async fn versions(release: &Release) -> Result<Vec<Value>> {
    let set = release.api::<StatefulSet>().get(release.name).await?;
    let service = release.api::<Service>().get(release.name).await?;
    let web = release.api::<crate::web::Web>().get(release.name).await?;
    let all = [&set.metadata, &service.metadata, &web.metadata];
    Ok(all
        .iter()
        .map(|meta| json!(meta.resource_version))
        .collect())
}

#[tokio::test]
async fn a_restart_changes_nothing() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run(&cluster)?;
    let release = Release::new(&cluster, "stays")?;
    release.create(json!({})).await?;
    release.is_at(1).await?;
    release
        .condition("Ready", "False", "StatefulSet stays")
        .await?;
    let before = versions(&release).await?;
    operator.stop()?;
    let _operator = run(&cluster)?;
    // A second release shows that the operator works again.
    let other = Release::new(&cluster, "other")?;
    other.create(json!({})).await?;
    other.is_at(1).await?;
    let after = versions(&release).await?;
    ensure!(after == before, "{before:?} {after:?}");

    let annotation = json!({ "metadata": { "annotations": { "operator-helm/paused": "true" } } });
    let (params, patch) = (PatchParams::default(), Patch::Merge(annotation));
    release
        .api::<crate::web::Web>()
        .patch("stays", &params, &patch)
        .await?;
    release.condition("Paused", "True", "").await?;
    release.change(json!({ "replicaCount": 3 })).await?;
    let on = json!({ "metadata": { "annotations": null } });
    let patch = Patch::Merge(on);
    release
        .has::<StatefulSet>("stays", |it| replicas(it) == Some(1))
        .await?;
    release
        .api::<crate::web::Web>()
        .patch("stays", &params, &patch)
        .await?;
    release
        .has::<StatefulSet>("stays", |it| replicas(it) == Some(3))
        .await?;
    eventually(LIMIT, async || {
        let status = release.status().await?;
        ensure!(
            status.conditions.iter().all(|it| it.type_ != "Paused"),
            "{status:?}"
        );
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_a_template_looks_up_is_followed() -> Result<()> {
    let cluster = Cluster::start()?;
    let operator = run(&cluster)?;
    let release = Release::new(&cluster, "looks")?;
    let look: Look = from_value(json!({
        "apiVersion": "charts.example.com/v1alpha1",
        "kind": "Look",
        "metadata": {
            "name": "looks",
            "annotations": { "helm.sdk.operatorframework.io/reconcile-period": "1s" },
        },
        "spec": {},
    }))?;
    release.api().create(&PostParams::default(), &look).await?;
    let holds = |key: &'static str, value: &'static str| {
        move |it: &ConfigMap| {
            let found = it.data.as_ref().and_then(|data| data.get(key));
            found.is_some_and(|it| it == value)
        }
    };
    release.has("looks-copy", holds("nothing", "found")).await?;
    release.has("looks-copy", holds("apis", "true")).await?;
    let source: ConfigMap = from_value(json!({
        "metadata": { "name": "source" },
        "data": { "key": "value" },
    }))?;
    release
        .api()
        .create(&PostParams::default(), &source)
        .await?;
    // At the earliest half a minute after the revision before.
    eventually(2 * LIMIT, async || {
        let copy = release.api::<ConfigMap>().get("looks-copy").await?;
        ensure!(holds("key", "value")(&copy), "{copy:?}");
        let look = release.api::<Look>().get("looks").await?;
        let status = look.status.unwrap_or_default();
        ensure!(status.revision == Some(2), "{status:?}");
        Ok(())
    })
    .await?;
    // Nobody asked for it to go. A reconcile comes each second.
    sleep(Duration::from_secs(3)).await;
    release.has::<ConfigMap>("looks-waits", |_| true).await?;
    ensure!(operator.refused() == Vec::<String>::new());
    Ok(())
}

/// Changes the metadata of a Web.
async fn annotate(release: &Release, metadata: Value) -> Result<()> {
    let (params, patch) = (
        PatchParams::default(),
        Patch::Merge(json!({ "metadata": metadata })),
    );
    let api = release.api::<crate::web::Web>();
    api.patch(release.name, &params, &patch).await?;
    Ok(())
}

#[tokio::test]
async fn annotations_say_what_else_is_wanted() -> Result<()> {
    let cluster = Cluster::start()?;
    let _operator = run(&cluster)?;
    let release = Release::new(&cluster, "asks")?;
    release.create(json!({})).await?;
    release.is_at(1).await?;
    let set = release.has::<StatefulSet>("asks", |_| true).await?;

    // The name of the Service is immutable.
    release.change(json!({ "serviceName": "other" })).await?;
    release
        .condition("Released", "False", "field is immutable")
        .await?;
    let force = "helm.sdk.operatorframework.io/upgrade-force";
    annotate(&release, json!({ "annotations": { force: "true" } })).await?;
    release.is_at(2).await?;
    let is_other = |it: &StatefulSet| it.metadata.uid != set.metadata.uid;
    release.has("asks", is_other).await?;

    annotate(
        &release,
        json!({ "annotations": { "operator-helm/skip-hooks": "true" } }),
    )
    .await?;
    release
        .change(json!({ "hook": { "enabled": true } }))
        .await?;
    release.is_at(3).await?;
    release.lacks::<Job>("asks-migrate").await?;

    // As operator-sdk leaves it.
    let finalizers = [
        "operator-helm/uninstall",
        "helm.sdk.operatorframework.io/uninstall-release",
    ];
    annotate(&release, json!({ "finalizers": finalizers })).await?;
    release.delete().await?;
    release.is_gone().await?;
    release.lacks::<StatefulSet>("asks").await
}
