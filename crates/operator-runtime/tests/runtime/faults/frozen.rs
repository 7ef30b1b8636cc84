//! Connections that freeze without an error, while the API server accepts new ones: as behind a load balancer
//! that has forgotten them.

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use futures::future::join_all;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};
use operator_runtime::{
    envtest::free_port,
    webhook::{Change, Denied, Request, Webhook, Webhooks},
};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    faults::{
        link::Link,
        operator::{Process, get, manager, metric},
        site::{Site, cluster},
        table::row,
        until,
    },
    followers::Endpoint,
    widget::Widget,
};

/// A renewal that gets no answer is sent again on another connection.
#[tokio::test]
async fn a_leader_keeps_its_lease() -> Result<()> {
    let site = Site::new("frozen-lease").await?;
    let (link, kubeconfig) =
        Link::to_api_server("frozen-lease", cluster()?.control_plane()).await?;
    let flags = [
        "--watch-namespace=frozen-lease",
        "--leader-elect",
        "--leader-elect-resource-namespace=frozen-lease",
        "--leader-elect-lease-duration=6s",
        "--leader-elect-renew-deadline=4s",
        "--leader-elect-retry-period=1s",
    ];
    site.create("a", 1).await?;
    let mut process = Process::start(&kubeconfig, &flags)?;
    let leads = async || {
        let leads = metric(process.metrics, "leader_election_master_status", "").await;
        Ok(leads.unwrap_or_default() == 1.0)
    };
    until("it leads", 30, leads).await?;
    for _ in 0..2 {
        // Between two freezes, a renewal must have succeeded on the new connection.
        sleep(Duration::from_secs(3)).await;
        let connections = link.accepted();
        link.silence();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(6) {
            sleep(Duration::from_millis(100)).await;
            ensure!(
                process.child.try_wait()?.is_none(),
                "the leader ended {:?} after its connections froze",
                begin.elapsed()
            );
        }
        ensure!(link.accepted() > connections, "no new connection");
    }
    let leads = metric(process.metrics, "leader_election_master_status", "").await?;
    ensure!(leads == 1.0);
    let happened = "the lease is renewed on a new connection, leadership kept";
    row("connections of a leader freeze", happened, Duration::ZERO);
    Ok(())
}

/// Reads the API server, as a validation may.
async fn validate(_: &Change<Widget>, _: &Request, client: &Client) -> Result<(), Denied> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let read = namespaces.get("default").await;
    read.map(|_| ())
        .map_err(|error| Denied::forbidden(error.to_string()))
}

/// One review waits in vain; the next one is answered, however many connections were idle.
#[tokio::test]
async fn a_webhook_reads_on_a_new_connection() -> Result<()> {
    /// The timeout of the API server for a webhook, here.
    const PATIENCE: Duration = Duration::from_secs(2);
    let (link, kubeconfig) =
        Link::to_api_server("frozen-webhook", cluster()?.control_plane()).await?;
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("frozen-webhook");
    _ = std::fs::remove_dir_all(&directory);
    let endpoint = Endpoint::new(&directory)?;
    let health = free_port()?;
    let flags = endpoint.flags.each_ref().map(String::as_str);
    let manager = manager(&kubeconfig, free_port()?, health, &flags).await?;
    let mut webhooks = Webhooks::default();
    webhooks.add(Webhook::validating(validate));
    let client = manager.client();
    let operator = tokio::spawn(manager.webhooks(webhooks, client).run());
    until("it is ready", 30, async || {
        let ready = get(health, "/readyz").await;
        Ok(ready.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")))
    })
    .await?;
    let allowed = async || {
        let review = timeout(PATIENCE, endpoint.review()).await;
        review.is_ok_and(|review| review.is_ok_and(|review| review["response"]["allowed"] == true))
    };
    let before = link.accepted();
    for answer in join_all((0..8).map(|_| allowed())).await {
        ensure!(answer);
    }
    ensure!(link.accepted() >= before + 4, "they shared connections");

    link.silence();
    let begin = Instant::now();
    let mut failed = 0;
    while !allowed().await {
        failed += 1;
        ensure!(failed <= 1, "{failed} reviews failed in a row");
        // The server notices the end of the request.
        sleep(Duration::from_millis(200)).await;
    }
    row(
        "connections of a webhook's reads freeze",
        &format!("{failed} review fails, the next one reads on a new connection"),
        begin.elapsed(),
    );
    operator.abort();
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}
