//! An operator on a developer's machine, to which the cluster is redirected for a while.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube::api::{DeleteParams, PostParams};
use operator_runtime::envtest::{eventually, free_port};
use serde_json::Value;

use super::{
    cluster,
    site::{CRD, Site},
};
use crate::widget::{Widget, WidgetSpec};

/// The configurations, and the CRD if it is converted, without counters such as the generation.
fn objects(site: &Site, crd: bool) -> Result<Vec<Value>> {
    let [mutating, validating] = names(site);
    let mut objects = vec![
        ("mutatingwebhookconfiguration", mutating),
        ("validatingwebhookconfiguration", validating),
    ];
    if crd {
        objects.push(("crd", CRD.to_owned()));
    }
    let get = |(kind, name): (&str, String)| {
        let show = ["get", kind, &name, "-o", "json", "--show-managed-fields"];
        let mut object: Value = serde_json::from_str(&site.kubectl(&show, "")?)?;
        for field in ["resourceVersion", "generation"] {
            object["metadata"]
                .as_object_mut()
                .map(|metadata| metadata.remove(field));
        }
        Ok(object)
    };
    objects.into_iter().map(get).collect()
}

fn names(site: &Site) -> [String; 2] {
    ["mutating", "validating"].map(|kind| site.name(&format!("{kind}-webhook-configuration")))
}

fn redirected(site: &Site, crd: bool, port: u16) -> Result<bool> {
    let url = format!("https://localhost:{port}/");
    let objects = objects(site, crd)?;
    Ok(objects
        .iter()
        .all(|object| object.to_string().contains(&url)))
}

#[tokio::test]
async fn a_deployment_is_restored_byte_for_byte() -> Result<()> {
    let site = Site::new(cluster()?, "local")?.with_conversion().await?;
    // As with cert-manager, which would overwrite the caBundle.
    let [mutating, _] = names(&site);
    let inject = "cert-manager.io/inject-ca-from=local/serving";
    site.kubectl(
        &[
            "annotate",
            "mutatingwebhookconfiguration",
            &mutating,
            inject,
        ],
        "",
    )?;
    let before = objects(&site, true)?;

    for round in 0..2 {
        let port = free_port()?;
        let mut operator = site.local(&format!("run-{round}"), port)?;
        operator.ready().await?;
        ensure!(redirected(&site, true, port)?);
        let during = objects(&site, true)?;
        ensure!(
            !during[0]
                .to_string()
                .contains("cert-manager.io/inject-ca-from=\"")
        );
        ensure!(during[0]["metadata"]["annotations"]["cert-manager.io/inject-ca-from"].is_null());
        site.admitted().await?;
        operator.stop().await?;
        ensure!(
            objects(&site, true)? == before,
            "{:#?}\n{before:#?}",
            objects(&site, true)?
        );
    }

    // The next run restores the objects of a killed run.
    let port = free_port()?;
    let mut killed = site.local("killed", port)?;
    killed.ready().await?;
    drop(killed);
    ensure!(redirected(&site, true, port)?);
    let mut operator = site.local("next", free_port()?)?;
    operator.ready().await?;
    site.admitted().await?;
    operator.stop().await?;
    ensure!(
        objects(&site, true)? == before,
        "{:#?}\n{before:#?}",
        objects(&site, true)?
    );
    Ok(())
}

#[tokio::test]
async fn a_deployment_replaces_a_killed_run() -> Result<()> {
    let site = Site::new(cluster()?, "killed")?;
    let before = objects(&site, false)?;
    let port = free_port()?;
    let mut operator = site.local("a", port)?;
    operator.ready().await?;
    site.admitted().await?;
    drop(operator);
    ensure!(redirected(&site, false, port)?);

    site.apply(&site.manifests)?;
    let without_times = |objects: Vec<Value>| {
        let mut objects = Value::from(objects);
        for object in objects.as_array_mut().into_iter().flatten() {
            let entries = object["metadata"]["managedFields"].as_array_mut();
            for entry in entries.into_iter().flatten() {
                entry["time"].take();
            }
        }
        objects
    };
    let (after, before) = (without_times(objects(&site, false)?), without_times(before));
    ensure!(after == before, "{after:#}\n{before:#}");
    Ok(())
}

#[tokio::test]
async fn missing_configurations_are_created_and_deleted() -> Result<()> {
    let site = Site::new(cluster()?, "undeployed")?;
    let [mutating, validating] = names(&site);
    site.kubectl(&["delete", "mutatingwebhookconfiguration", &mutating], "")?;
    site.kubectl(
        &["delete", "validatingwebhookconfiguration", &validating],
        "",
    )?;

    let port = free_port()?;
    let mut operator = site.local("a", port)?;
    operator.ready().await?;
    ensure!(redirected(&site, false, port)?);
    site.admitted().await?;
    operator.stop().await?;
    ensure!(objects(&site, false).is_err(), "they are left");

    // The first deployment may follow a killed run.
    let mut operator = site.local("b", port)?;
    operator.ready().await?;
    drop(operator);
    ensure!(redirected(&site, false, port)?);
    site.apply(&site.manifests)?;
    let objects = Value::from(objects(&site, false)?).to_string();
    ensure!(
        !objects.contains("localhost") && !objects.contains("webhooks-from-here"),
        "{objects}"
    );
    Ok(())
}

#[tokio::test]
async fn objects_that_changed_meanwhile_stay() -> Result<()> {
    let site = Site::new(cluster()?, "foreign")?;
    let mut operator = site.local("a", free_port()?)?;
    operator.ready().await?;
    site.apply(&site.manifests)?;
    let deployed = objects(&site, false)?;
    operator.stop().await?;
    ensure!(objects(&site, false)? == deployed);
    Ok(())
}

/// Redirecting the CRD ends the watches of its objects, each time.
#[tokio::test]
async fn a_start_logs_no_warning() -> Result<()> {
    let site = Site::new(cluster()?, "calm")?.with_conversion().await?;
    let widgets = site.cluster.api::<Widget>()?;
    for round in 0..3 {
        let port = free_port()?;
        let mut operator = site.local_controller(&format!("run-{round}"), port)?;
        operator.ready().await?;
        ensure!(redirected(&site, true, port)?);
        // The watch has restarted when it shows new objects.
        let name = format!("calm-{round}");
        let widget = Widget::new(&name, WidgetSpec::default());
        eventually(Duration::from_secs(30), async || {
            match widgets.create(&PostParams::default(), &widget).await {
                Err(kube::Error::Api(status)) if status.is_already_exists() => {}
                result => drop(result?),
            }
            let seen = operator.log().contains(&format!("reconciled {name}"));
            ensure!(seen, "{}", operator.log());
            Ok(())
        })
        .await?;
        ensure!(!operator.log().contains(" WARN "), "{}", operator.log());
        operator.stop().await?;
        widgets.delete(&name, &DeleteParams::default()).await?;
    }
    Ok(())
}
