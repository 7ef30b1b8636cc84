//! The events of a controller: which objects, which changes, from where.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use kube::{
    Api, Client, ResourceExt,
    api::{ObjectMeta, PostParams},
    core::ApiResource,
};
use operator_runtime::{
    Action, Controller, Controllers, Index, ObjectRef, Predicate, ScopedResource, StoreOptions,
    Watch, envtest::free_port,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{from_value, json};

use crate::faults::{
    gate::Ask,
    journal::Journal,
    operator::{Operator, manager},
    site::Site,
    table::row,
    until,
};
use crate::widget::Widget;

/// A controller that only records, without a context.
fn noting(journal: &Journal, name: &'static str) -> Controller<Widget, ()> {
    let journal = journal.clone();
    Controller::new(name, move |widget: Arc<Widget>, _: Arc<()>| {
        journal.note(&*widget);
        async { Ok::<_, kube::Error>(Action::await_change()) }
    })
    .condition(name)
}

fn place(site: &Site) -> String {
    format!("--watch-namespace={}", site.namespace)
}

async fn create<K>(site: &Site, name: &str) -> Result<()>
where
    K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(site.client.clone(), site.namespace);
    let object = from_value(json!({ "metadata": { "name": name } }))?;
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}

#[tokio::test]
async fn controllers_share_a_watch_of_each_type_and_namespace() -> Result<()> {
    let (site, journal) = (Site::new("shared").await?, Journal::default());
    site.create("a", 1).await?;
    let mut controllers = Controllers::default();
    for name in ["first", "second", "third"] {
        controllers.add(journal.controller(name).owns::<ConfigMap>().condition(name));
    }
    let begin = Instant::now();
    let flags = ["--watch-namespace=shared,shared-2"];
    let _operator = Operator::start(&site.kubeconfig, &flags, controllers, |manager| {
        // A store of an owned type replaces its metadata, in the same watch.
        _ = manager.store::<ConfigMap>();
        manager.client()
    })
    .await?;
    site.settled(&journal, 20).await?;
    until("each reconciled it", 10, async || {
        Ok(journal.count("a") >= 3)
    })
    .await?;
    site.quiet().await?;
    for path in [
        "/apis/test.example.com/v1/namespaces/shared/widgets",
        "/apis/test.example.com/v1/namespaces/shared-2/widgets",
        "/api/v1/namespaces/shared/configmaps",
        "/api/v1/namespaces/shared-2/configmaps",
    ] {
        let watches = site
            .gate
            .count(begin, |ask: &Ask| ask.path == path && ask.is_watch());
        ensure!(watches == 1, "{watches} watches of {path}");
    }
    let watches = site.gate.count(begin, Ask::is_watch);
    ensure!(watches == 4, "{watches} watches");
    row(
        "three controllers, two types, two namespaces",
        "4 watches",
        begin.elapsed(),
    );
    Ok(())
}

#[tokio::test]
async fn selectors_and_predicates() -> Result<()> {
    let (site, all) = (Site::new("selectors").await?, Journal::default());
    let (labelled, named, changed, either) = <(Journal, Journal, Journal, Journal)>::default();
    let watch = Watch::new;
    let mut controllers = Controllers::default();
    controllers.add(noting(&all, "all"));
    controllers
        .add(noting(&labelled, "labelled").primary_watch(watch().labels("app=web,tier!=cache")));
    controllers.add(noting(&named, "named").primary_watch(watch().fields("metadata.name=web")));
    let generation = Predicate::generation;
    controllers.add(noting(&changed, "changed").primary_watch(watch().when(generation())));
    let predicate = generation().or(Predicate::labels());
    controllers.add(noting(&either, "either").primary_watch(watch().when(predicate)));
    let _operator =
        Operator::start(&site.kubeconfig, &[&place(&site)], controllers, |_| ()).await?;

    site.create_labelled("web", 1, json!({ "app": "web" }))
        .await?;
    site.create_labelled("cache", 1, json!({ "app": "web", "tier": "cache" }))
        .await?;
    let seen = async |what: &str, name: &str, counts: [usize; 5]| {
        let journals = [&all, &labelled, &named, &changed, &either];
        let now = || journals.map(|journal| journal.count(name));
        let enough = async || Ok(now().iter().zip(counts).all(|(now, least)| *now >= least));
        until(what, 20, enough).await?;
        site.quiet().await?;
        ensure!(now() == counts, "{what}: {:?} instead of {counts:?}", now());
        Ok(())
    };
    seen("created", "web", [1, 1, 1, 1, 1]).await?;
    seen("created", "cache", [1, 0, 0, 1, 1]).await?;
    site.merge(
        "web",
        json!({ "metadata": { "annotations": { "a": "b" } } }),
    )
    .await?;
    seen("annotated", "web", [2, 2, 2, 1, 1]).await?;
    site.merge("web", json!({ "metadata": { "labels": { "a": "b" } } }))
        .await?;
    seen("labelled", "web", [3, 3, 3, 1, 2]).await?;
    site.resize("web", 2).await?;
    seen("resized", "web", [4, 4, 4, 2, 3]).await?;
    site.merge(
        "web",
        json!({ "metadata": { "finalizers": ["test.example.com/f"] } }),
    )
    .await?;
    seen("a finalizer", "web", [5, 5, 5, 3, 4]).await?;
    // An object that no longer matches counts as deleted, so there is nothing to reconcile.
    site.merge(
        "web",
        json!({ "metadata": { "labels": { "app": "other" } } }),
    )
    .await?;
    seen("relabelled", "web", [6, 5, 6, 3, 5]).await?;
    Ok(())
}

#[tokio::test]
async fn events_from_other_objects_and_from_outside() -> Result<()> {
    let (site, journal) = (Site::new("events").await?, Journal::default());
    let of = |name: &str| ObjectRef::<Widget>::new(name).within("events");
    let prefix = move |name: &str| vec![of(name.split('.').next().unwrap_or_default())];
    let of_meta = move |meta: &ObjectMeta, _: &_| prefix(meta.name.as_deref().unwrap_or_default());
    let controller = noting(&journal, "widgets")
        .watches::<ConfigMap>(move |other| prefix(&other.name_any()))
        .watches_metadata(ScopedResource::of::<Secret>(), Watch::new(), of_meta)
        .watches_dynamic(
            ScopedResource::namespaced(ApiResource::erase::<ServiceAccount>(&())),
            Watch::new(),
            move |other, _| prefix(&other.name_any()),
        );
    let mut controllers = Controllers::default();
    controllers.add(controller);
    let flags = [&*place(&site), "--sync-period=2s"];
    let manager = manager(&site.kubeconfig, free_port()?, free_port()?, &flags).await?;
    let trigger = manager.trigger::<Widget>("widgets");
    let operator = tokio::spawn(manager.controllers(controllers, ()).run());

    for name in ["config", "secret", "account", "triggered", "alone"] {
        site.create(name, 1).await?;
    }
    let more = async |name: &str, least: usize| {
        until(&format!("{least} reconciles of {name}"), 20, async || {
            Ok(journal.count(name) >= least)
        })
        .await
    };
    for name in ["config", "secret", "account", "triggered", "alone"] {
        more(name, 1).await?;
    }
    let before = |name: &str| journal.count(name);
    let counts: BTreeMap<_, _> = ["config", "secret", "account", "triggered"]
        .map(|name| (name, before(name)))
        .into();
    create::<ConfigMap>(&site, "config.1").await?;
    create::<Secret>(&site, "secret.1").await?;
    create::<ServiceAccount>(&site, "account.1").await?;
    trigger.reconcile(&of("triggered"));
    trigger.reconcile(&of("missing"));
    for (name, count) in counts {
        more(name, count + 1).await?;
    }
    let alone = before("alone");
    let took = more("alone", alone + 2).await?;
    row(
        "--sync-period=2s, nothing changes",
        "every object is reconciled again",
        took,
    );
    ensure!(journal.count("missing") == 0);
    operator.abort();
    Ok(())
}

/// The stores of a reconcile function.
struct Memory {
    client: Client,
    by_size: Index<ConfigMap>,
}

#[tokio::test]
async fn a_store_with_an_index() -> Result<()> {
    let (site, journal) = (Site::new("index").await?, Journal::default());
    let found = journal.clone();
    let reconcile = move |widget: Arc<Widget>, memory: Arc<Memory>| {
        let found = found.clone();
        async move {
            crate::faults::journal::write(&widget, &memory.client).await?;
            // Each child that the index finds for size 7 is recorded.
            memory
                .by_size
                .get("7")
                .iter()
                .for_each(|child| found.note(&**child));
            Ok::<_, kube::Error>(Action::await_change())
        }
    };
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("widgets", reconcile).owns::<ConfigMap>());
    let _operator = Operator::start(&site.kubeconfig, &[&place(&site)], controllers, |manager| {
        Memory {
            client: manager.client(),
            by_size: manager.store::<ConfigMap>().index(|child| {
                let size = child.data.iter().flatten().find(|(key, _)| *key == "size");
                size.map(|(_, size)| size.clone()).into_iter().collect()
            }),
        }
    })
    .await?;
    site.create("seven", 7).await?;
    site.create("eight", 8).await?;
    until("it is found", 20, async || Ok(journal.count("seven") > 0)).await?;
    ensure!(journal.count("eight") == 0);
    site.resize("seven", 9).await?;
    until("the child is resized", 20, async || {
        let data = site.children().get("seven").await?.data;
        Ok(data.is_some_and(|data| data["size"] == "9"))
    })
    .await?;
    site.quiet().await?;
    let before = journal.count("seven");
    site.resize("eight", 8).await?;
    site.merge("eight", json!({ "metadata": { "labels": { "a": "b" } } }))
        .await?;
    site.quiet().await?;
    ensure!(
        journal.count("seven") == before,
        "it is found by a size that it had"
    );
    Ok(())
}

/// The ConfigMaps of an application, without their data.
fn part() -> StoreOptions<ConfigMap> {
    let options = StoreOptions::new().labels("app=web");
    options.transform(|child: &mut ConfigMap| child.data = None)
}

#[tokio::test]
async fn a_store_and_a_watch_with_its_options_share_one_watch() -> Result<()> {
    let (site, journal) = (Site::new("parts").await?, Journal::default());
    for name in ["whole", "part"] {
        site.create(name, 1).await?;
    }
    let namespace = site.namespace;
    let map = move |child: &ConfigMap, (): &()| {
        let name = if child.data.is_some() {
            "whole"
        } else {
            "part"
        };
        vec![ObjectRef::new(name).within(namespace)]
    };
    let begin = Instant::now();
    let mut controllers = Controllers::default();
    let watch = Watch::from(part());
    controllers.add(noting(&journal, "parts").watches_with(watch, map));
    let _operator = Operator::start(&site.kubeconfig, &[&place(&site)], controllers, |manager| {
        _ = manager.store_with(part());
    })
    .await?;
    let counts = || (journal.count("part"), journal.count("whole"));
    until("both are there", 20, async || Ok(counts() == (1, 1))).await?;
    let child =
        json!({ "metadata": { "name": "a", "labels": { "app": "web" } }, "data": { "k": "v" } });
    let children: Api<ConfigMap> = Api::namespaced(site.client.clone(), namespace);
    children
        .create(&PostParams::default(), &from_value(child)?)
        .await?;
    until("the watch has no data", 20, async || Ok(counts() == (2, 1))).await?;
    let watches = site
        .gate
        .count(begin, |ask: &Ask| ask.reads("configmaps") && ask.is_watch());
    ensure!(watches == 1, "{watches} watches");
    Ok(())
}
