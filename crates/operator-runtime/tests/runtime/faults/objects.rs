//! Objects that do not decode, and types that are deleted and come back.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::{
    api::events::v1::Event,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use operator_runtime::{Action, Controller, Controllers, ScopedResource};
use serde_json::{from_value, json};
use tokio::time::sleep;

use crate::faults::{
    journal::Journal,
    operator::{Operator, get, metric},
    site::{Site, cluster},
    table::row,
    until,
};

#[tokio::test]
async fn an_object_that_does_not_decode() -> Result<()> {
    let (site, journal) = (Site::new("undecodable").await?, Journal::default());
    site.create("bad", "many").await?;
    site.merge(
        "bad",
        json!({ "metadata": { "finalizers": ["test.example.com/kept"] } }),
    )
    .await?;
    let before = site.raw().get("bad").await?;
    let operator = Operator::run(&site, journal.controller("widgets")).await?;
    site.create("good", 1).await?;
    until("the others are reconciled", 20, async || {
        Ok(journal.count("good") > 0)
    })
    .await?;

    let events: Api<Event> = Api::namespaced(site.client.clone(), site.namespace);
    until("an event says so", 20, async || {
        let events = events.list(&Default::default()).await?;
        Ok(events.iter().any(|event| {
            let about = event
                .regarding
                .as_ref()
                .and_then(|about| about.name.as_deref());
            about == Some("bad")
                && event.type_.as_deref() == Some("Warning")
                && event.reason.as_deref() == Some("Undecodable")
                && event
                    .note
                    .as_ref()
                    .is_some_and(|note| note.contains("many"))
        }))
    })
    .await?;
    ensure!(metric(operator.metrics, "undecodable_objects_total", "widgets").await? == 1.0);
    ensure!(journal.count("bad") == 0, "it was reconciled");
    let after = site.raw().get("bad").await?;
    ensure!(
        after.resource_version() == before.resource_version(),
        "it was written"
    );
    site.resize("bad", 7).await?;
    let recovered = until(
        "it is reconciled",
        20,
        async || Ok(journal.count("bad") > 0),
    )
    .await?;
    row(
        "an object that does not decode",
        "event, metric, left alone, reconciled once repaired",
        recovered,
    );
    Ok(())
}

fn gadgets() -> Result<CustomResourceDefinition> {
    Ok(from_value(json!({
        "metadata": { "name": "gadgets.test.example.com" },
        "spec": {
            "group": "test.example.com",
            "names": { "kind": "Gadget", "plural": "gadgets", "singular": "gadget" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    }))?)
}

/// The type is known only at run time, and does not always exist.
#[tokio::test]
async fn a_crd_that_is_deleted_and_comes_back() -> Result<()> {
    let (site, journal) = (Site::new("crd").await?, Journal::default());
    let kind = GroupVersionKind::gvk("test.example.com", "v1", "Gadget");
    let resource = ApiResource::from_gvk(&kind);
    let noted = journal.clone();
    let mut controllers = Controllers::default();
    let note = move |gadget: Arc<DynamicObject>, _: Arc<()>| {
        noted.note(&*gadget);
        async { Ok::<_, kube::Error>(Action::await_change()) }
    };
    controllers.add(Controller::dynamic(
        "gadgets",
        ScopedResource::namespaced(resource.clone()),
        note,
    ));
    let operator = Operator::start(&site.kubeconfig, &[], controllers, |_| ()).await?;
    let readiness = async || get(operator.health, "/readyz").await.unwrap_or_default();
    until("readiness names the type", 20, async || {
        Ok(readiness()
            .await
            .contains("waiting for gadgets in test.example.com/v1"))
    })
    .await?;

    let gadgets_api: Api<DynamicObject> =
        Api::namespaced_with(site.client.clone(), site.namespace, &resource);
    let create = async |name: &str| {
        let gadget = DynamicObject::new(name, &resource);
        gadgets_api.create(&PostParams::default(), &gadget).await?;
        anyhow::Ok(())
    };
    cluster()?
        .install(Ok::<_, String>(vec![gadgets()?]))
        .await?;
    let recovered = until("it is ready", 20, async || {
        Ok(readiness().await.contains("200 OK"))
    })
    .await?;
    create("first").await?;
    until("it is reconciled", 20, async || {
        Ok(journal.count("first") == 1)
    })
    .await?;
    row(
        "a CRD that is not there yet",
        "readiness says which, found later",
        recovered,
    );

    let crds: Api<CustomResourceDefinition> = Api::all(site.client.clone());
    let name = gadgets()?.metadata.name.context("no name")?;
    crds.delete(&name, &DeleteParams::default()).await?;
    until("the CRD is gone", 30, async || {
        Ok(crds.get_opt(&name).await?.is_none())
    })
    .await?;
    let gone = std::time::Instant::now();
    sleep(Duration::from_secs(4)).await;
    let rate = site.gate.rate(gone);
    cluster()?
        .install(Ok::<_, String>(vec![gadgets()?]))
        .await?;
    create("second").await?;
    let recovered = until("it is reconciled", 60, async || {
        Ok(journal.count("second") > 0)
    })
    .await?;
    let happened =
        format!("at most {rate} requests per second while it was gone; new objects are reconciled");
    row("a CRD is deleted and comes back", &happened, recovered);
    ensure!(rate <= 4, "{rate} requests in one second");
    ensure!(operator.runs());
    Ok(())
}
