//! An operator with two clusters, each with its own API server.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Config, ResourceExt,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use operator_runtime::{
    Action, Controller, Controllers, ObjectRef, Store, Watch,
    envtest::{Cluster, NAMESPACE},
};
use serde_json::{from_value, json};
use tokio::{task, time::Instant};

use crate::faults::{
    journal::Journal,
    operator::{Operator, get},
    site::Site,
    table::row,
    until,
};
use crate::widget::Widget;

/// The reconcile context with a store of the other cluster.
struct Edge {
    config_maps: Store<ConfigMap>,
}

#[tokio::test]
async fn objects_of_another_cluster_are_watched_and_read() -> Result<()> {
    let (site, journal) = (Site::new("clusters").await?, Journal::default());
    let other = task::spawn_blocking(Cluster::start).await??;
    let kubeconfig = Kubeconfig::read_from(other.control_plane().kubeconfig())?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    config.proxy_url = None;
    site.create("a", 1).await?;

    let seen = journal.clone();
    let reconcile = move |widget: Arc<Widget>, edge: Arc<Edge>| {
        let name = widget.name_any();
        if edge.config_maps.get(Some(NAMESPACE), &name).is_some() {
            seen.note(&*widget);
        }
        async { Ok::<_, kube::Error>(Action::await_change()) }
    };
    let of = |other: &ConfigMap, _: &Edge| {
        vec![ObjectRef::<Widget>::new(&other.name_any()).within("clusters")]
    };
    let mut controllers = Controllers::default();
    let controller = Controller::new("widgets", reconcile);
    controllers.add(controller.watches_with(Watch::new().cluster("edge"), of));
    let flags = ["--watch-namespace=clusters"];
    let operator = Operator::start(&site.kubeconfig, &flags, controllers, |manager| {
        let edge = manager.cluster("edge", config).expect("a cluster");
        Edge {
            config_maps: edge.store(),
        }
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let ready = get(operator.health, "/readyz?verbose").await?;
    anyhow::ensure!(ready.contains("[+]configmaps@edge ok"), "{ready}");
    anyhow::ensure!(journal.count("a") == 0, "nothing is there yet");

    let begin = Instant::now();
    let api: Api<ConfigMap> = other.api()?;
    let object = from_value(json!({ "metadata": { "name": "a" } }))?;
    api.create(&PostParams::default(), &object).await?;
    until("the widget is reconciled", 20, async || {
        Ok(journal.count("a") > 0)
    })
    .await?;
    row(
        "an object is made in another cluster",
        "the controller gets the event, and reads the object from its store",
        begin.elapsed(),
    );
    Ok(())
}
