//! A user's additions beside controllers: tasks, endpoints, readiness checks.

use std::{net::SocketAddr, time::Instant};

use anyhow::{Result, ensure};
use axum::{Router, routing::get as on_get};
use operator_runtime::{Controllers, Manager, TaskError, envtest::free_port};

use crate::faults::{
    operator::{get, manager},
    site::Site,
    table::row,
    until,
};

async fn operator(site: &Site) -> Result<(Manager, u16)> {
    let health = free_port()?;
    let manager = manager(&site.kubeconfig, free_port()?, health, &[]).await?;
    let none = Controllers::<()>::default();
    Ok((manager.controllers(none, ()), health))
}

#[tokio::test]
async fn a_task_that_ends_or_fails_ends_the_operator() -> Result<()> {
    let site = Site::new("tasks").await?;
    let (manager, _) = operator(&site).await?;
    let begin = Instant::now();
    let ended = manager.task("report", async |_| Ok(())).run().await;
    let text = ended.map_err(|error| error.to_string());
    ensure!(
        text == Err("report ended unexpectedly".to_owned()),
        "{text:?}"
    );

    let (manager, _) = operator(&site).await?;
    let fail = async |_| Err(TaskError::from("the disk is full"));
    let failed = manager.task_without_leadership("report", fail).run().await;
    let text = format!("{:#}", anyhow::Error::from(failed.unwrap_err()));
    ensure!(text == "report failed: the disk is full", "{text}");
    row(
        "a task of the user's ends, or fails",
        "the operator ends with its error",
        begin.elapsed(),
    );
    Ok(())
}

#[tokio::test]
async fn an_endpoint_and_a_check_of_the_users() -> Result<()> {
    let site = Site::new("endpoints").await?;
    let (manager, health) = operator(&site).await?;
    let port = free_port()?;
    let router = Router::new().route("/", on_get(async || "here"));
    manager.readiness_check("disk", || Err("full".to_owned()));
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let operator = tokio::spawn(manager.serve("own", address, router).run());
    until("the endpoint answers", 10, async || {
        Ok(get(port, "/")
            .await
            .is_ok_and(|answer| answer.ends_with("here")))
    })
    .await?;
    let ready = get(health, "/readyz").await?;
    ensure!(ready.contains("[-]disk failed: full"), "{ready}");
    operator.abort();
    Ok(())
}
