//! The connections that watches share over HTTP/2.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, StatefulSet},
    batch::v1::{CronJob, Job},
    core::v1::{ConfigMap, Pod, Secret, Service},
};
use operator_runtime::Controllers;

use crate::faults::{
    journal::Journal,
    link::Link,
    operator::{Operator, metric},
    site::{Site, cluster},
    table::row,
    until,
};

/// Ten types in fifty namespaces.
#[tokio::test]
async fn five_hundred_watches_take_few_connections() -> Result<()> {
    const NAMESPACES: usize = 50;
    const TYPES: usize = 10;
    let (site, journal) = (Site::new("many").await?, Journal::default());
    let (link, kubeconfig) = Link::to_api_server("many", cluster()?.control_plane()).await?;
    // Namespaces that do not exist are watched as well.
    let others = (1..NAMESPACES).map(|number| format!(",many-{number}"));
    let flag: String = ["--watch-namespace=many".to_owned()]
        .into_iter()
        .chain(others)
        .collect();
    let controller = journal.controller("widgets");
    let controller = controller.owns::<ConfigMap>().owns::<Secret>();
    let controller = controller.owns::<Service>().owns::<Pod>();
    let controller = controller.owns::<Deployment>().owns::<StatefulSet>();
    let controller = controller.owns::<DaemonSet>().owns::<Job>();
    let mut controllers = Controllers::default();
    controllers.add(controller.owns::<CronJob>());
    let begin = Instant::now();
    let operator = Operator::start(&kubeconfig, &[&flag], controllers, |manager| {
        manager.client()
    })
    .await?;
    until("each is listed and watched", 120, async || {
        let calls = metric(
            operator.metrics,
            "rest_client_requests_total",
            r#"code="200""#,
        );
        Ok(calls.await.unwrap_or_default() >= (NAMESPACES * TYPES) as f64)
    })
    .await?;
    let took = begin.elapsed();
    site.create("a", 1).await?;
    site.settled(&journal, 20).await?;
    let connections = link.accepted();
    row(
        "500 watches begin",
        &format!("{connections} TCP connections"),
        took,
    );
    // Five for watches, and those of calls.
    ensure!(connections <= 12, "{connections} connections");
    ensure!(operator.runs());
    Ok(())
}

/// Bytes of the connection that all watches share are dropped; new connections work.
pub async fn half_open() -> Result<()> {
    let (site, journal) = (Site::new("half-open-http2").await?, Journal::default());
    let control_plane = cluster()?.control_plane();
    let (link, kubeconfig) = Link::to_api_server("half-open-http2", control_plane).await?;
    site.create("a", 1).await?;
    let mut controllers = Controllers::default();
    controllers.add(journal.controller("widgets").owns::<ConfigMap>());
    let flags = ["--watch-namespace=half-open-http2"];
    let operator =
        Operator::start(&kubeconfig, &flags, controllers, |manager| manager.client()).await?;
    site.settled(&journal, 20).await?;
    // It would wait for its response.
    until("no reconcile runs", 20, async || {
        let active = metric(operator.metrics, "controller_runtime_active_workers", "");
        Ok(active.await? == 0.0)
    })
    .await?;

    link.silence();
    let begin = Instant::now();
    site.resize("a", 2).await?;
    let seen = until("the change is seen", 90, async || {
        Ok(journal.generation("a") == 2)
    })
    .await?;
    ensure!(seen < Duration::from_secs(60), "found after {seen:?}");
    // Calls use equally dead connections, until each was silent for 65 s.
    site.settled(&journal, 90).await?;
    let happened = format!("watches found after {:.0} s", seen.as_secs_f64());
    row("half-open HTTP/2 connection", &happened, begin.elapsed());
    ensure!(operator.runs());
    Ok(())
}
